//! Start of a program, independent of what it inherits from its parent.
//!
//! A shell, a service manager or a test may pass on ignored and blocked signals, closed descriptors and any umask. This module
//! resets in one place what the rest of the program relies on.

use crate::error::check;
use crate::linux::handle::{keep_on_exec, open_null};
use crate::linux::signal::{ignored, set_of};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::atomic::{AtomicBool, Ordering};

pub use crate::linux::stack::with_enough as with_enough_stack;

/// Signals that are left unchanged: a parent may want them ignored (`nohup`, background jobs of a shell), two cannot be changed,
/// and the standard library has set SIGPIPE.
const LEFT: [i32; 9] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGPIPE,
    libc::SIGKILL,
    libc::SIGSTOP,
];

/// Whether standard output was closed when this process began.
static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Called by the C library before `main`: Rust's library opens /dev/null in place of a closed descriptor, also before `main`.
extern "C" fn note_closed_stdout() {
    // SAFETY: F_GETFD takes nothing and gives a plain integer.
    let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } < 0;
    STDOUT_WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

// SAFETY: the section holds addresses of functions of the C ABI, which are called once. This one needs nothing of Rust's library.
#[unsafe(link_section = ".init_array")]
#[used]
static BEFORE_MAIN: extern "C" fn() = note_closed_stdout;

/// Resets the inherited state of this process. Call it first, while the process has one thread.
///
/// Opens descriptors 0 to 2, so that no descriptor of ours gets one of these numbers. A standard output that was closed cannot be
/// written, so that a lost result is an error. Unblocks all signals. Ignores only those that a user ignores on purpose, and
/// SIGXFSZ, so that a write to a file that is too large fails instead. Sets a umask with which no new file is writable for all
/// others, or not accessible for its owner.
///
/// # Errors
/// Returns an error if /dev/null is needed and cannot be opened.
pub fn settle() -> io::Result<()> {
    reserve_standard()?;
    let none = set_of(&[]);
    for signal in (1..=libc::SIGRTMAX()).filter(|signal| !LEFT.contains(signal) && ignored(*signal)) {
        // SAFETY: SIG_DFL is a valid disposition.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: SIG_IGN is a valid disposition, the kernel only reads the set, and a umask is a plain integer.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        let inherited = libc::umask(0o077);
        libc::umask((inherited & 0o077) | 0o002);
    }
    Ok(())
}

/// Makes sure that descriptors 0, 1 and 2 are open, so that no descriptor of ours gets one of these numbers.
fn reserve_standard() -> io::Result<()> {
    for number in 0..=2 {
        // SAFETY: F_GETFD takes nothing and gives a plain integer.
        if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
            // open returns the lowest free file descriptor, which is `number`.
            keep_on_exec(open_null()?.into_raw_fd());
        }
    }
    if STDOUT_WAS_CLOSED.load(Ordering::Relaxed) {
        let unwritable = File::open("/dev/null").or_else(|_| File::open("/"))?;
        // SAFETY: both are open, and no owner has the number of standard output.
        check(unsafe { libc::dup2(unwritable.as_raw_fd(), libc::STDOUT_FILENO) })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::process::{Bond, Exit, fork};
    use crate::linux::signal::{block, is_blocked};
    use std::os::fd::AsFd;

    #[test]
    fn a_program_begins_the_same_whatever_it_has_inherited() {
        let mut child = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, || {
            // SAFETY: this changes dispositions and descriptors of this process alone, which ends when the closure does.
            unsafe {
                for signal in [libc::SIGCHLD, libc::SIGALRM, libc::SIGHUP] {
                    libc::signal(signal, libc::SIG_IGN);
                }
                libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
                libc::close(0);
                libc::umask(0o777);
            }
            block(&[libc::SIGTERM]).unwrap();
            settle().unwrap();
            let signals = !ignored(libc::SIGCHLD) && !ignored(libc::SIGALRM) && ignored(libc::SIGXFSZ);
            // SAFETY: F_GETFD and a umask are plain integers.
            let (open, umask) = unsafe { (libc::fcntl(0, libc::F_GETFD) >= 0, libc::umask(0)) };
            let ours = signals && !is_blocked(libc::SIGTERM).unwrap() && open && umask == 0o077 | 0o002;
            // SAFETY: as above.
            unsafe { libc::umask(0) };
            settle().unwrap();
            // SAFETY: as above.
            i32::from(!(ours && ignored(libc::SIGHUP) && unsafe { libc::umask(0) } == 0o002))
        })
        .unwrap();
        assert_eq!(child.wait(), Some(Exit::Code(0)));
    }
}
