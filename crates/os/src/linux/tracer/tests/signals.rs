//! Signals for a traced process.

use super::{attend_until, ended, status};
use crate::linux::eventfd;
use crate::linux::process::{Exit, send_signal};
use crate::linux::test_child::{TestChild, get_parent};
use crate::linux::tracer::Tracer;
use crate::wait::wait_any;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicI32, Ordering};

#[test]
fn signals_are_passed_on() {
    static SEEN: AtomicI32 = AtomicI32::new(0);
    extern "C" fn see(signal: libc::c_int) {
        SEEN.store(signal, Ordering::SeqCst);
    }
    let process = TestChild::new(&[], || {
        // SAFETY: the handler only stores an integer.
        unsafe { libc::signal(libc::SIGUSR1, see as *const () as libc::sighandler_t) };
        while SEEN.load(Ordering::SeqCst) != libc::SIGUSR1 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    });
    let mut tracer = Tracer::new().unwrap();
    tracer.attach(process.child.pid()).unwrap();
    // Sent only after the handler is installed, because otherwise it would kill the child.
    let mut sent = false;
    let mut handling = false;
    process.play(|| {
        tracer.attend(|_, number| handling |= number == libc::SYS_rt_sigaction).unwrap();
        if handling && !sent && status(process.child.pid(), "State:").starts_with('S') {
            send_signal(process.child.pid(), libc::SIGUSR1).unwrap();
            sent = true;
        }
    });
    assert!(sent);
    // A deadly signal kills the process.
    send_signal(process.child.pid(), libc::SIGTERM).unwrap();
    let mut child = process.child;
    assert_eq!(ended(&mut tracer, &mut child), Some(Exit::Signal(libc::SIGTERM)));
}

#[test]
fn a_stopped_process_stays_stopped_until_it_is_continued() {
    let process = TestChild::new(&[], || get_parent(10));
    let pid = process.child.pid();
    let mut tracer = Tracer::new().unwrap();
    tracer.attach(pid).unwrap();
    send_signal(pid, libc::SIGSTOP).unwrap();
    let mut calls = Vec::new();
    let mut rounds = 0;
    attend_until(
        &mut tracer,
        |_, number| calls.push(number),
        || {
            rounds += i32::from(status(pid, "State:").starts_with(['t', 'T']));
            rounds > 100
        },
    );
    eventfd::add(process.start.as_fd(), 1).unwrap();
    for _ in 0..20 {
        std::thread::sleep(std::time::Duration::from_millis(1));
        tracer.attend(|_, number| calls.push(number)).unwrap();
    }
    assert!(!calls.contains(&libc::SYS_getppid), "it runs though stopped: {calls:?}");
    send_signal(pid, libc::SIGCONT).unwrap();
    let done = [process.done.as_fd()];
    attend_until(&mut tracer, |_, number| calls.push(number), || wait_any(&done, 0).unwrap() == [true]);
    assert_eq!(calls.iter().filter(|number| **number == libc::SYS_getppid).count(), 10);
    drop(tracer);
    process.end();
}

#[test]
fn a_process_that_was_stopped_while_traced_can_be_detached() {
    let mut process = TestChild::new(&[], || ());
    let pid = process.child.pid();
    let mut tracer = Tracer::new().unwrap();
    tracer.attach(pid).unwrap();
    send_signal(pid, libc::SIGSTOP).unwrap();
    let mut rounds = 0;
    attend_until(
        &mut tracer,
        |_, _| (),
        || {
            rounds += i32::from(status(pid, "State:").starts_with(['t', 'T']));
            rounds > 100
        },
    );
    tracer.detach(pid).unwrap();
    assert_eq!(status(pid, "TracerPid:"), "0");
    // It stops again, as it would have without a tracer.
    attend_until(&mut tracer, |_, _| (), || process.child.is_stopped());
    assert_eq!(process.child.try_wait(), None);
    send_signal(pid, libc::SIGCONT).unwrap();
    process.play(|| ());
    process.end();
}
