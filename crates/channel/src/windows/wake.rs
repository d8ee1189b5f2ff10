//! The Windows calls with which an end waits for the other one and wakes it.
//!
//! `WaitOnAddress` supports only the threads of one process. So a sleeper waits for an event, and the word only
//! determines which end sets it. An event that is set too late for one sleep ends the next one without need.

pub(crate) use crate::any_platform::{keep_order, let_others_run, now, sleep};
use crate::atomics::AtomicU32;
use crate::waiting::SleepEnd;
use crate::windows::event::{self, WaitEnd};
use crate::windows::pipe;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::Threading::GetCurrentProcessorNumberEx;

/// The connection of one end of a direction with the other end, in addition to the memory.
#[derive(Debug)]
pub(crate) struct Link {
    /// The event that wakes this end.
    own: OwnedHandle,
    /// The event that wakes the other end.
    other: OwnedHandle,
    /// A pipe whose other end only the other process has. It breaks when that process exits.
    connection: Arc<OwnedHandle>,
}

impl Link {
    /// Creates a link of these handles.
    pub(crate) fn new(own: OwnedHandle, other: OwnedHandle, connection: Arc<OwnedHandle>) -> Link {
        Link { own, other, connection }
    }

    /// Returns the event that wakes this end.
    pub(crate) fn own_event(&self) -> BorrowedHandle<'_> {
        self.own.as_handle()
    }
}

/// Sleeps while `word` holds `seen`, at most for `limit`, and returns why the sleep ended. The wake-up may be spurious.
pub(crate) fn sleep_on(link: &Link, word: &AtomicU32, seen: u32, limit: Duration) -> SleepEnd {
    let is_asleep = word.load(Ordering::Relaxed) == seen;
    let waited = is_asleep.then(|| event::wait(link.own.as_handle(), Some(limit)));
    if waited == Some(WaitEnd::TimeOver) { SleepEnd::ToTheEnd } else { SleepEnd::UntilWoken }
}

/// Wakes the other end, which sleeps.
pub(crate) fn wake(link: &Link, _word: &AtomicU32) {
    event::set(link.other.as_handle());
}

/// Returns the nanoseconds of a clock that all processes share.
pub(crate) fn now_ns() -> u64 {
    let (mut ticks, mut per_second) = (0, 0);
    // SAFETY: there is room for both answers.
    unsafe {
        QueryPerformanceFrequency(&raw mut per_second);
        QueryPerformanceCounter(&raw mut ticks);
    }
    (i128::from(ticks) * 1_000_000_000 / i128::from(per_second.max(1))) as u64
}

/// Returns the milliseconds of this clock.
pub(crate) fn coarse_now_ms() -> u64 {
    now_ns() / 1_000_000
}

/// Returns the CPU that this thread runs on, counted from 1.
#[inline]
pub(crate) fn processor() -> u32 {
    /// Maximum number of CPUs in a group.
    const GROUP: u32 = 64;
    let mut here = PROCESSOR_NUMBER::default();
    // SAFETY: there is room for the answer.
    unsafe { GetCurrentProcessorNumberEx(&raw mut here) };
    u32::from(here.Group) * GROUP + u32::from(here.Number) + 1
}

/// Returns false, because `FlushProcessWriteBuffers` orders only the threads of one process.
pub(crate) fn can_be_ordered_by_others() -> bool {
    false
}

/// Returns false, because no process can execute the barrier for another one.
#[inline(always)]
pub(crate) fn other_orders(_word: &AtomicU32, _seen: u32) -> bool {
    false
}

/// Returns false: [`order_all_processes`] is not supported.
pub(crate) fn can_order_others() -> bool {
    false
}

/// Returns false, because Windows has no barrier across processes.
pub(crate) fn order_all_processes() -> bool {
    false
}

/// Returns whether the process at the other end of a link has exited.
pub(crate) fn has_hung_up(link: &Link) -> bool {
    !pipe::is_connected(link.connection.as_handle())
}

/// Sets the event for which the other end waits outside this library.
pub(crate) fn signal(link: &Link) {
    event::set(link.other.as_handle());
}

/// Resets the event that [`signal`] has set.
pub(crate) fn drain(link: &Link) {
    event::reset(link.own.as_handle());
}
