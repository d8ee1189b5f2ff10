//! A mutex and a condition variable in each direction, in the region of the messages, as POSIX threads share them.
//!
//! The C library makes one system call to wake and one to sleep, like a plain futex, and locks and unlocks the mutex without a
//! call. Expect the figures of the futex benchmark plus the atomic instructions of the mutex. If both processes run at once,
//! there is occasionally one more call, because the woken process may find the mutex locked.

use crate::memory::SEMAPHORE_OFFSETS;
use crate::memory::doorbell::Doorbell;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Call, Calls, Wait};
use furlong_os::linux::condition_variable;
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A signal for every message, even if no process sleeps. The mutex is robust, so that it survives its owner.
#[derive(Debug)]
pub struct ConditionVariable {
    region: Arc<Region>,
    send: usize,
    receive: usize,
}

impl Doorbell for ConditionVariable {
    const WAITS: &'static [Wait] = &[Wait::ConditionVariable];
    const CALLS: Calls = Calls {
        // To lock the mutex, to unlock it for a waiting process, and to wake a sleeping process.
        ring: &[Call::AtMostOnce("futex"), Call::AtMostOnce("futex"), Call::AtMostOnce("futex")],
        // To lock the mutex, to sleep, to lock the mutex again, and to unlock it for a waiting process.
        wait: &[
            Call::AtMostOnce("futex"),
            Call::AtMostOnce("futex"),
            Call::AtMostOnce("futex"),
            Call::AtMostOnce("futex"),
        ],
        ..Calls::NONE
    };

    fn create(_spec: &LinkSpecification, region: &Arc<Region>, _link: &mut Link) -> io::Result<()> {
        const { assert!(condition_variable::BYTES <= SEMAPHORE_OFFSETS[1] - SEMAPHORE_OFFSETS[0]) };
        SEMAPHORE_OFFSETS.iter().try_for_each(|&offset| condition_variable::initialise(region, offset))
    }

    fn open(_spec: &LinkSpecification, setup: &mut EndpointSetup, region: &Arc<Region>) -> io::Result<Self> {
        let [send, receive] = [setup.role, setup.role.peer()].map(|role| SEMAPHORE_OFFSETS[role.index()]);
        Ok(ConditionVariable { region: Arc::clone(region), send, receive })
    }

    #[inline]
    fn ring(&self, _word: &AtomicU32) -> io::Result<()> {
        condition_variable::signal(&self.region, self.send)
    }

    #[inline]
    fn wait(&self, word: &AtomicU32, seen: u32) -> io::Result<()> {
        condition_variable::wait(&self.region, self.receive, || word.load(Ordering::Acquire) != seen)
    }
}
