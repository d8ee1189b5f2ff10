//! Traces of a child with known system calls.

use super::*;
use crate::activity::State;
use crate::linux::pipe;
use crate::linux::proc_files::activity;
use crate::linux::test_child::{SYS_ADMIN, TestChild, has, write_and_read};
use furlong_testing::skip;
use std::os::fd::{AsFd, AsRawFd};

#[test]
fn trace_has_calls_with_arguments_results_and_switches() {
    if !has(SYS_ADMIN) {
        skip!("needs root");
    }
    let (reader, writer) = pipe::pipe().unwrap();
    let process = TestChild::new(&[reader.as_raw_fd(), writer.as_raw_fd()], || {
        write_and_read(50, writer.as_fd(), reader.as_fd());
    });
    let mut trace = ActivityTrace::new(&[libc::SYS_write, libc::SYS_read]).unwrap();
    trace.add_thread(process.child.pid()).unwrap();
    trace.enable().unwrap();
    process.play(|| {});
    // The child may not have begun to wait for its release yet.
    while activity(process.child.pid()).is_some_and(|activity| activity.state == State::Runnable) {
        std::thread::yield_now();
    }
    trace.disable().unwrap();
    let mut records = Vec::new();
    trace.drain(|record| records.push(record)).unwrap();
    records.sort_by_key(|record| record.time_ns);
    assert_eq!(trace.lost, 0);
    assert!(records.iter().all(|record| record.pid == process.child.pid() && record.tid == record.pid));
    let calls = |call: i64, fd: i32| {
        let is_it = |record: &&TraceRecord| {
            matches!(record.event, TraceEvent::Entered { call: found, arguments: [first, _, 1, ..] }
                if found == call && first == fd as u64)
        };
        records.iter().filter(is_it).count()
    };
    assert_eq!(calls(libc::SYS_write, writer.as_raw_fd()), 50);
    assert_eq!(calls(libc::SYS_read, reader.as_raw_fd()), 50);
    let transfers = records
        .iter()
        .filter(|record| matches!(record.event, TraceEvent::Returned { result: 1, .. }))
        .count();
    assert_eq!(transfers, 100);
    // It waited for the start, and for the release.
    let waits = |event| records.iter().filter(|record| record.event == event).count();
    assert!(waits(TraceEvent::SwitchedOut { is_preempted: false }) >= 1, "{records:?}");
    assert!(waits(TraceEvent::SwitchedIn) >= 1, "{records:?}");
    process.end();
}

#[test]
fn later_threads_and_own_programs_are_traced() {
    if !has(SYS_ADMIN) {
        skip!("needs root");
    }
    let mut trace = ActivityTrace::new(&[libc::SYS_write]).unwrap();
    trace.add_own_programs().unwrap();
    let status = std::process::Command::new("sh").args(["-c", "(echo one; echo two) >/dev/null"]).status();
    assert!(status.unwrap().success());
    let mut bytes = Vec::new();
    let (mut starts, mut exits) = (0, 0);
    trace
        .drain(|record| match record.event {
            TraceEvent::Returned { result, .. } => bytes.push(result),
            TraceEvent::Started => starts += 1,
            TraceEvent::Exited => exits += 1,
            _ => {}
        })
        .unwrap();
    assert_eq!(bytes, [4, 4]);
    assert!(starts >= 1 && exits >= 1, "{starts} {exits}");
}

#[test]
fn machine_has_the_calls_of_others_and_none_of_this_process() {
    if !has(SYS_ADMIN) {
        skip!("needs root");
    }
    let mut trace = ActivityTrace::new(&[libc::SYS_write]).unwrap();
    trace.add_machine().unwrap();
    trace.enable().unwrap();
    let (_reader, writer) = pipe::pipe().unwrap();
    crate::linux::handle::write(writer.as_fd(), b"own").unwrap();
    let mut child =
        std::process::Command::new("sh").args(["-c", "echo sixteen letters >/dev/null"]).spawn().unwrap();
    let pid = child.id() as i32;
    assert!(child.wait().unwrap().success());
    trace.disable().unwrap();
    let mut records = Vec::new();
    trace.drain(|record| records.push(record)).unwrap();
    let has_event = |event| records.iter().any(|record| (record.pid, record.event) == (pid, event));
    assert!(has_event(TraceEvent::Returned { call: libc::SYS_write, result: 16 }), "{records:?}");
    assert!(has_event(TraceEvent::SwitchedIn), "{records:?}");
    assert!(records.iter().all(|record| record.pid != std::process::id() as i32 && record.tid != 0));
}
