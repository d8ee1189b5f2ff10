//! How an end waits for the other one, and how the other one wakes it.
//!
//! An end that is about to sleep sets its state word and then checks once more for a message or room. An end that has
//! published something then checks whether the other end sleeps. Each end needs a full barrier between the two steps,
//! or both may miss each other. In a stream, a full barrier per message costs more than the message. So a receiver that
//! is busy announces that it will execute the barrier for both, with `membarrier`, before it sleeps. That takes a third
//! of the time of a sleep, so an end that sleeps often leaves each end to its own barrier. Windows has no barrier
//! across processes, so each end executes its own there.

use crate::atomics::{Fault, Ordering, count_store, fence, has, order};
use crate::counters::Counters;
use crate::error::{Error, Result};
use crate::memory::Ends;
use crate::wake::{self, Link};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How an end waits for a message or for room.
///
/// ```
/// # fn main() -> Result<(), furlong_channel::Error> {
/// use furlong_channel::{Options, WaitStrategy};
///
/// let busy = Options::new().waiting(WaitStrategy::Spin);
/// let usual = Options::new();
/// assert_eq!(usual, Options::new().waiting(WaitStrategy::Adaptive));
/// # let _ = busy;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WaitStrategy {
    /// Busy-waits: the lowest latency, but one CPU is always busy. It never yields, so if both ends run on one CPU,
    /// each message takes a time slice.
    Spin,
    /// Blocks immediately. A wake-up takes about 50 microseconds between two CPUs.
    Park,
    /// Busy-waits for the duration of a wake-up on this machine, then blocks. Blocks immediately if the other end last
    /// woke this one from the same CPU.
    #[default]
    Adaptive,
}

/// The values of an end's state word.
mod state {
    /// It is awake. If it is about to sleep, both ends need a full barrier. The initial state.
    pub(super) const AWAKE: u32 = 0;
    /// It sleeps on the word.
    pub(super) const SLEEPS: u32 = 1;
    /// It waits with poll or epoll, or is about to, for its link to become readable.
    pub(super) const WATCHES: u32 = 2;
    /// It is awake and never sleeps.
    pub(super) const NEVER_SLEEPS: u32 = 3;
    /// It is awake and busy. Before it sleeps, it executes a barrier in all registered processes.
    pub(super) const AWAKE_WITH_BARRIER: u32 = 4;
}

/// Number of checks for a message or room between two checks of anything else.
const LOOKS: u32 = if cfg!(loom) { 1 } else { 512 };

/// Number of checks between two pauses. A pause takes half of the time in which a cache line moves from one core to the
/// other. Without pauses, other threads on the core take a third longer.
const LOOKS_BETWEEN_PAUSES: u32 = 8;

/// Pauses after every few checks.
#[inline(always)]
fn pause_after(look: u32) {
    if cfg!(loom) || look % LOOKS_BETWEEN_PAUSES == LOOKS_BETWEEN_PAUSES - 1 {
        std::hint::spin_loop();
    }
}

/// The longest time in which a waiting end does not check whether the other process is alive.
const LIFE_SIGN: Duration = Duration::from_millis(40);

/// Assumed duration of a wake-up until one was measured, and the range to which measurements are clamped.
const WAKE_UP_NS: u64 = 50_000;
const WAKE_UP_RANGE_NS: std::ops::RangeInclusive<u64> = 5_000..=100_000;

/// The reason why a sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SleepEnd {
    /// The time is over.
    ToTheEnd,
    /// The other end has woken this one, or the word has changed.
    UntilWoken,
    /// The thread has handled a signal, for example of a profiler.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has signals"))]
    UntilSignal,
}

/// Number of unnecessary wake-ups during one wait after which it sleeps for fixed times.
const VAIN_WAKE_UPS: u32 = 64;

/// The time limit of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// No wait.
    Now,
    /// A wait until this time.
    At(Instant),
    /// A wait without limit.
    None,
}

