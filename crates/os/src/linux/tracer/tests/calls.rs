//! Reported system calls.

use super::{ended, status};
use crate::linux::process::{Bond, Exit, fork};
use crate::linux::test_child::{TestChild, get_parent, write_and_read};
use crate::linux::tracer::{Caller, Tracer};
use crate::linux::{eventfd, pipe};
use crate::wait::wait_any;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Returns the calls of a child from its wait for the start: that wait, `calls`, the report that it is done, and the wait for its
/// release.
fn played(calls: &[i64]) -> Vec<i64> {
    [&[libc::SYS_read], calls, &[libc::SYS_write, libc::SYS_read]].concat()
}

#[test]
fn threads_that_begin_are_followed_and_their_exits_taken() {
    let mut process = TestChild::new(&[], || {
        let _ = std::thread::spawn(|| get_parent(10)).join();
    });
    let pid = process.child.pid();
    let mut tracer = Tracer::new().unwrap();
    tracer.attach_all_threads(pid).unwrap();
    let mut callers = Vec::new();
    let mut note = |caller: Caller, number| {
        if number == libc::SYS_getppid {
            callers.push(caller);
        }
    };
    process.play(|| tracer.attend(&mut note).unwrap());
    assert_eq!(callers.len(), 10);
    assert!(callers.iter().all(|caller| caller.process == pid && caller.thread != pid), "{callers:?}");
    // A thread whose exit was not taken would keep its process from ending.
    eventfd::add(process.start.as_fd(), 1).unwrap();
    assert_eq!(ended(&mut tracer, &mut process.child), Some(Exit::Code(0)));
}

#[test]
fn every_call_is_reported_in_order() {
    let (reader, writer) = pipe::pipe().unwrap();
    let process = TestChild::new(&[reader.as_raw_fd(), writer.as_raw_fd()], || {
        get_parent(100);
        write_and_read(50, writer.as_fd(), reader.as_fd());
    });
    let mut tracer = Tracer::new().unwrap();
    tracer.attach(process.child.pid()).unwrap();
    let mut calls = Vec::new();
    process.play(|| tracer.attend(|_, number| calls.push(number)).unwrap());
    let mut expected = vec![libc::SYS_getppid; 100];
    expected.extend([libc::SYS_write, libc::SYS_read].repeat(50));
    let expected = played(&expected);
    // It reported that it was done before it waited for its release.
    for _ in 0..10_000 {
        if calls.len() >= expected.len() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        tracer.attend(|_, number| calls.push(number)).unwrap();
    }
    assert_eq!(calls, expected);
    tracer.detach(process.child.pid()).unwrap();
    assert_eq!(status(process.child.pid(), "TracerPid:"), "0");
    process.end();
}

#[test]
fn two_children_are_told_apart_and_the_descriptor_suffices() {
    // In a separate process, which has one thread as the supervisor has, so that no other thread takes the signal.
    let supervisor = || {
        let (one, other) = (TestChild::new(&[], || get_parent(300)), TestChild::new(&[], || get_parent(70)));
        let mut tracer = Tracer::new().unwrap();
        let mut calls = [(one.child.pid(), 0), (other.child.pid(), 0)];
        for (pid, _) in calls {
            tracer.attach(pid).unwrap();
        }
        let done = [one.done.as_fd(), other.done.as_fd()];
        let mut left = vec![done[0], done[1]];
        for process in [&one, &other] {
            eventfd::add(process.start.as_fd(), 1).unwrap();
        }
        while !left.is_empty() {
            let mut watched = left.clone();
            watched.push(tracer.descriptor());
            let readable = wait_any(&watched, 10_000).unwrap();
            assert!(readable.contains(&true), "nothing for ten seconds");
            if readable[left.len()] {
                tracer
                    .attend(|Caller { process: pid, .. }, number| {
                        let place = calls.iter_mut().find(|call| call.0 == pid).unwrap();
                        place.1 += usize::from(number == libc::SYS_getppid);
                    })
                    .unwrap();
            }
            let mut index = 0;
            left.retain(|_| {
                index += 1;
                !readable[index - 1]
            });
        }
        assert_eq!(calls.map(|call| call.1), [300, 70]);
        drop(tracer);
        one.end();
        other.end();
        0
    };
    let mut child = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, supervisor).unwrap();
    assert_eq!(child.wait_at_most(60_000), Some(Exit::Code(0)));
}
