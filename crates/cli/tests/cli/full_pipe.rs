//! Signals end a run whose output is a full pipe without a reader.

use crate::common::{Place, look_for};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

/// Returns a full pipe, with its reading end, which is not read.
fn full_pipe() -> (impl Drop, Stdio) {
    let (reader, writer) = furlong_os::pipe::pipe().expect("a pipe");
    let mut writer = File::from(writer);
    let mut filled = 0;
    // A pipe of 64 KiB is full after that number of bytes in whole pages.
    while filled < 65536 {
        filled += writer.write(&[0; 4096]).expect("room in a new pipe");
    }
    (reader, Stdio::from(writer))
}

/// Sends the signal once a trial is recorded. Returns the exit status.
fn end(place: &Place, command: &mut Command, signal: i32) -> Option<i32> {
    let mut child = command.spawn().expect("furlong starts");
    look_for(A_WHILE, || (place.records_of_all("trial") > 0).then_some(())).expect("a trial");
    furlong_os::process::send_signal(child.id() as i32, signal).expect("our own child");
    let status = look_for(A_WHILE, || child.try_wait().expect("our own child"));
    if status.is_none() {
        child.kill().and_then(|()| child.wait()).expect("our own child");
    }
    status.expect("an end").code()
}

#[test]
fn signal_ends_a_run_whose_messages_nobody_reads() {
    let place = Place::new();
    let (_reader, full) = full_pipe();
    let words = ["run", "pipe/block", "--trials", "300", "--budget", "20ms", "--save", "x"];
    let mut command = place.furlong(words);
    assert_eq!(end(&place, command.stdout(Stdio::null()).stderr(full), libc::SIGTERM), Some(143));
    place.run(["runs", "show", "x"]).expect_code(0);
}

#[test]
fn signal_ends_a_run_whose_table_nobody_reads() {
    let place = Place::new();
    let (_reader, full) = full_pipe();
    let words = ["run", "pipe/block", "--trials", "1", "--budget", "1ms", "--save", "x"];
    let mut command = place.furlong(words);
    assert_eq!(end(&place, command.stdout(full).stderr(Stdio::null()), libc::SIGINT), Some(130));
}
