//! Full backlogs, and signals during calls that wait for a process.

use super::{PATIENCE, within};
use crate::common::{bare_connection, folder, name, pair};
use crate::expect;
use furlong_channel::{Channel, Error, Listener, Options, WaitStrategy};
use std::fs;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Connects until the backlog of a listener is full. No connect may block here.
fn fill(listener: &Listener, path: &Path) -> Vec<OwnedFd> {
    // SAFETY: no memory is involved.
    assert_eq!(unsafe { libc::listen(listener.descriptor().as_raw_fd(), 2) }, 0);
    (0..3).map(|_| bare_connection(path)).collect()
}

#[test]
fn full_backlog_ends_connect_in_time_and_bind_at_once() {
    let folder = folder();
    let path = folder.join("socket");
    let text = path.to_str().unwrap().to_owned();
    let listener = Listener::bind(&text, &Options::new()).unwrap();
    let _waiting = fill(&listener, &path);
    let name = text.clone();
    let bound = within(PATIENCE / 4, move || Listener::bind(&name, &Options::new()).map(drop));
    assert!(matches!(&bound, Err(Error::System(error)) if error.kind() == ErrorKind::AddrInUse), "{bound:?}");
    let connected = within(PATIENCE, move || Channel::connect(&text, &Options::new()).map(drop));
    assert!(matches!(connected, Err(Error::TimedOut)), "{connected:?}");
    drop(listener);
    fs::remove_dir(&folder).unwrap();
}

extern "C" fn do_nothing(_signal: libc::c_int) {}

/// Sends a signal to a thread every millisecond while it runs `action`, and calls `then` after `count` of them.
fn interrupted<T: Send>(action: impl FnOnce() -> T + Send, count: u32, then: impl FnOnce()) -> T {
    let handler: extern "C" fn(libc::c_int) = do_nothing;
    // SAFETY: the handler may interrupt any code, and calls are not restarted.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
    }
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        let thread = scope.spawn(move || {
            // SAFETY: no memory is involved.
            tell.send(unsafe { libc::pthread_self() }).unwrap();
            action()
        });
        let target = told.recv().unwrap();
        let interrupt = || {
            // SAFETY: the thread was not joined yet.
            unsafe { libc::pthread_kill(target, libc::SIGUSR1) };
            thread::sleep(Duration::from_millis(1));
        };
        (0..count).for_each(|_| interrupt());
        then();
        while !thread.is_finished() {
            interrupt();
        }
        thread.join().unwrap()
    })
}

/// Returns the voluntary context switches of this thread so far.
fn switches() -> i64 {
    // SAFETY: all zeroes are a valid value, and there is room for the result.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
        usage.ru_nvcsw
    }
}

/// A signal is not counted as a wake-up. After many unnecessary wake-ups, an end would sleep in steps of a millisecond.
#[test]
fn sleeper_sleeps_on_after_signals() {
    let options = Options::new().capacity(4096).waiting(WaitStrategy::Park);
    let [mut end, _other] = pair(&options);
    let woken = interrupted(
        || {
            let before = switches();
            // 100 signals, and then half a second without signals.
            expect!(end.recv_timeout(&mut [0; 8], Duration::from_millis(700)), Err(Error::TimedOut));
            switches() - before
        },
        100,
        || thread::sleep(Duration::from_millis(500)),
    );
    assert!(woken < 250, "{woken} sleeps");
}

#[test]
fn signals_end_neither_connect_nor_accept() {
    let (name, options) = (name(), Options::new().capacity(4096));
    let listener = Listener::bind(&name, &options).unwrap();
    let (tell, told) = mpsc::channel();
    // Connects, and waits for a greeting that arrives late.
    let late = || tell.send(listener.accept().unwrap()).unwrap();
    interrupted(|| Channel::connect(&name, &options), 50, late).unwrap();
    drop(told);
    let connecting = thread::spawn({
        let name = name.clone();
        move || {
            thread::sleep(Duration::from_millis(60));
            Channel::connect(&name, &options).map(drop)
        }
    });
    interrupted(|| listener.accept(), 50, || ()).unwrap();
    connecting.join().unwrap().unwrap();
}
