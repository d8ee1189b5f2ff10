//! What has become of a traced process, and which system call it stopped for.

use crate::error::{Context, check, retry};
use std::io;

/// The event of a stop that no signal and no system call is the cause of.
const EVENT_STOP: i32 = 128;
/// The signal of a stop at a system call.
pub(super) const SYSTEM_CALL_STOP: i32 = libc::SIGTRAP | 0x80;
/// The kind of stop, as `PTRACE_GET_SYSCALL_INFO` names it.
const AT_ENTRY: u8 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// It runs, or waits for something.
    Nothing,
    /// It stands still; this is why.
    Stop(i32),
    /// It is dead, and its parent may have waited for it.
    Gone,
}

/// The part of `struct ptrace_syscall_info` that a stop at entry fills.
#[repr(C)]
#[derive(Debug, Default)]
struct CallInfo {
    kind: u8,
    padding: [u8; 3],
    architecture: u32,
    instruction: u64,
    stack: u64,
    number: u64,
    arguments: [u64; 6],
}

/// The signal that is about to be delivered to a process that stopped with this status; 0 if it stopped for something
/// else.
pub(super) fn signal_of(status: i32) -> i32 {
    if status == SYSTEM_CALL_STOP || status >> 8 != 0 { 0 } else { status }
}

/// Whether this is the stop that SIGSTOP and its like bring about.
pub(super) fn is_group_stop(status: i32) -> bool {
    let stops = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
    status >> 8 == EVENT_STOP && stops.contains(&(status & 0xff))
}

/// Whether it stopped because it has started a thread.
pub(super) fn is_clone(status: i32) -> bool {
    status >> 8 == libc::PTRACE_EVENT_CLONE
}

/// The thread that one has started that stopped for this; `None` if it was killed meanwhile.
pub(super) fn begun_thread(pid: i32) -> io::Result<Option<i32>> {
    let mut thread: libc::c_ulong = 0;
    // SAFETY: the kernel writes one number.
    match check(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, 0, &raw mut thread) }) {
        Ok(_) => Ok(Some(thread as i32)),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error).context(|| format!("the thread that process {pid} has started")),
    }
}

/// Takes the exit of a thread that is no child, if it has ended. Until then its process cannot end.
pub(super) fn reap(pid: i32) -> io::Result<()> {
    let options = libc::WEXITED | libc::WNOHANG | libc::__WALL;
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the kernel fills one siginfo, which nobody reads.
    match check(unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, info.as_mut_ptr(), options) }) {
        Err(error) if error.raw_os_error() != Some(libc::ECHILD) => Err(error),
        _ => Ok(()),
    }
}

/// What is new of a process. Takes stops alone: an exit is left to whoever waits for the child.
pub(super) fn news(pid: i32, wait: bool) -> io::Result<News> {
    let patience = if wait { 0 } else { libc::WNOHANG };
    let options = libc::WSTOPPED | libc::__WALL | patience;
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the kernel fills one siginfo, for which zeroes are a valid value and mean "nothing".
    let result =
        retry(|| unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, info.as_mut_ptr(), options) });
    match result {
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(News::Gone),
        result => result.context(|| format!("wait for process {pid}"))?,
    };
    // SAFETY: zeroes or what the kernel filled in; waitid fills these fields.
    let (reported, status) = unsafe {
        let info = info.assume_init();
        (info.si_pid(), info.si_status())
    };
    Ok(if reported == pid { News::Stop(status) } else { News::Nothing })
}

/// The system call that a stopped process is about to enter; `None` if it leaves one, or was killed meanwhile.
pub(super) fn entered_call(pid: i32) -> io::Result<Option<i64>> {
    let mut info = CallInfo::default();
    // SAFETY: the kernel writes no more bytes than it is told to, and all bytes are valid for these integers.
    let result = check(unsafe {
        libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size_of::<CallInfo>(), &raw mut info)
    });
    match result {
        Ok(_) => Ok((info.kind == AT_ENTRY).then_some(info.number as i64)),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error)
            .context(|| format!("system call of process {pid} (PTRACE_GET_SYSCALL_INFO, Linux 5.3)")),
    }
}