/// Default timeout of calls that connect.
pub(crate) const CONNECT_LIMIT: Duration = Duration::from_secs(5);

impl Limit {
    /// Returns a limit that ends after this time.
    pub(crate) fn after(time: Duration) -> Limit {
        Instant::now().checked_add(time).map_or(Limit::None, Limit::At)
    }

    /// Returns the time left, or `None` if there is no limit.
    #[cfg(windows)]
    pub(crate) fn time(self) -> Option<Duration> {
        match self {
            Limit::Now => Some(Duration::ZERO),
            Limit::At(end) => Some(end.saturating_duration_since(Instant::now())),
            Limit::None => None,
        }
    }

    /// Returns the time left ([`LIFE_SIGN`] if there is no limit), or `None` if no time is left.
    pub(crate) fn left(self) -> Option<Duration> {
        match self {
            Limit::Now => None,
            Limit::At(end) => end.checked_duration_since(wake::now()),
            Limit::None => Some(LIFE_SIGN),
        }
    }

    /// Returns `WouldBlock` or `TimedOut` if no time is left.
    pub(crate) fn check(self) -> Result<()> {
        if self.left().is_some() { Ok(()) } else { Err(self.exceeded()) }
    }

    /// Returns the error of a call that did not succeed within this limit.
    pub(crate) fn exceeded(self) -> Error {
        if matches!(self, Limit::Now) { Error::WouldBlock } else { Error::TimedOut }
    }
}

/// Returns true if something was published before the other end was closed, which was just detected, and `Closed`
/// otherwise.
fn found_before_the_end(ready: &mut impl FnMut() -> Result<bool>) -> Result<bool> {
    let found = !has(Fault::LookAfterClosed) && ready()?;
    found.then_some(true).ok_or(Error::Closed)
}

/// The state that one end needs to wait and to wake the other one.
#[derive(Debug)]
pub(crate) struct Waiter {
    waiting: WaitStrategy,
    ends: Ends,
    /// The connection with the other end, in addition to the memory.
    link: Link,
    /// Average duration of the last wake-ups in nanoseconds.
    wake_up_ns: u64,
    /// The state word while this end is awake.
    awake: u32,
    /// Whether this end may execute the barrier for both.
    can_order: bool,
    /// Whether other processes can execute the barrier for this one.
    is_registered: bool,
    /// Whether the state word may still announce a wait with poll or epoll.
    is_watching: bool,
    /// Time of the last check whether the other process is alive, on the coarse clock.
    looked_ms: u64,
    waits: u64,
    sleeps: u64,
    wake_ups: Cell<u64>,
    /// PID of the process that created this end. Only that process may close it: a fork that drops its copy may not.
    process: u32,
}

impl Waiter {
    /// Creates the waiter of an end.
    pub(crate) fn new(waiting: WaitStrategy, membarrier: bool, ends: Ends, link: Link) -> Waiter {
        let awake = if waiting == WaitStrategy::Spin { state::NEVER_SLEEPS } else { state::AWAKE };
        let can_order = membarrier && waiting != WaitStrategy::Spin && wake::can_order_others();
        ends.own().state.store(awake, Ordering::SeqCst);
        let is_registered = membarrier && wake::can_be_ordered_by_others();
        Waiter {
            waiting,
            ends,
            link,
            wake_up_ns: WAKE_UP_NS,
            awake,
            can_order,
            is_registered,
            is_watching: false,
            looked_ms: wake::coarse_now_ms(),
            waits: 0,
            sleeps: 0,
            wake_ups: Cell::new(0),
            process: std::process::id(),
        }
    }

    /// Returns the counters of this end.
    pub(crate) fn counters(&self) -> Counters {
        Counters { waits: self.waits, sleeps: self.sleeps, wake_ups: self.wake_ups.get() }
    }

