//! System V semaphores.

use crate::error::{check, retry};
use crate::linux::limited::LimitContext;
use std::io;

/// Largest value of a semaphore (`SEMVMX`).
pub const MOST: usize = 32_767;

/// Creates a set of `count` semaphores at 0 and returns its ID.
pub fn create(key: i32, count: usize) -> io::Result<i32> {
    let flags = libc::IPC_CREAT | libc::IPC_EXCL | 0o600;
    // SAFETY: plain integers in and out. Linux initialises semaphores to 0.
    check(unsafe { libc::semget(key, count as libc::c_int, flags) }).limited("semget")
}

/// Removes the set.
pub fn remove(set: i32) -> io::Result<()> {
    // SAFETY: IPC_RMID ignores the third argument.
    check(unsafe { libc::semctl(set, 0, libc::IPC_RMID) }).map(drop)
}

/// Returns the ID of the set with this `key`.
pub fn find(key: i32) -> io::Result<i32> {
    // SAFETY: plain integers in and out.
    check(unsafe { libc::semget(key, 0, 0) })
}

/// State of one semaphore of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SemaphoreState {
    #[expect(missing_docs, reason = "the name says everything")]
    pub value: i32,
    /// PID of the last process that changed it; 0 for none.
    pub last_pid: i32,
    /// Number of processes that wait for it.
    pub waiting: i32,
}

/// Returns the state of semaphore `index` of the set.
///
/// # Errors
/// Returns an error if there is no such semaphore, or this user may not read it.
pub fn state(set: i32, index: i32) -> io::Result<SemaphoreState> {
    /// `GETPID`, `GETVAL`, `GETNCNT` and `GETZCNT` of linux/sem.h.
    const COMMANDS: [libc::c_int; 4] = [11, 12, 14, 15];
    let mut answers = [0; 4];
    for (answer, command) in answers.iter_mut().zip(COMMANDS) {
        // SAFETY: plain integers in and out; these commands ignore the fourth argument.
        *answer = check(unsafe { libc::semctl(set, index, command) })?;
    }
    let [last_pid, value, for_increase, for_zero] = answers;
    Ok(SemaphoreState { value, last_pid, waiting: for_increase + for_zero })
}

/// Adds one to semaphore `index` of the set.
#[inline]
pub fn post(set: i32, index: u16) -> io::Result<()> {
    operate(set, libc::sembuf { sem_num: index, sem_op: 1, sem_flg: 0 })
}

/// Subtracts one from semaphore `index` of the set; waits if its value is 0, or returns `WouldBlock` if `blocking` is false.
#[inline]
pub fn wait(set: i32, index: u16, blocking: bool) -> io::Result<()> {
    let flags = if blocking { 0 } else { libc::IPC_NOWAIT as libc::c_short };
    operate(set, libc::sembuf { sem_num: index, sem_op: -1, sem_flg: flags })
}

#[inline]
fn operate(set: i32, mut operation: libc::sembuf) -> io::Result<()> {
    // SAFETY: one operation is passed, and the count is one.
    retry(|| unsafe { libc::semop(set, &raw mut operation, 1) }).map(drop)
}
