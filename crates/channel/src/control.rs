//! The words that the ends of a direction tell each other beside the messages.

use crate::atomics::{AtomicU32, AtomicU64};

/// Words in a pair of cache lines of their own, which processors fetch together. Zeroes are the first state of all.
#[derive(Default)]
#[repr(C, align(128))]
pub(crate) struct Line<T>(pub T);

/// What a direction's ends tell each other beside the messages.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Control {
    /// How far the receiver has read, in bytes since the beginning.
    pub read: Line<AtomicU64>,
    /// How the receiver is.
    pub receiver: Line<End>,
    /// How the sender is.
    pub sender: Line<End>,
}

/// How one end of a direction is: written by it, but for what its waker writes.
#[derive(Default)]
#[repr(C)]
pub(crate) struct End {
    /// Whether it sleeps, and how it is to be woken; also the word it sleeps on.
    pub state: AtomicU32,
    /// Not 0 once it is closed in good order.
    pub closed: AtomicU32,
    /// The processor on which it woke the other end last, counted from 1.
    pub processor: AtomicU32,
    /// When it was woken last, by the clock of `wake::now_ns`: written by its waker, where it was not 0.
    pub woken_at_ns: AtomicU64,
}
