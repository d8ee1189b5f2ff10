//! Signals that are recorded instead of acting while the user is prompted: a waiting call is interrupted, and the caller can
//! restore the terminal before it exits.

use crate::error::check;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// The first signal that arrived since the handlers were set; 0 for none.
static NOTED: AtomicI32 = AtomicI32::new(0);

/// The handler. A signal may arrive just before the call that it is to interrupt. So the handler requests another signal
/// (SIGALRM) in a second, and that one requests the next.
extern "C" fn note(signal: libc::c_int) {
    if signal != libc::SIGALRM {
        let _ = NOTED.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    }
    // SAFETY: alarm only sets a timer, and may be called in a handler.
    unsafe { libc::alarm(1) };
}

/// Records some signals until it is dropped. A process may have one at a time.
pub struct NotedSignals {
    before: Vec<(i32, libc::sigaction)>,
}

impl NotedSignals {
    /// Starts to record these signals.
    pub fn new(signals: &[i32]) -> io::Result<NotedSignals> {
        NOTED.store(0, Ordering::Relaxed);
        let mut noted = NotedSignals { before: Vec::new() };
        for &signal in signals.iter().chain(&[libc::SIGALRM]) {
            let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
            let mut before = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: zeroes are a valid sigaction with an empty mask and no flag, so that calls are not restarted; the handler
            // is a function that stays, and the kernel fills in the previous action.
            let before = unsafe {
                (*action.as_mut_ptr()).sa_sigaction = note as *const () as libc::sighandler_t;
                check(libc::sigaction(signal, action.as_ptr(), before.as_mut_ptr()))?;
                before.assume_init()
            };
            noted.before.push((signal, before));
        }
        Ok(noted)
    }

    /// Returns the first signal that arrived.
    pub fn first(&self) -> Option<i32> {
        noted()
    }

    /// Stops recording, and returns the first signal that arrived until then; later ones have their previous effect.
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
        // SAFETY: the call only cancels the timer, and no other code of this process sets one.
        unsafe { libc::alarm(0) };
        for (signal, before) in &self.before {
            // SAFETY: this is the action that the kernel reported before. The call cannot fail for a signal that was set before.
            unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::process::{Bond, Exit, fork};
    use std::os::fd::AsFd;

    /// Requires that `body` returns `true` in a separate process, because in this one another test's thread may receive the
    /// signal.
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
            // The parent of the tests may have had them ignored.
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
            // SAFETY: without descriptors, poll waits only for a signal.
            let waited = unsafe { libc::poll(std::ptr::null_mut(), 0, 20_000) };
            waited == -1 && noted.first() == Some(libc::SIGTERM)
        });
    }
}
