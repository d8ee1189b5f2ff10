//! Failures: a peer that is killed or never connects, a signal, stale names of a killed run, and messages that are too
//! large. Each end must report the failure, exit with status 1 in time, and leave nothing behind.

use crate::support::{BuiltProgram, QUICK, can_build, each, each_of_several, turn};
use furlong_model::{Pattern, Wait};
use furlong_programs::{Language, supported};

/// Timeout of a program for its peer in these tests, in seconds.
const PATIENCE_S: u32 = 2;
/// More messages than a test can exchange.
const FOR_EVER: u64 = 1_000_000_000;

/// Returns one benchmark of every kind that differs in how it finds its peer and notices its death.
fn representatives(language: Language) -> Vec<(&'static str, Wait)> {
    let wanted = [
        ("fifo", Wait::Block),
        ("unix-stream", Wait::Block),
        ("unix-seqpacket", Wait::Spin),
        ("unix-dgram", Wait::Block),
        ("tcp", Wait::Block),
        ("udp", Wait::Block),
        ("posix-mq", Wait::Block),
        ("sysv-mq", Wait::Block),
        ("sysv-mq", Wait::Spin),
        ("posix-shm", Wait::Futex),
        ("posix-shm", Wait::Spin),
        ("sysv-shm", Wait::PosixSemaphore),
        ("file-shm", Wait::PosixSemaphore),
        ("memfd-shm", Wait::Eventfd),
        ("process-vm", Wait::Futex),
        ("channel", Wait::Adaptive),
    ];
    let there: Vec<_> = supported(language).filter(|row| wanted.contains(row)).collect();
    assert!(there.len() >= 10, "{there:?}");
    there
}

fn built(row: (&str, Wait), language: Language) -> BuiltProgram {
    BuiltProgram::new(row, Pattern::RoundTrip, 128, language, Some(PATIENCE_S))
}

fn all_goes_wrong(language: Language, rows: Vec<(&'static str, Wait)>) {
    if !can_build(language) {
        return;
    }
    // These tests wait for timeouts of seconds.
    each_of_several(6, rows, |row| {
        let _turn = turn(row.0);
        let built = built(row, language);
        nobody_comes(&built);
        a_signal_ends_it(&built);
        a_peer_is_killed(&built);
        names_are_stale(&built);
    });
}

fn nobody_comes(built: &BuiltProgram) {
    let names = [BuiltProgram::new_name(), BuiltProgram::new_name()];
    let ends = [0, 1].map(|role| built.start(role, &names[role], 1));
    for (end, name) in ends.into_iter().zip(&names) {
        let ended = end.wait();
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.complained.contains("no process connected within 2"), "{ended:?}");
        built.assert_nothing_is_left(name);
    }
}

fn a_signal_ends_it(built: &BuiltProgram) {
    let name = BuiltProgram::new_name();
    let alone = built.start(0, &name, 1);
    built.await_server(&name);
    alone.terminate();
    let ended = alone.wait();
    assert!(ended.code != Some(0) && ended.code != Some(1), "{ended:?}");
    built.assert_nothing_is_left(&name);
}

/// Kills each role in turn.
fn a_peer_is_killed(built: &BuiltProgram) {
    for victim in 0..2 {
        let name = BuiltProgram::new_name();
        let mut ends = [0, 1].map(|role| Some(built.start(role, &name, FOR_EVER)));
        ends.iter().flatten().for_each(crate::support::End::await_work);
        let mut killed = ends[victim].take().unwrap();
        killed.kill();
        let survivor = ends[1 - victim].take().unwrap().wait();
        assert_eq!(killed.wait().code, None);
        assert_eq!(survivor.code, Some(1), "{survivor:?}");
        assert!(survivor.complained.starts_with("pair: "), "{survivor:?}");
        assert_eq!(survivor.complained.lines().count(), 1, "{survivor:?}");
        built.assert_nothing_is_left(&name);
    }
}

/// Kills a program while it waits, and both programs while they exchange messages.
fn names_are_stale(built: &BuiltProgram) {
    let name = BuiltProgram::new_name();
    let mut alone = built.start(0, &name, 1);
    built.await_server(&name);
    alone.kill();
    alone.wait();
    let mut ends = [0, 1].map(|role| built.start(role, &name, FOR_EVER));
    ends.iter().for_each(crate::support::End::await_work);
    ends.iter_mut().for_each(crate::support::End::kill);
    ends.into_iter().for_each(|end| drop(end.wait()));
    for first in 0..2 {
        let all = built.exchange_as(&name, first, 10, &[]);
        built.assert_verified(&all, 10);
    }
    built.assert_nothing_is_left(&name);
}

