//! State of a traced process, and the system call that it stopped for.

use crate::error::{Context, check, retry};
use std::io;

/// Event of a stop that neither a signal nor a system call has caused.
const EVENT_STOP: i32 = 128;
/// Signal of a stop at a system call.
pub(super) const SYSTEM_CALL_STOP: i32 = libc::SIGTRAP | 0x80;
/// Kind of a stop at entry in `PTRACE_GET_SYSCALL_INFO`.
const AT_ENTRY: u8 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// It runs, or waits.
    Nothing,
    /// It is stopped, with this status.
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

/// Returns the signal that is about to be delivered to a process that stopped with this status; 0 if it stopped for another
/// reason.
pub(super) fn signal_of(status: i32) -> i32 {
    if status == SYSTEM_CALL_STOP || status >> 8 != 0 { 0 } else { status }
}

/// Returns whether this is the stop that SIGSTOP and similar signals cause.
pub(super) fn is_group_stop(status: i32) -> bool {
    let stops = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
    status >> 8 == EVENT_STOP && stops.contains(&(status & 0xff))
}

/// Returns whether it stopped because it has started a thread.
pub(super) fn is_clone(status: i32) -> bool {
    status >> 8 == libc::PTRACE_EVENT_CLONE
}

/// Returns the thread that a process stopped with this event has started; `None` if the process was killed in the meantime.
pub(super) fn begun_thread(pid: i32) -> io::Result<Option<i32>> {
    let mut thread: libc::c_ulong = 0;
    // SAFETY: the kernel writes one number.
    match check(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, 0, &raw mut thread) }) {
        Ok(_) => Ok(Some(thread as i32)),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error).context(|| format!("the new thread of process {pid}")),
    }
}

/// Takes the exit of a thread that is not a child, if it has ended. Until then its process cannot end.
pub(super) fn reap(pid: i32) -> io::Result<()> {
    let options = libc::WEXITED | libc::WNOHANG | libc::__WALL;
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the kernel fills one siginfo, which is never read.
    match check(unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, info.as_mut_ptr(), options) }) {
        Err(error) if error.raw_os_error() != Some(libc::ECHILD) => Err(error),
        _ => Ok(()),
    }
}

/// Returns the news of a process. Consumes only stops: an exit is left for a wait for the child.
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
    // SAFETY: the fields are zeroes or were filled by the kernel; waitid fills these fields.
    let (reported, status) = unsafe {
        let info = info.assume_init();
        (info.si_pid(), info.si_status())
    };
    Ok(if reported == pid { News::Stop(status) } else { News::Nothing })
}

/// Returns the system call that a stopped process is about to enter; `None` if it leaves one, or was killed in the meantime.
pub(super) fn entered_call(pid: i32) -> io::Result<Option<i64>> {
    let mut info = CallInfo::default();
    // SAFETY: the kernel writes at most the given number of bytes, and all bytes are valid for these integers.
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
