//! Signals that are noted instead of acting, for as long as somebody is asked: a call that waits is interrupted, and
//! the caller can put the terminal in order before it ends.

use crate::error::check;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// The first signal that came since the handlers were set; 0 for none.
static NOTED: AtomicI32 = AtomicI32::new(0);

/// The handler. A signal may come just before the call that it is to interrupt, so it asks for another one in a second,
/// and that one for the next.
extern "C" fn note(signal: libc::c_int) {
    if signal != libc::SIGALRM {
        let _ = NOTED.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    }
    // SAFETY: alarm only sets a timer, and may be called in a handler.
    unsafe { libc::alarm(1) };
}

/// Notes some signals until it is dropped; one at a time in a process.
pub struct NotedSignals {
    before: Vec<(i32, libc::sigaction)>,
}

impl NotedSignals {
    /// From now on these signals are noted.
    pub fn new(signals: &[i32]) -> io::Result<NotedSignals> {
        NOTED.store(0, Ordering::Relaxed);
        let mut noted = NotedSignals { before: Vec::new() };
        for &signal in signals.iter().chain(&[libc::SIGALRM]) {
            let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
            let mut before = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: zeroes are a valid sigaction with an empty mask and no flag, so that calls are not made again;
            // the handler is a function that stays, and the kernel fills in what was there.
            let before = unsafe {
                (*action.as_mut_ptr()).sa_sigaction = note as *const () as libc::sighandler_t;
                check(libc::sigaction(signal, action.as_ptr(), before.as_mut_ptr()))?;
                before.assume_init()
            };
            noted.before.push((signal, before));
        }
        Ok(noted)
    }

    /// The first one that came.
    pub fn first(&self) -> Option<i32> {
        noted()
    }

    /// Ends the noting, and returns the first one that came until then: later ones act by themselves.
    pub fn into_first(self) -> Option<i32> {
        drop(self);
        noted()
    }
}

fn noted() -> Option<i32> {
    Some(NOTED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

impl Drop for NotedSignals {
    fn drop(&mut self) {
        // SAFETY: it only takes the timer back, of which there is none but ours.
        unsafe { libc::alarm(0) };
        for (signal, before) in &self.before {
            // SAFETY: this is what the kernel said was there. It cannot fail for a signal that was set before.
            unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::process::{Bond, Exit, fork};
    use std::os::fd::AsFd;

    /// Requires that `body` holds in a process of its own: in this one a signal may come to the thread of another test.
    fn expect_alone(body: impl FnOnce() -> bool) {
        let mut child = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, || i32::from(!body())).unwrap();
        assert_eq!(child.wait_at_most(30_000), Some(Exit::Code(0)));
    }

    fn raise(signal: i32) {
        // SAFETY: a signal to this thread, which has a handler for it.
        unsafe { libc::raise(signal) };
    }

    #[test]
    fn the_first_signal_is_noted_and_what_was_there_comes_back() {
        expect_alone(|| {
            let signals = [libc::SIGTERM, libc::SIGHUP];
            // Whoever runs the tests may have had them ignored.
            crate::linux::signal::reset_ending();
            let noted = NotedSignals::new(&signals).unwrap();
            let nothing = noted.first().is_none();
            signals.into_iter().for_each(raise);
            let first = noted.first() == Some(signals[0]);
            drop(noted);
            let again = NotedSignals::new(&signals).unwrap();
            let reset = again.before.iter().all(|(_, before)| before.sa_sigaction == libc::SIG_DFL);
            nothing && first && again.first().is_none() && reset
        });
    }

    #[test]
    fn a_call_that_waits_ends_although_the_signal_came_before_it() {
        expect_alone(|| {
            let noted = NotedSignals::new(&[libc::SIGTERM]).unwrap();
            raise(libc::SIGTERM);
            // SAFETY: without descriptors poll waits for nothing but a signal.
            let waited = unsafe { libc::poll(std::ptr::null_mut(), 0, 20_000) };
            waited == -1 && noted.first() == Some(libc::SIGTERM)
        });
    }
}