    /// Returns the link that becomes readable for poll or epoll when there is something to check.
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Wakes the other end if it sleeps. Called after each publication.
    #[inline(always)]
    pub(crate) fn wake(&self) {
        wake::keep_order();
        let other = &self.ends.other().state;
        match other.load(Ordering::Relaxed) {
            state::NEVER_SLEEPS => {}
            seen @ state::AWAKE_WITH_BARRIER if self.is_registered && wake::other_orders(other, seen) => {}
            _ => self.wake_sleeper(),
        }
    }

    /// Executes a full fence, and wakes the other end if it sleeps or is about to sleep.
    #[inline(never)]
    pub(crate) fn wake_sleeper(&self) {
        let other = self.ends.other();
        if !has(Fault::BarrierOfWaker) {
            fence(Ordering::SeqCst);
        }
        let seen = other.state.load(Ordering::Relaxed);
        if seen != state::SLEEPS && seen != state::WATCHES {
            return;
        }
        // The other end compares this CPU with its own to decide how to wait.
        self.ends.own().processor.store(wake::processor(), Ordering::Relaxed);
        if other.woken_at_ns.load(Ordering::Relaxed) != 0 {
            other.woken_at_ns.store(wake::now_ns(), Ordering::Relaxed);
        }
        // Only the end that changes the word makes the system call.
        count_store();
        if other.state.compare_exchange(seen, state::AWAKE, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
            self.wake_ups.set(self.wake_ups.get() + 1);
            count_store();
            if seen == state::SLEEPS {
                wake::wake(&self.link, &other.state)
            } else {
                wake::signal(&self.link)
            }
        }
    }

    /// Marks this end as closed, unless this process is a fork of the one that created it.
    pub(crate) fn close(&self) {
        if self.process != std::process::id() {
            return;
        }
        count_store();
        self.ends.own().closed.store(1, order(Fault::PublishClosed, Ordering::Release));
        count_store();
        self.wake_sleeper();
    }

    /// Returns whether the other end is marked as closed.
    #[inline(always)]
    pub(crate) fn is_closed(&self) -> bool {
        self.ends.other().closed.load(order(Fault::LoadClosed, Ordering::Acquire)) != 0
    }