#[test]
fn c_programs_fail_well() {
    let mut rows = representatives(Language::C);
    // Keeps one of the benchmarks that find their peers in the same way.
    rows.retain(|row| !matches!(row.0, "unix-seqpacket" | "tcp" | "sysv-shm" | "memfd-shm" | "process-vm"));
    rows.retain(|row| row.1 != Wait::Spin);
    all_goes_wrong(Language::C, rows);
}

/// If either process of a program that forks is killed, the other one must exit.
#[test]
fn a_fork_does_not_outlive_the_other() {
    forks_end_together(&QUICK);
}

fn forks_end_together(languages: &[Language]) {
    for language in languages.iter().copied().filter(|language| can_build(*language)) {
        let rows = vec![
            ("pipe", Wait::Block),
            ("socketpair", Wait::Block),
            ("vmsplice", Wait::Block),
            ("anon-shm", Wait::PosixSemaphore),
        ];
        each(rows, |row| {
            let built = built(row, language);
            for kill_child in [true, false] {
                let mut parent = built.start(0, &BuiltProgram::new_name(), FOR_EVER);
                parent.await_work();
                let child = child_of(parent.id());
                if kill_child {
                    kill(child);
                } else {
                    parent.kill();
                }
                let ended = parent.wait();
                assert_eq!(ended.code, kill_child.then_some(1), "{row:?} {ended:?}");
                // Its standard streams are closed too, otherwise `wait` would have waited for them.
                assert!(ended.complained.starts_with("pair: "), "{row:?} {ended:?}");
            }
        });
    }
}

fn child_of(parent: u32) -> String {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    children.trim().to_owned()
}

fn kill(process: String) {
    assert!(std::process::Command::new("kill").args(["-KILL", &process]).status().unwrap().success());
}

#[test]
fn what_is_too_large_is_said() {
    too_large_is_said(&QUICK);
}

fn too_large_is_said(languages: &[Language]) {
    let too_large = vec![
        ("sysv-mq", Wait::Block, 1 << 20, "kernel.msgmax"),
        ("posix-mq", Wait::Block, 4 << 20, "mq_open: "),
        ("unix-dgram", Wait::Block, 16 << 20, "net.core.wmem_max"),
        ("unix-seqpacket", Wait::Spin, 16 << 20, "net.core.wmem_max"),
    ];
    // Root could raise its limits, and the program would then not fail.
    let limited = ["prlimit", "--msgqueue=819200"];
    for language in languages.iter().copied().filter(|language| can_build(*language)) {
        each(too_large.clone(), |(mechanism, wait, size_bytes, why)| {
            let _turn = turn(mechanism);
            let built =
                BuiltProgram::new((mechanism, wait), Pattern::OneWay, size_bytes, language, Some(PATIENCE_S));
            let name = BuiltProgram::new_name();
            let all = built.exchange_as(&name, 0, 1, &limited);
            built.assert_nothing_is_left(&name);
            assert!(all.iter().all(|ended| ended.code == Some(1)), "{mechanism} in {language}: {all:?}");
            assert!(
                all.iter().any(|ended| ended.complained.contains(why)),
                "{mechanism} in {language}: {all:?}"
            );
        });
    }
}

#[test]
fn the_second_server_of_a_name_is_refused() {
    second_server_is_refused(&QUICK);
}

fn second_server_is_refused(languages: &[Language]) {
    for language in languages.iter().copied().filter(|language| can_build(*language)) {
        let rows = vec![("unix-stream", Wait::Block), ("posix-mq", Wait::Block), ("tcp", Wait::Block)];
        each(rows, |row| {
            let _turn = turn(row.0);
            let built = built(row, language);
            let name = BuiltProgram::new_name();
            let first = built.start(0, &name, 10);
            built.await_server(&name);
            let second = built.start(0, &name, 10).wait();
            assert_eq!(second.code, Some(1), "{row:?} in {language}: {second:?}");
            let client = built.start(1, &name, 10);
            let all = [first.wait(), client.wait()];
            built.assert_verified(&all, 10);
            built.assert_nothing_is_left(&name);
        });
    }
}

/// Tests that run only if slow tests are requested.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn all_c_programs_fail_well() {
        all_goes_wrong(Language::C, representatives(Language::C));
    }

    #[test]
    #[ignore = "slow"]
    fn rust_programs_fail_in_other_ways_well() {
        forks_end_together(&[Language::Rust]);
        too_large_is_said(&[Language::Rust]);
        second_server_is_refused(&[Language::Rust]);
    }

    #[test]
    #[ignore = "slow"]
    fn rust_programs_fail_well() {
        all_goes_wrong(Language::Rust, representatives(Language::Rust));
    }

    #[test]
    #[ignore = "slow"]
    fn python_programs_fail_well() {
        all_goes_wrong(Language::Python, representatives(Language::Python));
    }
}
