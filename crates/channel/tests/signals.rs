//! Signals that arrive while an end sleeps. They are not wake-ups of the other end, and must not change how it sleeps.

#![cfg(target_os = "linux")]

mod common;

use common::{PATIENCE, pair};
use furlong_channel::{Options, WaitStrategy};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Instant;

static SIGNALS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_signal: libc::c_int) {
    SIGNALS.fetch_add(1, Ordering::SeqCst);
}

/// Returns the number of the system call in which a thread of this process sleeps; `None` while the thread runs.
fn system_call(thread: i64) -> Option<i64> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).ok()?;
    text.split(' ').next()?.trim().parse().ok()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn interrupted_receiver_sleeps_until_it_is_woken() {
    // SAFETY: the handler only accesses an atomic.
    unsafe { libc::signal(libc::SIGUSR1, count as *const () as libc::sighandler_t) };
    let [mut sending, mut receiving] = pair(&Options::new().waiting(WaitStrategy::Park));
    let (tell, told) = mpsc::channel();
    let receiver = std::thread::spawn(move || {
        // SAFETY: no memory is involved.
        tell.send(unsafe { libc::syscall(libc::SYS_gettid) }).unwrap();
        receiving.recv_vec()
    });
    let thread = told.recv().unwrap();
    let sleeps_on_futex = || match system_call(thread) {
        Some(libc::SYS_nanosleep | libc::SYS_clock_nanosleep) => {
            panic!("sleeps without being woken after {} signals", SIGNALS.load(Ordering::SeqCst))
        }
        call => call == Some(libc::SYS_futex),
    };
    for sent in 1..=200 {
        wait_until("sleeps again", sleeps_on_futex);
        // SAFETY: a thread of this process, which is joined below.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGUSR1) };
        wait_until("handled the signal", || SIGNALS.load(Ordering::SeqCst) == sent);
    }
    sending.send(b"woken").unwrap();
    assert_eq!(receiver.join().unwrap().unwrap(), b"woken");
}