    /// Returns whether the other end is closed or its process is dead.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_closed() || wake::has_hung_up(&self.link)
    }

    /// Publishes that this end is awake.
    fn awake(&self) {
        count_store();
        self.ends.own().state.store(self.awake, Ordering::Relaxed);
    }

    /// Publishes that this end is busy. The other end then does not need a barrier per message.
    pub(crate) fn is_busy(&mut self) {
        if self.can_order && self.awake != state::AWAKE_WITH_BARRIER {
            self.awake = state::AWAKE_WITH_BARRIER;
            self.awake();
        }
    }

    /// Publishes that this end is about to sleep. The caller must then check its condition once more. Returns false if
    /// the other end may miss the announcement this time.
    fn announce(&mut self, state: u32) -> bool {
        count_store();
        self.ends.own().state.store(state, Ordering::Relaxed);
        if !has(Fault::BarrierOfSleeper) {
            fence(Ordering::SeqCst);
        }
        if self.awake != state::AWAKE_WITH_BARRIER {
            return true;
        }
        // An end that has read the old word has published its message by the end of this barrier. Later it reads this
        // word.
        self.awake = state::AWAKE;
        self.can_order = wake::order_all_processes();
        self.can_order
    }

    /// Waits until `ready` returns true. `before_looks` is called before this end checks repeatedly.
    ///
    /// # Errors
    /// Returns the errors of `ready`. Returns `WouldBlock` or `TimedOut` according to the limit. Returns `Closed` or
    /// `PeerDied` if `ready` returns false although the other end is known to be closed or dead.
    #[inline(always)]
    pub(crate) fn wait(
        &mut self,
        limit: Limit,
        before_looks: impl FnOnce(),
        mut ready: impl FnMut() -> Result<bool>,
    ) -> Result<()> {
        if self.is_watching {
            self.awake();
            self.is_watching = false;
        }
        if matches!(limit, Limit::Now) {
            return self.look_once(&mut ready);
        }
        let spins = self.spins_for();
        // If the other end is quick, nothing but `ready` is checked.
        if spins.is_some() {
            before_looks();
            for look in 0..LOOKS {
                if ready()? {
                    return Ok(());
                }
                pause_after(look);
            }
        }
        self.wait_longer(limit, spins, &mut ready)
    }

    /// Prepares this end for a wait with poll or epoll. Returns whether to wait for the link; false if `ready` may
    /// return true already.
    ///
    /// # Errors
    /// Returns an error as [`wait`](Self::wait) does, and `System` if this end never sleeps.
    pub(crate) fn watch(&mut self, mut ready: impl FnMut() -> Result<bool>) -> Result<bool> {
        if self.awake == state::NEVER_SLEEPS {
            let message = "an end that spins is never woken";
            return Err(std::io::Error::new(std::io::ErrorKind::Unsupported, message).into());
        }
        wake::drain(&self.link);
        self.is_watching = true;
        if !self.announce(state::WATCHES) || ready()? {
            return Ok(false);
        }
        if self.is_closed() {
            return if ready()? { Ok(false) } else { Err(Error::Closed) };
        }
        self.look_for_life(&mut ready)?;
        Ok(!ready()?)
    }

    /// Checks once, without waiting.
    #[inline(always)]
    fn look_once(&mut self, ready: &mut impl FnMut() -> Result<bool>) -> Result<()> {
        if ready()? {
            return Ok(());
        }
        if self.is_closed() {
            return found_before_the_end(ready).map(drop);
        }
        self.look_for_life_in_time(ready)?;
        Err(Error::WouldBlock)
    }

    /// Returns how long this wait busy-waits: not at all, for a time, or without limit.
    #[inline(always)]
    fn spins_for(&mut self) -> Option<Duration> {
        match self.waiting {
            WaitStrategy::Spin => Some(Duration::MAX),
            WaitStrategy::Park => None,
            WaitStrategy::Adaptive => {
                let here = wake::processor();
                let together = here != 0 && here == self.ends.other().processor.load(Ordering::Relaxed);
                // Under loom, which has no clock, the time is over after one check.
                let time_ns = if cfg!(loom) { 0 } else { self.wake_up_ns };
                (!together).then_some(Duration::from_nanos(time_ns))
            }
        }
    }

    #[inline(never)]
    fn wait_longer(
        &mut self,
        limit: Limit,
        spins: Option<Duration>,
        ready: &mut impl FnMut() -> Result<bool>,
    ) -> Result<()> {
        self.waits += 1;
        if let Some(time) = spins {
            if self.spin(limit, time, ready)? {
                return Ok(());
            }
        }
        let mut vain = 0;
        while !self.park(limit, spins.is_some(), &mut vain, ready)? {}
        Ok(())
    }

    /// Checks repeatedly for a time. Returns whether `ready` returned true.
    fn spin(
        &mut self,
        limit: Limit,
        time: Duration,
        ready: &mut impl FnMut() -> Result<bool>,
    ) -> Result<bool> {
        let begin = wake::now();
        loop {
            for look in 0..LOOKS {
                if ready()? {
                    return Ok(true);
                }
                pause_after(look);
            }
            if self.is_closed() {
                return found_before_the_end(ready);
            }
            self.look_for_life_in_time(ready)?;
            if limit.left().is_none() {
                return ready()?.then_some(true).ok_or(Error::TimedOut);
            }
            if wake::now() - begin >= time {
                return Ok(false);
            }
            wake::let_others_run();
        }
    }

    /// Sleeps once, and returns the result of `ready`. If `learns` is set, measures the duration of the wake-up.
    fn park(
        &mut self,
        limit: Limit,
        learns: bool,
        vain: &mut u32,
        ready: &mut impl FnMut() -> Result<bool>,
    ) -> Result<bool> {
        self.ends.own().woken_at_ns.store(u64::from(learns), Ordering::Relaxed);
        if !self.announce(state::SLEEPS) {
            *vain = VAIN_WAKE_UPS;
        }
        let found = if has(Fault::LastLook) { Ok(false) } else { ready() };
        if !matches!(found, Ok(false)) {
            self.awake();
            return found;
        }
        if self.is_closed() {
            self.awake();
            return found_before_the_end(ready);
        }
        let Some(left) = limit.left() else {
            self.awake();
            return ready()?.then_some(true).ok_or(Error::TimedOut);
        };
        self.sleeps += 1;
        let slept = if *vain < VAIN_WAKE_UPS {
            wake::sleep_on(&self.link, &self.ends.own().state, state::SLEEPS, left.min(LIFE_SIGN))
        } else {
            // Something other than the awaited event wakes this end all the time.
            wake::sleep(left.min(Duration::from_millis(1)));
            SleepEnd::ToTheEnd
        };
        let is_woken = self.ends.own().state.load(Ordering::Relaxed) != state::SLEEPS;
        self.awake();
        let found = ready();
        if !matches!(found, Ok(false)) {
            if learns && is_woken {
                self.learn();
            }
            return found;
        }
        *vain += u32::from(slept == SleepEnd::UntilWoken);
        if slept == SleepEnd::ToTheEnd || *vain >= VAIN_WAKE_UPS {
            self.look_for_life(ready)?;
        }
        Ok(false)
    }

    /// Updates the average duration of a wake-up.
    fn learn(&mut self) {
        let woken_at_ns = self.ends.own().woken_at_ns.load(Ordering::Relaxed);
        let took_ns = wake::now_ns().wrapping_sub(woken_at_ns);
        let took_ns = took_ns.clamp(*WAKE_UP_RANGE_NS.start(), *WAKE_UP_RANGE_NS.end());
        self.wake_up_ns = self.wake_up_ns - self.wake_up_ns / 8 + took_ns / 8;
    }

    /// Like [`look_for_life`](Self::look_for_life), but at most every 40 milliseconds, because short waits and calls
    /// that do not wait call it often.
    #[inline(always)]
    fn look_for_life_in_time(&mut self, ready: &mut impl FnMut() -> Result<bool>) -> Result<()> {
        let now_ms = wake::coarse_now_ms();
        if !self.is_time_to_look(now_ms) {
            return Ok(());
        }
        self.looked_ms = now_ms;
        self.look_for_life(ready)
    }

    #[inline(always)]
    fn is_time_to_look(&self, now_ms: u64) -> bool {
        now_ms.wrapping_sub(self.looked_ms) >= LIFE_SIGN.as_millis() as u64
    }

    /// Returns whether the process of the other end has died, as far as this end knows. It checks at most every 40
    /// milliseconds.
    pub(crate) fn finds_death(&mut self) -> bool {
        let now_ms = wake::coarse_now_ms();
        if !self.is_time_to_look(now_ms) {
            return false;
        }
        let is_dead = wake::has_hung_up(&self.link);
        if !is_dead {
            self.looked_ms = now_ms;
        }
        is_dead
    }

    /// Returns an error if the other end is closed or dead and `ready` returns false.
    #[inline(never)]
    fn look_for_life(&self, ready: &mut impl FnMut() -> Result<bool>) -> Result<()> {
        if !wake::has_hung_up(&self.link) {
            return Ok(());
        }
        // Everything that the other end published before its death is visible by now. The caller will check again if
        // `ready` finds it.
        match !has(Fault::LookAfterDeath) && ready()? {
            true => Ok(()),
            false if self.is_closed() => Err(Error::Closed),
            false => Err(Error::PeerDied),
        }
    }
}
