//! A robust mutex and a condition variable inside a shared region.

use crate::error::check_number;
use crate::linux::memory::Region;
use std::io;

/// Bytes between the mutex and the condition variable behind it.
const CONDITION_OFFSET: usize = 64;

/// Bytes that both take together, and their alignment at most.
pub const BYTES: usize = 128;

/// Makes both at `offset` of the region, shared between processes.
pub fn initialise(region: &Region, offset: usize) -> io::Result<()> {
    const { assert!(size_of::<libc::pthread_mutex_t>() <= CONDITION_OFFSET) };
    const { assert!(size_of::<libc::pthread_cond_t>() <= BYTES - CONDITION_OFFSET) };
    let (mutex, condition) = (mutex(region, offset), condition(region, offset));
    // SAFETY: both places are inside the region and aligned, nobody uses them before this returns, and the attributes
    // are made before they are used.
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

/// Locks and unlocks the mutex, so that nobody is between looking and sleeping, then wakes who sleeps.
#[inline]
pub fn signal(region: &Region, offset: usize) -> io::Result<()> {
    lock(region, offset)?;
    unlock(region, offset)?;
    // SAFETY: a condition variable was made there, and the region outlives the call.
    check_number(unsafe { libc::pthread_cond_signal(condition(region, offset)) })
}

/// Sleeps until `done`, which is asked with the mutex held.
#[inline]
pub fn wait(region: &Region, offset: usize, done: impl Fn() -> bool) -> io::Result<()> {
    lock(region, offset)?;
    while !done() {
        // SAFETY: both were made there, the mutex is ours, and the region outlives the call.
        let slept = unsafe { libc::pthread_cond_wait(condition(region, offset), mutex(region, offset)) };
        after(slept, region, offset)?;
    }
    unlock(region, offset)
}

#[inline]
fn lock(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: a mutex was made there, and the region outlives the call.
    let locked = unsafe { libc::pthread_mutex_lock(mutex(region, offset)) };
    after(locked, region, offset)
}

/// A mutex whose owner died is ours, and guards nothing that could be half done.
#[inline]
fn after(locked: libc::c_int, region: &Region, offset: usize) -> io::Result<()> {
    if locked == libc::EOWNERDEAD {
        // SAFETY: the mutex was made there, and is ours.
        return check_number(unsafe { libc::pthread_mutex_consistent(mutex(region, offset)) });
    }
    check_number(locked)
}

#[inline]
fn unlock(region: &Region, offset: usize) -> io::Result<()> {
    // SAFETY: the mutex was made there, and is ours.
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
