//! Replaces the operating system under loom and miri, which have no other process. Sleepers wait for one condition
//! variable, and a test simulates the death of a process.

use crate::atomics::{AtomicU32, Fault, Ordering, fence, has};
use crate::waiting::SleepEnd;
#[cfg(loom)]
use loom::sync::{Condvar, Mutex};
use std::sync::LazyLock;
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

struct Sleepers {
    world: Mutex<World>,
    condition: Condvar,
}

/// The connection of an end in addition to the memory. It has no effect here.
#[cfg(loom)]
pub(crate) type Link = std::os::fd::OwnedFd;
#[cfg(not(loom))]
pub(crate) use crate::platform::link::Link;

/// The state that sleepers check in addition to their words.
struct World {
    is_peer_dead: bool,
    /// Whether the next sleep ends at once, as after a long time.
    is_late: bool,
    /// Whether a link is readable.
    is_signalled: bool,
}

const BEGINNING: World = World { is_peer_dead: false, is_late: false, is_signalled: false };

#[cfg(not(loom))]
static SLEEPERS: Sleepers = Sleepers { world: Mutex::new(BEGINNING), condition: Condvar::new() };

#[cfg(loom)]
loom::lazy_static! {
    static ref SLEEPERS: Sleepers = Sleepers { world: Mutex::new(BEGINNING), condition: Condvar::new() };
}

fn locked<T>(action: impl FnOnce(&mut World) -> T) -> T {
    let mut world = SLEEPERS.world.lock().unwrap_or_else(|_| unreachable!("a test failed before"));
    action(&mut world)
}

/// Sleeps while `word` holds `seen`. Under loom, which has no clock, the time is over when the peer is dead or a test
/// has set it.
pub(crate) fn sleep_on(_link: &Link, word: &AtomicU32, seen: u32, limit: Duration) -> SleepEnd {
    let fails = "a test failed before";
    let mut world = SLEEPERS.world.lock().unwrap_or_else(|_| unreachable!("{fails}"));
    while word.load(Ordering::Relaxed) == seen {
        if world.is_peer_dead || std::mem::take(&mut world.is_late) {
            return SleepEnd::ToTheEnd;
        }
        let slept = SLEEPERS.condition.wait_timeout(world, limit);
        let (guard, over) = slept.unwrap_or_else(|_| unreachable!("{fails}"));
        if over.timed_out() {
            return SleepEnd::ToTheEnd;
        }
        world = guard;
    }
    SleepEnd::UntilWoken
}

/// Wakes all sleepers.
pub(crate) fn wake(_link: &Link, _word: &AtomicU32) {
    locked(|_| SLEEPERS.condition.notify_all());
}

/// Simulates the death of the process at the other end.
#[cfg(all(test, loom))]
pub(crate) fn peer_dies() {
    locked(|world| {
        world.is_peer_dead = true;
        SLEEPERS.condition.notify_all();
    });
}

/// Makes the next sleep end at once.
#[cfg(all(test, loom))]
pub(crate) fn time_is_over_once() {
    locked(|world| world.is_late = true);
}

/// Returns whether the process at the other end is dead.
pub(crate) fn has_hung_up(_socket: &Link) -> bool {
    locked(|world| world.is_peer_dead)
}

/// Lets another thread run, because loom runs one thread at a time.
pub(crate) fn let_others_run() {
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// Returns the time, which is constant under loom.
pub(crate) fn now() -> Instant {
    static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);
    if cfg!(loom) { *BEGINNING } else { Instant::now() }
}

/// Returns the time in milliseconds, which is constant under loom.
pub(crate) fn coarse_now_ms() -> u64 {
    static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);
    now().saturating_duration_since(*BEGINNING).as_millis() as u64
}

/// Sleeps for the whole time, regardless of wake-ups.
pub(crate) fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// Returns 0, because the clock only measures the duration of wake-ups.
pub(crate) fn now_ns() -> u64 {
    0
}

/// Returns 0, because the CPU is not known.
pub(crate) fn processor() -> u32 {
    0
}

/// Returns whether other processes can execute a barrier for this one.
pub(crate) fn can_be_ordered_by_others() -> bool {
    true
}

/// Returns whether this process can execute a barrier for others.
pub(crate) fn can_order_others() -> bool {
    true
}

/// Executes the barrier in this thread. `other_orders` executes that of the other end.
pub(crate) fn order_all_processes() -> bool {
    fence(Ordering::SeqCst);
    true
}

/// Does nothing.
pub(crate) fn keep_order() {}

/// Executes the barrier of the other end, and returns whether `word` still holds `seen` after it.
pub(crate) fn other_orders(word: &AtomicU32, seen: u32) -> bool {
    if !has(Fault::BarrierLeftToOther) {
        fence(Ordering::SeqCst);
    }
    word.load(Ordering::Relaxed) == seen
}

/// Makes the links readable. A test watches all of them at once.
pub(crate) fn signal(_socket: &Link) {
    locked(|world| {
        world.is_signalled = true;
        SLEEPERS.condition.notify_all();
    });
}

/// Waits until a link is readable.
#[cfg(all(test, loom))]
pub(crate) fn wait_for_signal() {
    let mut world = SLEEPERS.world.lock().unwrap();
    while !std::mem::take(&mut world.is_signalled) {
        world = SLEEPERS.condition.wait(world).unwrap();
    }
}

/// Does nothing, because a wait consumes the signal.
pub(crate) fn drain(_socket: &Link) {}
