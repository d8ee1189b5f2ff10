//! Attaching and detaching, as the child, its parent and the tracing thread see it.

use super::{attend_until, ended, status};
use crate::handle;
use crate::linux::process::{Bond, Exit, fork};
use crate::linux::test_child::TestChild;
use crate::linux::tracer::Tracer;
use crate::linux::{eventfd, pipe, signal};
use crate::wait::wait_any;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

#[test]
fn a_waiting_read_survives_attaching_and_detaching() {
    let (reader, writer) = pipe::pipe().unwrap();
    let (second_reader, second_writer) = pipe::pipe().unwrap();
    let inherit = [&reader, &second_reader].map(AsRawFd::as_raw_fd);
    let mut child = fork(&inherit, io::stderr().as_fd(), Bond::DiesWithParent, || {
        let mut byte = 0u8;
        let mut watched = libc::pollfd { fd: second_reader.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the kernel writes at most one byte, and one pollfd. The test repeats neither call.
        let results = unsafe {
            [
                libc::read(reader.as_raw_fd(), (&raw mut byte).cast(), 1) as i32,
                libc::poll(&raw mut watched, 1, 60_000),
            ]
        };
        i32::from(results != [1, 1])
    })
    .unwrap();
    let mut tracer = Tracer::new().unwrap();
    for gate in [&writer, &second_writer] {
        for _ in 0..50 {
            tracer.attach(child.pid()).unwrap();
            tracer.attend(|_, _| ()).unwrap();
            tracer.detach(child.pid()).unwrap();
        }
        tracer.attach(child.pid()).unwrap();
        handle::write(gate.as_fd(), &[1]).unwrap();
        let mut now = 0;
        attend_until(
            &mut tracer,
            |_, _| (),
            || {
                now += 1;
                now > 1_000
            },
        );
        if status(child.pid(), "State:").starts_with('Z') {
            break;
        }
        tracer.detach(child.pid()).unwrap();
    }
    assert_eq!(child.wait_at_most(10_000), Some(Exit::Code(0)));
}

#[test]
fn deaths_are_left_to_be_waited_for() {
    let mut tracer = Tracer::new().unwrap();
    let mut process = TestChild::new(&[], || ());
    tracer.attach(process.child.pid()).unwrap();
    process.play(|| tracer.attend(|_, _| ()).unwrap());
    eventfd::add(process.start.as_fd(), 1).unwrap();
    assert_eq!(ended(&mut tracer, &mut process.child), Some(Exit::Code(0)));
    tracer.attend(|_, _| ()).unwrap();
    assert!(tracer.attached.is_empty());
    let error = tracer.detach(process.child.pid()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);

    // Killed, and seen by the tracer before any wait for it.
    let mut process = TestChild::new(&[], || ());
    tracer.attach(process.child.pid()).unwrap();
    process.child.kill();
    if let Some(death) = process.child.death() {
        assert_eq!(wait_any(&[death], 10_000).unwrap(), [true]);
        tracer.attend(|_, _| ()).unwrap();
        assert!(tracer.attached.is_empty());
    }
    assert_eq!(process.child.wait(), Some(Exit::Signal(libc::SIGKILL)));

    // Killed, and detached before that was seen.
    let mut process = TestChild::new(&[], || ());
    tracer.attach(process.child.pid()).unwrap();
    process.child.kill();
    tracer.detach(process.child.pid()).unwrap();
    assert_eq!(process.child.wait(), Some(Exit::Signal(libc::SIGKILL)));
    let error = tracer.attach(process.child.pid()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
}

#[test]
fn the_mask_is_put_back() {
    // In a separate thread, because the mask belongs to the thread.
    let thread = std::thread::spawn(|| {
        assert!(!signal::is_blocked(libc::SIGCHLD).unwrap());
        let tracer = Tracer::new().unwrap();
        assert!(signal::is_blocked(libc::SIGCHLD).unwrap());
        drop(tracer);
        assert!(!signal::is_blocked(libc::SIGCHLD).unwrap());
        signal::block(&[libc::SIGCHLD]).unwrap();
        drop(Tracer::new().unwrap());
        assert!(signal::is_blocked(libc::SIGCHLD).unwrap());
    });
    thread.join().unwrap();
}
