//! The atomics of the shared memory, and what proofs do with them. Under `cfg(loom)` they are loom's atomics, which try
//! every order that the language allows, and a test can omit one ordering. Under `cfg(crash_sweep)` the process dies at
//! a given store.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A part of the protocol that a test omits, to show that the protocol needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Omits the release order of a header: it may become visible before its message.
    PublishHeader,
    /// Omits the acquire order of a header: its message may be read before it.
    LoadHeader,
    /// Omits the release order of the read position: room may be freed before it was read.
    PublishRead,
    /// Omits the acquire order of the read position: room may be overwritten before it was freed.
    LoadRead,
    /// Does not clear the header after a record.
    ClearNext,
    /// Omits the store-load fence between publishing and checking the sleep flag.
    BarrierOfWaker,
    /// Omits the barrier that the other end executes for both.
    #[cfg(any(loom, miri))]
    BarrierLeftToOther,
    /// Omits the store-load fence between setting the sleep flag and the last check.
    BarrierOfSleeper,
    /// Omits the last check before the sleep.
    LastLook,
    /// Omits the release order of the closed flag: it may become visible before the last message.
    PublishClosed,
    /// Omits the acquire order of the closed flag.
    LoadClosed,
    /// Does not check for messages again after the closed flag was read.
    LookAfterClosed,
    /// The sender overwrites the ring before it publishes the oldest valid record.
    #[cfg(all(feature = "broadcast", target_os = "linux"))]
    PublishOldest,
    /// A receiver reads the position of the oldest valid record before it has copied the record.
    #[cfg(all(feature = "broadcast", target_os = "linux"))]
    LoadOldest,
    /// Does not check for messages again after the death of the other process was detected.
    LookAfterDeath,
}

/// Returns whether a test has set this fault.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) const fn has(_fault: Fault) -> bool {
    false
}

/// Returns this ordering, or `Relaxed` if a test has set the fault.
#[inline(always)]
pub(crate) fn order(fault: Fault, usual: Ordering) -> Ordering {
    if has(fault) { Ordering::Relaxed } else { usual }
}

#[cfg(loom)]
pub(crate) use faults::has;
#[cfg(all(loom, test))]
pub(crate) use faults::put_in;

#[cfg(loom)]
mod faults {
    use super::Fault;
    use std::cell::Cell;

    // The threads of a model are coroutines of the thread of its test.
    thread_local!(static PUT_IN: Cell<Option<Fault>> = const { Cell::new(None) });

    /// Returns whether a test has set this fault.
    pub(crate) fn has(fault: Fault) -> bool {
        PUT_IN.get() == Some(fault)
    }

    /// Sets the fault, or removes it.
    pub(crate) fn put_in(fault: Option<Fault>) {
        PUT_IN.set(fault);
    }
}

/// Does nothing. With `cfg(crash_sweep)`, counts the stores to shared memory.
#[cfg(not(crash_sweep))]
#[inline(always)]
pub(crate) fn count_store() {}

/// Counts the stores to shared memory, and kills the process at the store with the number in `CHANNEL_DIES_AT`.
/// Called before each store.
#[cfg(crash_sweep)]
pub(crate) fn count_store() {
    use std::sync::LazyLock;
    use std::sync::atomic::AtomicU64;
    static LEFT: LazyLock<Option<AtomicU64>> =
        LazyLock::new(|| std::env::var("CHANNEL_DIES_AT").ok()?.parse().ok().map(AtomicU64::new));
    if LEFT.as_ref().is_some_and(|left| left.fetch_sub(1, Ordering::Relaxed) == 1) {
        crate::platform::kill_this_process();
    }
}
