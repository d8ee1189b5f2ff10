//! The log of a child with known system calls, in rings that fill up.

use super::*;
use crate::linux::test_child::{SYS_ADMIN, TestChild, get_parent, has, write_and_read};
use crate::linux::{pipe, tracefs};
use crate::wait::wait_any;
use furlong_testing::skip;
use std::os::fd::{AsFd, AsRawFd};

/// Returns the event, or `None` if this process lacks the right to read it and the error names that right.
fn event() -> Option<u64> {
    match tracefs::event_id("raw_syscalls", "sys_enter") {
        Ok(id) => Some(id),
        Err(error) => {
            assert!(!has(SYS_ADMIN) && error.kind() == io::ErrorKind::PermissionDenied, "{error}");
            // Without the right to read the event's number, the log is not allowed either, whatever the number.
            let error = SystemCallLog::open(1, 0).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
            assert!(error.to_string().contains("CAP_PERFMON"), "{error}");
            None
        }
    }
}

#[test]
fn the_log_has_every_call_in_order() {
    let Some(event) = event() else { skip!("needs root") };
    let (reader, writer) = pipe::pipe().unwrap();
    let process = TestChild::new(&[reader.as_raw_fd(), writer.as_raw_fd()], || {
        get_parent(100);
        write_and_read(50, writer.as_fd(), reader.as_fd());
    });
    let mut log = SystemCallLog::open(event, process.child.pid()).unwrap();
    assert!(log.ring.bytes >= LEAST_RING_BYTES as u64);
    log.enable().unwrap();
    process.play(|| {});
    // The child reports with a write that it is done, and then waits in a read, which it may not have entered yet.
    log.disable().unwrap();
    let mut calls = Vec::new();
    let drained = log.drain(|number| calls.push(number)).unwrap();
    assert_eq!(drained, DrainResult { calls: calls.len() as u64, lost: 0 });
    if calls.first() == Some(&libc::SYS_read) {
        // The log was enabled before the child waited for the start.
        calls.remove(0);
    }
    let mut expected = vec![libc::SYS_getppid; 100];
    expected.extend([libc::SYS_write, libc::SYS_read].repeat(50));
    expected.push(libc::SYS_write);
    if calls.len() > expected.len() {
        expected.push(libc::SYS_read);
    }
    assert_eq!(calls, expected);
    process.end();
    assert_eq!(log.drain(|_| ()).unwrap(), DrainResult::default());
}

#[test]
fn records_may_wrap_around_the_rings_end() {
    let Some(event) = event() else { skip!("needs root") };
    // Records of 80 bytes do not divide the ring, and the remainder of the last calls makes the start differ.
    let rounds = 5 * page_bytes() / (80 * 20);
    let process = TestChild::repeated(rounds, &[], || get_parent(20));
    let mut log = SystemCallLog::with_ring(event, process.child.pid(), page_bytes()).unwrap();
    log.enable().unwrap();
    let mut calls = Vec::new();
    for _ in 0..rounds {
        process.play(|| {});
        assert_eq!(log.drain(|number| calls.push(number)).unwrap().lost, 0);
    }
    log.disable().unwrap();
    assert_eq!(log.drain(|number| calls.push(number)).unwrap().lost, 0);
    calls.retain(|number| *number != libc::SYS_read);
    let mut round = vec![libc::SYS_getppid; 20];
    round.push(libc::SYS_write);
    assert_eq!(calls, round.repeat(rounds));
    assert!(calls.len() as u64 * 80 > 4 * log.ring.bytes);
    process.end();
}

#[test]
fn what_found_the_ring_full_is_counted() {
    let Some(event) = event() else { skip!("needs root") };
    let process = TestChild::new(&[], || get_parent(1_000));
    let mut log = SystemCallLog::with_ring(event, process.child.pid(), page_bytes()).unwrap();
    log.enable().unwrap();
    process.play(|| {});
    let readable = wait_any(&[log.descriptor()], 0).unwrap();
    assert_eq!(readable, [true]);
    // One loss is reported with the next call that fits, and the others when the log is disabled.
    let first = log.drain(|number| assert!(number >= 0)).unwrap();
    assert!(first.calls > 0 && first.calls <= page_bytes() as u64 / 80, "{first:?}");
    log.disable().unwrap();
    let rest = log.drain(|_| ()).unwrap();
    let total = first.calls + first.lost + rest.calls + rest.lost;
    assert!(first.lost + rest.lost > 0 && (1_001..=1_003).contains(&total), "{first:?} {rest:?}");
    process.end();
}

#[test]
fn a_loss_is_reported_while_the_log_goes_on() {
    let Some(event) = event() else { skip!("needs root") };
    let process = TestChild::new(&[], || get_parent(1_000));
    let mut log = SystemCallLog::with_ring(event, process.child.pid(), page_bytes()).unwrap();
    log.enable().unwrap();
    process.play(|| {});
    let first = log.drain(|_| ()).unwrap();
    process.end();
    // The child's last calls carried the report.
    let second = log.drain(|_| ()).unwrap();
    assert!(first.lost + second.lost > 0, "{first:?} {second:?}");
    log.disable().unwrap();
    assert_eq!(log.drain(|_| ()).unwrap(), DrainResult::default());
}
