//! Signals as messages, and the signals that end a run.

use crate::error::{Context, check, retry};
use crate::linux::handle::own;
use crate::linux::proc_files::Status;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Returns the real-time signal that carries messages: queued, never merged, with a value.
pub fn message_signal() -> i32 {
    libc::SIGRTMIN() + 1
}

/// Returns a set of signals.
pub(crate) fn set_of(signals: &[i32]) -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: sigemptyset initialises the set; sigaddset only changes that set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Blocks these signals, so that they stay pending instead of acting.
pub fn block(signals: &[i32]) -> io::Result<()> {
    let set = set_of(signals);
    // SAFETY: the kernel only reads the set.
    check(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) }).map(drop)
}

/// Unblocks these signals; pending ones act immediately.
pub(crate) fn unblock(signals: &[i32]) -> io::Result<()> {
    let set = set_of(signals);
    // SAFETY: the kernel only reads the set.
    check(unsafe { libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut()) }).map(drop)
}

/// Returns whether this thread blocks the signal.
pub(crate) fn is_blocked(signal: i32) -> io::Result<bool> {
    let mut set = set_of(&[]);
    // SAFETY: without a new set, the kernel only writes the present one; the set is then read.
    unsafe {
        check(libc::sigprocmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set))?;
        Ok(libc::sigismember(&raw const set, signal) == 1)
    }
}

/// Returns whether this process ignores the signal.
pub(crate) fn ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the kernel only writes the present one, for which zeroes are a valid value.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Returns the disposition with which a new program starts if this process calls exec: ignored or default.
pub(crate) fn disposition(signal: i32) -> libc::sighandler_t {
    if ignored(signal) { libc::SIG_IGN } else { libc::SIG_DFL }
}

/// Returns the signals that ask a run to end: interrupt, terminate, hang-up. Signals that were ignored when the program began
/// stay ignored, as under `nohup`.
pub fn ending() -> Vec<i32> {
    ENDING.into_iter().filter(|signal| !ignored(*signal)).collect()
}

/// Returns the first signal that asks this process to end and is kept pending.
pub(crate) fn pending_ending() -> Option<i32> {
    let mut pending = set_of(&[]);
    // SAFETY: the kernel writes the set, which is then read.
    unsafe {
        check(libc::sigpending(&raw mut pending)).ok()?;
        ENDING.into_iter().find(|signal| libc::sigismember(&raw const pending, *signal) == 1)
    }
}

/// Resets the signals that ask a run to end to their default effect, even if they were inherited as ignored.
pub fn reset_ending() {
    for signal in ENDING {
        // SAFETY: SIG_DFL is a valid disposition.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Resets the signals of a fresh child: unblocks all, and ignores an interrupt from the keyboard, which the supervisor handles.
pub(crate) fn reset_in_child() {
    let none = set_of(&[]);
    // SAFETY: the kernel only reads the set, and SIG_IGN is a valid disposition.
    unsafe {
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        libc::signal(libc::SIGINT, libc::SIG_IGN);
    }
}

/// Resets the signals that the standard library (SIGPIPE) and [`settle`](crate::beginning::settle) (SIGXFSZ) ignore: exec keeps
/// ignored signals ignored, and a writer of a closed pipe would never end. Sets SIGINT to the given disposition. For a fresh
/// child that is about to become a program of others.
pub(crate) fn reset_for_foreign(interrupt: Option<libc::sighandler_t>) {
    // SAFETY: both dispositions are valid.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
        if let Some(interrupt) = interrupt {
            libc::signal(libc::SIGINT, interrupt);
        }
    }
}

/// Sends the message signal with `value` to process `pid`; returns `WouldBlock` if the signal queue is full.
#[inline]
pub fn queue(pid: i32, value: i32) -> io::Result<()> {
    let value = libc::sigval { sival_ptr: value as u32 as usize as *mut libc::c_void };
    // SAFETY: the value is an integer in the form of a pointer; no code dereferences it.
    check(unsafe { libc::sigqueue(pid, libc::SIGRTMIN() + 1, value) }).map(drop)
}

/// Returns the number of queued signals of all processes of this user.
pub fn queued() -> Option<u64> {
    Status::read().field("SigQ")?.split_once('/')?.0.parse().ok()
}

/// The message signal, blocked in this process so that it can be taken.
#[derive(Debug)]
pub struct MessageSignal(libc::sigset_t);

impl MessageSignal {
    /// Blocks the signal.
    pub fn new() -> io::Result<MessageSignal> {
        block(&[message_signal()])?;
        Ok(MessageSignal(set_of(&[message_signal()])))
    }

    /// Takes one signal and returns its value; waits for it (`sigwaitinfo`).
    #[inline]
    pub fn wait(&self) -> io::Result<i32> {
        self.take(|info| {
            // SAFETY: the set is valid and the kernel fills one siginfo.
            unsafe { libc::sigwaitinfo(&raw const self.0, info) }
        })
    }

    /// Takes one signal and returns its value, or returns `WouldBlock`.
    #[inline]
    pub fn try_wait(&self) -> io::Result<i32> {
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        self.take(|info| {
            // SAFETY: the set is valid, the kernel fills one siginfo, and the timeout is a valid timespec.
            unsafe { libc::sigtimedwait(&raw const self.0, info, &raw const now) }
        })
    }

    #[inline]
    fn take(&self, call: impl Fn(*mut libc::siginfo_t) -> libc::c_int) -> io::Result<i32> {
        let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        retry(|| call(info.as_mut_ptr()))?;
        // SAFETY: zeroes are a valid siginfo, the kernel filled it, and a queued signal has a value.
        Ok(unsafe { info.assume_init().si_value().sival_ptr } as usize as u32 as i32)
    }
}

/// Creates a descriptor that delivers these signals, which are blocked from now on.
pub fn signalfd(signals: &[i32]) -> io::Result<OwnedFd> {
    block(signals)?;
    let set = set_of(signals);
    // SAFETY: the kernel only reads the set; the new descriptor has no other owner.
    check(unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC) })
        .map(|number| unsafe { own(number) })
        .context(|| "signalfd")
}

/// Takes one signal from a signalfd and returns its number and value.
#[inline]
pub fn read_signalfd(fd: BorrowedFd<'_>) -> io::Result<(i32, i32)> {
    let mut info = std::mem::MaybeUninit::<libc::signalfd_siginfo>::zeroed();
    let bytes = size_of::<libc::signalfd_siginfo>();
    // SAFETY: the kernel writes one signalfd_siginfo, for which zeroes are a valid value.
    let info = unsafe {
        retry(|| libc::read(fd.as_raw_fd(), info.as_mut_ptr().cast(), bytes))?;
        info.assume_init()
    };
    Ok((info.ssi_signo as i32, info.ssi_int))
}

/// Signal that asks a process to end.
pub const TERMINATE: i32 = libc::SIGTERM;

/// Signal that stops a process until [`CONTINUE`].
pub const STOP: i32 = libc::SIGSTOP;

/// Signal that resumes a stopped process.
pub const CONTINUE: i32 = libc::SIGCONT;

/// Interrupt, terminate, hang-up.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Returns the name of a signal, for example `SIGKILL`.
pub fn name(signal: i32) -> String {
    const NAMES: [(i32, &str); 17] = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGSYS, "SIGSYS"),
        (libc::SIGXCPU, "SIGXCPU"),
        (libc::SIGXFSZ, "SIGXFSZ"),
    ];
    match NAMES.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("signal {signal}"),
    }
}
