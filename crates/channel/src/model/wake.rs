//! What stands in place of the operating system under loom and miri, which know no other process: sleepers lie on one condition
//! variable, and a process dies when a test says so.

use crate::atomics::{AtomicU32, Fault, Ordering, fence, has};
use crate::waiting::Slept;
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

/// What an end has beside the memory; here it tells nothing.
#[cfg(loom)]
pub(crate) type Link = std::os::fd::OwnedFd;
#[cfg(not(loom))]
pub(crate) use crate::platform::link::Link;

/// What sleepers learn beside their words.
struct World {
    is_peer_dead: bool,
    /// The next sleep ends at once, as after a long time.
    is_late: bool,
    /// A link has become readable.
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

/// Sleeps while `word` holds `seen`. Under loom, which has no clock, the time is over when the peer is dead or a test says so.
pub(crate) fn sleep_on(_link: &Link, word: &AtomicU32, seen: u32, limit: Duration) -> Slept {
    let fails = "a test failed before";
    let mut world = SLEEPERS.world.lock().unwrap_or_else(|_| unreachable!("{fails}"));
    while word.load(Ordering::Relaxed) == seen {
        if world.is_peer_dead || std::mem::take(&mut world.is_late) {
            return Slept::ToTheEnd;
        }
        let slept = SLEEPERS.condition.wait_timeout(world, limit);
        let (guard, over) = slept.unwrap_or_else(|_| unreachable!("{fails}"));
        if over.timed_out() {
            return Slept::ToTheEnd;
        }
        world = guard;
    }
    Slept::UntilWoken
}

/// Wakes whoever sleeps.
pub(crate) fn wake(_link: &Link, _word: &AtomicU32) {
    locked(|_| SLEEPERS.condition.notify_all());
}

/// The process at the other end is gone from now on.
#[cfg(all(test, loom))]
pub(crate) fn peer_dies() {
    locked(|world| {
        world.is_peer_dead = true;
        SLEEPERS.condition.notify_all();
    });
}

/// The next sleep does not last.
#[cfg(all(test, loom))]
pub(crate) fn time_is_over_once() {
    locked(|world| world.is_late = true);
}

/// Whether it is gone.
pub(crate) fn has_hung_up(_socket: &Link) -> bool {
    locked(|world| world.is_peer_dead)
}

/// Under loom one thread runs at a time.
pub(crate) fn let_others_run() {
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// The time; under loom it stands still.
pub(crate) fn now() -> Instant {
    static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);
    if cfg!(loom) { *BEGINNING } else { Instant::now() }
}

/// Milliseconds; under loom time stands still.
pub(crate) fn coarse_now_ms() -> u64 {
    static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);
    now().saturating_duration_since(*BEGINNING).as_millis() as u64
}

/// Sleeps whatever happens.
pub(crate) fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// No clock: only how long a wake-up took is told by it.
pub(crate) fn now_ns() -> u64 {
    0
}

/// Not known.
pub(crate) fn processor() -> u32 {
    0
}

/// Whether others can make a barrier for this process.
pub(crate) fn can_be_ordered_by_others() -> bool {
    true
}

/// Whether this process can make one for others.
pub(crate) fn can_order_others() -> bool {
    true
}

/// Makes it here. For the other end `other_orders` does.
pub(crate) fn order_all_processes() -> bool {
    fence(Ordering::SeqCst);
    true
}

/// Nothing.
pub(crate) fn keep_order() {}

/// Makes the barrier that the other end makes, and says whether `word` still holds `seen` after that.
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
