//! Every program that can be printed is built as printed and run: all messages must arrive whole, whichever end is
//! started first, and nothing may be left.

use crate::support::{Built, can_build, each, is_root, turn};
use furlong_model::{Pattern, Wait};
use furlong_programs::{Language, program, supported};

/// Messages in each exchange: more than any of the buffers that are used in turns.
const COUNT: u64 = 200;

/// Two ends that both keep a processor busy are slow where there are as few as two.
fn count(wait: Wait) -> u64 {
    if wait == Wait::Spin { 40 } else { COUNT }
}

fn exchange_all(language: Language, pattern: Pattern) {
    if !can_build(language) {
        return;
    }
    each(supported(language).collect(), |row| {
        if program(row.0, row.1, pattern, 128, language).is_ok() {
            let _turn = turn(row.0);
            let built = Built::new(row, pattern, 128, language, None);
            for first in 0..if built.has_roles() { 2 } else { 1 } {
                built.assert_exchanges(first, count(row.1), &[]);
            }
        }
    });
}

/// One row of each mechanism: the first of its waits.
fn mechanisms(language: Language) -> Vec<(&'static str, Wait)> {
    let mut rows: Vec<_> = supported(language).collect();
    rows.dedup_by_key(|row| row.0);
    rows
}

/// Other sizes and the third pattern make no difference to how one waits.
fn exchange_sizes(language: Language) {
    if !can_build(language) {
        return;
    }
    each(mechanisms(language), |row| {
        let _turn = turn(row.0);
        let built = Built::new(row, Pattern::Request, 1000, language, None);
        built.assert_exchanges(0, COUNT, &[]);
        let too_large = ["posix-mq", "sysv-mq", "udp"].contains(&row.0);
        let large = if too_large { 8192 } else { 65536 + 1 };
        for (size_bytes, count) in [(1, COUNT), (large, 20)] {
            let pattern = if size_bytes > 1 && row.0 != "udp" { Pattern::OneWay } else { Pattern::RoundTrip };
            let built = Built::new(row, pattern, size_bytes, language, None);
            built.assert_exchanges(1, count, &[]);
        }
    });
}

#[test]
fn c_there_and_back() {
    exchange_all(Language::C, Pattern::RoundTrip);
}

#[test]
fn c_one_way() {
    exchange_all(Language::C, Pattern::OneWay);
}

#[test]
fn c_other_sizes() {
    exchange_sizes(Language::C);
}

#[test]
fn rust_there_and_back() {
    exchange_all(Language::Rust, Pattern::RoundTrip);
}

#[test]
fn rust_one_way() {
    exchange_all(Language::Rust, Pattern::OneWay);
}

#[test]
fn rust_other_sizes() {
    exchange_sizes(Language::Rust);
}

#[test]
fn python_there_and_back() {
    exchange_all(Language::Python, Pattern::RoundTrip);
}

#[test]
fn python_one_way() {
    exchange_all(Language::Python, Pattern::OneWay);
}

#[test]
fn python_other_sizes() {
    exchange_sizes(Language::Python);
}

fn runs(command: &[&str]) -> bool {
    let output = std::process::Command::new(command[0]).args(&command[1..]).current_dir("/").output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn an_ordinary_user_can_run_them() {
    if !is_root() {
        return; // then every other test says so
    }
    let ordinary = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    for language in [Language::C, Language::Python] {
        // An interpreter may lie where only root can read it.
        let can_run = language == Language::C
            || runs(&[&ordinary[..], &[crate::support::python(), "--version"]].concat());
        if !can_run || !can_build(language) {
            continue;
        }
        each(mechanisms(language), |row| {
            let _turn = turn(row.0);
            Built::new(row, Pattern::RoundTrip, 128, language, None).assert_exchanges(0, COUNT, &ordinary);
        });
    }
}
