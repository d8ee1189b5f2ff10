//! The control words of a direction, in addition to its messages.

use crate::atomics::{AtomicU32, AtomicU64};

/// Words in a separate pair of cache lines, because the adjacent-line prefetcher fetches lines in pairs. Zero is the
/// initial state of all words.
#[derive(Default)]
#[repr(C, align(128))]
pub(crate) struct Line<T>(pub T);

/// The control words of a direction.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Control {
    /// Position of the receiver: bytes that it has read since the beginning.
    pub read: Line<AtomicU64>,
    /// State of the receiver.
    pub receiver: Line<End>,
    /// State of the sender.
    pub sender: Line<End>,
}

/// The state of one end of a direction. The end itself writes it, except for the words that its waker writes.
#[derive(Default)]
#[repr(C)]
pub(crate) struct End {
    /// Whether it sleeps, and how to wake it. It also sleeps on this word.
    pub state: AtomicU32,
    /// Nonzero after an orderly close.
    pub closed: AtomicU32,
    /// CPU on which it last woke the other end, counted from 1.
    pub processor: AtomicU32,
    /// Time of its last wake-up, on the clock of `wake::now_ns`. The waker writes it only if it is not 0.
    pub woken_at_ns: AtomicU64,
}
