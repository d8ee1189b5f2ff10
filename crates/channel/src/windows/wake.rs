//! The calls of Windows by which an end waits for the other one and wakes it.
//!
//! `WaitOnAddress` is for the threads of one process, so a sleeper waits for an event, and the word says only who sets it. An event
//! that was set too late for one sleep ends the next one in vain.

pub(crate) use crate::any_platform::{keep_order, let_others_run, now, sleep};
use crate::atomics::AtomicU32;
use crate::waiting::Slept;
use crate::windows::event::{self, Waited};
use crate::windows::pipe;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::Threading::GetCurrentProcessorNumberEx;

/// What connects an end of a direction with the other one beside the memory.
#[derive(Debug)]
pub(crate) struct Link {
    /// The event that wakes this end.
    own: OwnedHandle,
    /// The event that wakes the other end.
    other: OwnedHandle,
    /// A pipe whose other end belongs to the other process, and to nobody else: it breaks when that is gone.
    connection: Arc<OwnedHandle>,
}

impl Link {
    /// A link of these handles.
    pub(crate) fn new(own: OwnedHandle, other: OwnedHandle, connection: Arc<OwnedHandle>) -> Link {
        Link { own, other, connection }
    }

    /// The event that wakes this end.
    pub(crate) fn own_event(&self) -> BorrowedHandle<'_> {
        self.own.as_handle()
    }
}

/// Sleeps while `word` holds `seen`, at most for `limit`, and returns why it ended; may be woken for no reason.
pub(crate) fn sleep_on(link: &Link, word: &AtomicU32, seen: u32, limit: Duration) -> Slept {
    let is_asleep = word.load(Ordering::Relaxed) == seen;
    let waited = is_asleep.then(|| event::wait(link.own.as_handle(), Some(limit)));
    if waited == Some(Waited::TimeOver) { Slept::ToTheEnd } else { Slept::UntilWoken }
}

/// Wakes the other end, which sleeps.
pub(crate) fn wake(link: &Link, _word: &AtomicU32) {
    event::set(link.other.as_handle());
}

/// Nanoseconds of a clock that all processes share.
pub(crate) fn now_ns() -> u64 {
    let (mut ticks, mut per_second) = (0, 0);
    // SAFETY: there is room for both answers.
    unsafe {
        QueryPerformanceFrequency(&raw mut per_second);
        QueryPerformanceCounter(&raw mut ticks);
    }
    (i128::from(ticks) * 1_000_000_000 / i128::from(per_second.max(1))) as u64
}

/// Milliseconds of the same clock.
pub(crate) fn coarse_now_ms() -> u64 {
    now_ns() / 1_000_000
}

/// The processor that this thread runs on, counted from 1.
#[inline]
pub(crate) fn processor() -> u32 {
    /// The most in a group.
    const GROUP: u32 = 64;
    let mut here = PROCESSOR_NUMBER::default();
    // SAFETY: there is room for the answer.
    unsafe { GetCurrentProcessorNumberEx(&raw mut here) };
    u32::from(here.Group) * GROUP + u32::from(here.Number) + 1
}

/// No: `FlushProcessWriteBuffers` orders the threads of one process alone.
pub(crate) fn can_be_ordered_by_others() -> bool {
    false
}

/// Whether the other end makes the barrier for both: never.
#[inline(always)]
pub(crate) fn other_orders(_word: &AtomicU32, _seen: u32) -> bool {
    false
}

/// Whether [`order_all_processes`] works here: never.
pub(crate) fn can_order_others() -> bool {
    false
}

/// A full barrier in every process, which Windows does not have.
pub(crate) fn order_all_processes() -> bool {
    false
}

/// Whether the process at the other end of a link is gone.
pub(crate) fn has_hung_up(link: &Link) -> bool {
    !pipe::is_connected(link.connection.as_handle())
}

/// Sets the event that the other end waits for outside.
pub(crate) fn signal(link: &Link) {
    event::set(link.other.as_handle());
}

/// Takes what [`signal`] has set.
pub(crate) fn drain(link: &Link) {
    event::reset(link.own.as_handle());
}
