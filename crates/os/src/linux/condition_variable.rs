//! A robust mutex and a condition variable inside a shared region.

use crate::error::check_number;
use crate::linux::memory::Region;
use std::io;

/// Bytes from the beginning of the mutex to the condition variable.
const CONDITION_OFFSET: usize = 64;

/// Size in bytes of both together, and an upper bound of their alignment.
pub const BYTES: usize = 128;

/// Initialises both at `offset` of the region, shared between processes.
pub fn initialise(region: &Region, offset: usize) -> io::Result<()> {
    const { assert!(size_of::<libc::pthread_mutex_t>() <= CONDITION_OFFSET) };
    const { assert!(size_of::<libc::pthread_cond_t>() <= BYTES - CONDITION_OFFSET) };
    let (mutex, condition) = (mutex(region, offset), condition(region, offset));
    // SAFETY: both places are inside the region and aligned, no process uses them before this returns, and the attributes are
    // initialised before they are used.
    unsafe {
        let mut mutex_kind = std::mem::MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
        check_number(libc::pthread_mutexattr_init(mutex_kind.as_mut_ptr()))?;
        let shared = libc::PTHREAD_PROCESS_SHARED;
        check_number(libc::pthread_mutexattr_setpshared(mutex_kind.as_mut_ptr(), shared))?;
        let robust = libc::PTHREAD_MUTEX_ROBUST;
        check_number(libc::pthread_mutexattr_setrobust(mutex_kind.as_mut_ptr(), robust))?;
        check_number(libc::pthread_mutex_init(mutex, mutex_kind.as_ptr()))?;
        let mut condition_kind = std::mem::MaybeUninit::<libc::pthread_condattr_t>::uninit();
        check_number(libc::pthread_condattr_init(condition_kind.as_mut_ptr()))?;
        check_number(libc::pthread_condattr_setpshared(condition_kind.as_mut_ptr(), shared))?;
        check_number(libc::pthread_cond_init(condition, condition_kind.as_ptr()))
    }
}

/// Locks and unlocks the mutex, so that no process is between its check and its sleep, then wakes one that sleeps.
#[inline]
pub fn signal(region: &Region, offset: usize) -> io::Result<()> {
    lock(region, offset)?;
    unlock(region, offset)?;
    // SAFETY: a condition variable was initialised there, and the region outlives the call.
    check_number(unsafe { libc::pthread_cond_signal(condition(region, offset)) })
}

/// Sleeps until `done` returns `true`. It is called with the mutex held.
#[inline]
pub fn wait(region: &Region, offset: usize, done: impl Fn() -> bool) -> io::Result<()> {
    lock(region, offset)?;
    while !done() {
        // SAFETY: both were initialised there, this thread holds the mutex, and the region outlives the call.
        let slept = unsafe { libc::pthread_cond_wait(condition(region, offset), mutex(region, offset)) };
        after(slept, region, offset)?;
    }
    unlock(region, offset)
}

#[inline]
fn lock(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: a mutex was initialised there, and the region outlives the call.
    let locked = unsafe { libc::pthread_mutex_lock(mutex(region, offset)) };
    after(locked, region, offset)
}

/// Makes a mutex consistent whose owner died. This thread holds it then, and it guards no data that could be half written.
#[inline]
fn after(locked: libc::c_int, region: &Region, offset: usize) -> io::Result<()> {
    if locked == libc::EOWNERDEAD {
        // SAFETY: the mutex was initialised there, and this thread holds it.
        return check_number(unsafe { libc::pthread_mutex_consistent(mutex(region, offset)) });
    }
    check_number(locked)
}

#[inline]
fn unlock(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: the mutex was initialised there, and this thread holds it.
    check_number(unsafe { libc::pthread_mutex_unlock(mutex(region, offset)) })
}

#[inline]
fn mutex(region: &Region, offset: usize) -> *mut libc::pthread_mutex_t {
    region.place(offset)
}

#[inline]
fn condition(region: &Region, offset: usize) -> *mut libc::pthread_cond_t {
    region.place(offset + CONDITION_OFFSET)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::test_child::TestChild;
    use std::sync::atomic::Ordering;

    #[test]
    fn who_sleeps_is_woken_and_a_dead_owner_is_survived() {
        let region = Region::anonymous(4096).unwrap();
        initialise(&region, BYTES).unwrap();
        let owner = TestChild::new(&[], || lock(&region, BYTES).unwrap());
        owner.play(|| {});
        owner.end();
        let sleeper = TestChild::new(&[], || {
            wait(&region, BYTES, || region.word(0).load(Ordering::Acquire) == 1).unwrap();
        });
        sleeper.play(|| {
            region.word(0).store(1, Ordering::Release);
            signal(&region, BYTES).unwrap();
        });
        sleeper.end();
    }
}
