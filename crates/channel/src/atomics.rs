//! The atomics of what both ends share, and what proofs do to them: under `cfg(loom)` they are loom's, which tries every order
//! that the language allows, and one ordering at a time can be left out; under `cfg(crash_sweep)` the process dies at a store.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// What the protocol needs and a test leaves out, to show that it is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A header is published before what it tells of.
    PublishHeader,
    /// What a header tells of is read before it.
    LoadHeader,
    /// Room is given back before it was read.
    PublishRead,
    /// Room is written to before it was given back.
    LoadRead,
    /// The header behind a record is not cleared.
    ClearNext,
    /// Who has published does not order that before its look at the sleeper.
    BarrierOfWaker,
    /// The same where the other end said that it makes the barrier for both.
    #[cfg(any(loom, miri))]
    BarrierLeftToOther,
    /// Who goes to sleep does not order its word before its last look.
    BarrierOfSleeper,
    /// It does not look once more.
    LastLook,
    /// What was sent last is not ordered before the word that says that no more comes.
    PublishClosed,
    /// The same where that is read.
    LoadClosed,
    /// Who reads that no more comes does not look whether something came.
    LookAfterClosed,
    /// The sender overwrites the ring before it publishes the oldest valid record.
    #[cfg(all(feature = "broadcast", target_os = "linux"))]
    PublishOldest,
    /// A receiver reads the position of the oldest valid record before it has copied the record.
    #[cfg(all(feature = "broadcast", target_os = "linux"))]
    LoadOldest,
    /// The same for who sees that the other process is dead.
    LookAfterDeath,
}

/// Whether a test has put this fault in.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) const fn has(_fault: Fault) -> bool {
    false
}

/// This ordering, or none if a test has put the fault in.
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

    /// Whether a test has put this fault in.
    pub(crate) fn has(fault: Fault) -> bool {
        PUT_IN.get() == Some(fault)
    }

    /// What is left out from now on.
    pub(crate) fn put_in(fault: Option<Fault>) {
        PUT_IN.set(fault);
    }
}

/// Called before each store to what is shared.
#[cfg(not(crash_sweep))]
#[inline(always)]
pub(crate) fn count_store() {}

/// Called before each store to what is shared: dies at the one whose number `CHANNEL_DIES_AT` gives.
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
