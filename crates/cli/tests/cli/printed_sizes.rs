//! Printed programs for messages of the largest sizes. Nothing is measured.

use crate::common::Place;
use std::fs;

#[test]
fn program_is_not_printed_for_a_size_that_its_mechanism_cannot_carry() {
    let place = Place::new();
    for (row, size) in [("sysv-mq/block", "1MiB"), ("unix-dgram/block", "1GiB")] {
        let refused = place.run(["recommend", "--emit", "c", "--row", row, "--size", size]).expect_code(2);
        refused.expect_complaint("is too large here: the maximum is ");
    }
}

#[test]
fn buffer_of_a_printed_program_does_not_overflow() {
    let place = Place::new();
    let words = ["recommend", "--emit", "c", "--row", "unix-seqpacket/block", "--size", "128"];
    let printed = place.run(words).expect_code(0).stdout;
    // A user may change the size, and it is printed if larger buffers are allowed.
    let large = printed.replacen("MESSAGE_BYTES = 128", "MESSAGE_BYTES = 1073709056", 1);
    assert_ne!(large, printed);
    fs::write(place.path("pair.c"), large).unwrap();
    place.finish(&mut place.shell("cc -fsyntax-only -Wall -Werror pair.c")).expect_code(0);
}
