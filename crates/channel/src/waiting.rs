//! How an end waits for the other one, and how that one wakes it.
//!
//! Who is about to sleep says so and then looks once more; who has published something then looks whether anybody sleeps.
//! Between the two steps each needs a full barrier, or both may miss the other. Where messages come one after the other, a
//! full barrier after each costs more than the message. So a receiver that is busy says that it will make the barrier for
//! both, by `membarrier`, before it sleeps. That takes as long as a third of a sleep, so one that sleeps all the time leaves
//! it to each to make its own. Windows has no barrier for several processes; there each makes its own.

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
/// use furlong_channel::{Options, Waiting};
///
/// let busy = Options::new().waiting(Waiting::Spin);
/// let usual = Options::new();
/// assert_eq!(usual, Options::new().waiting(Waiting::Adaptive));
/// # let _ = busy;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Waiting {
    /// Busy-waits: the lowest latency, and its CPU is busy all the time. It never yields, so if both ends run on one CPU, each
    /// message takes a time slice.
    Spin,
    /// Sleeps at once. A wake-up takes some 50 microseconds between two processors.
    Park,
    /// Looks again and again for as long as a wake-up takes here, then sleeps; sleeps at once where the other end ran on
    /// the same processor when it woke this one last.
    #[default]
    Adaptive,
}

/// What an end's word says.
mod state {
    /// It is awake. If it is about to sleep, both sides need a full barrier. The first state.
    pub(super) const AWAKE: u32 = 0;
    /// It sleeps on the word.
    pub(super) const SLEEPS: u32 = 1;
    /// It waits outside, or is about to, for its link to tell.
    pub(super) const WATCHES: u32 = 2;
    /// It is awake and never sleeps.
    pub(super) const NEVER_SLEEPS: u32 = 3;
    /// It is awake and busy. Before it sleeps it makes the barrier of all who have registered.
    pub(super) const AWAKE_WITH_BARRIER: u32 = 4;
}

/// Looks in a row between two looks at anything else.
const LOOKS: u32 = if cfg!(loom) { 1 } else { 512 };

/// Looks in a row between two pauses. A pause takes as long as half the way of a line from one core to the other; without any,
/// whatever runs on the same core takes a third longer.
const LOOKS_BETWEEN_PAUSES: u32 = 8;

/// Pauses after some looks.
#[inline(always)]
fn pause_after(look: u32) {
    if cfg!(loom) || look % LOOKS_BETWEEN_PAUSES == LOOKS_BETWEEN_PAUSES - 1 {
        std::hint::spin_loop();
    }
}

/// The longest that a waiting end does not look whether the other one lives.
const LIFE_SIGN: Duration = Duration::from_millis(40);

/// What a wake-up is taken to cost until one was measured, and between which bounds it is believed.
const WAKE_UP_NS: u64 = 50_000;
const WAKE_UP_RANGE_NS: std::ops::RangeInclusive<u64> = 5_000..=100_000;

/// Why a sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slept {
    /// The time is over.
    ToTheEnd,
    /// The other end has woken this one, or the word has changed.
    UntilWoken,
    /// The thread has handled a signal, as those of a profiler.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has signals"))]
    UntilSignal,
}

/// Wake-ups in vain during one wait, after which it sleeps whatever the other end does.
const VAIN_WAKE_UPS: u32 = 64;

/// Until when a call waits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// Not at all.
    Now,
    /// Until then.
    At(Instant),
    /// For ever.
    None,
}

/// Timeout of calls that connect, unless the caller has one.
pub(crate) const CONNECT_LIMIT: Duration = Duration::from_secs(5);

impl Limit {
    /// So long from now.
    pub(crate) fn after(time: Duration) -> Limit {
        Instant::now().checked_add(time).map_or(Limit::None, Limit::At)
    }

    /// The whole time, or nothing where there is no end.
    #[cfg(windows)]
    pub(crate) fn time(self) -> Option<Duration> {
        match self {
            Limit::Now => Some(Duration::ZERO),
            Limit::At(end) => Some(end.saturating_duration_since(Instant::now())),
            Limit::None => None,
        }
    }

    /// What is left; nothing where the time is over.
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

/// What came before the other end was closed, which was just seen.
fn found_before_the_end(ready: &mut impl FnMut() -> Result<bool>) -> Result<bool> {
    let found = !has(Fault::LookAfterClosed) && ready()?;
    found.then_some(true).ok_or(Error::Closed)
}

/// What one end needs to wait, and to wake the other one.
#[derive(Debug)]
pub(crate) struct Waiter {
    waiting: Waiting,
    ends: Ends,
    /// What connects this end with the other one beside the memory.
    link: Link,
    /// What a wake-up took lately.
    wake_up_ns: u64,
    /// What the word says while this end is awake.
    awake: u32,
    /// Whether this end may make the barrier for both.
    can_order: bool,
    /// Whether others can make the barrier for this process.
    is_registered: bool,
    /// Whether the word may still say that this end waits outside.
    is_watching: bool,
    /// When this end last looked whether the other one lives, by the coarse clock.
    looked_ms: u64,
    waits: u64,
    sleeps: u64,
    wake_ups: Cell<u64>,
    /// The process that made this end. Only that one may close it: a fork that drops its copy may not.
    process: u32,
}

impl Waiter {
    /// A way to wait and wake.
    pub(crate) fn new(waiting: Waiting, membarrier: bool, ends: Ends, link: Link) -> Waiter {
        let awake = if waiting == Waiting::Spin { state::NEVER_SLEEPS } else { state::AWAKE };
        let can_order = membarrier && waiting != Waiting::Spin && wake::can_order_others();
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

    /// What tells, to who waits outside, that there is something to look at.
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Wakes the other end if it sleeps. Called after something was published for it.
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

    /// The same where it may be about to sleep.
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
        // It may have to know where this end runs to decide how to wait.
        self.ends.own().processor.store(wake::processor(), Ordering::Relaxed);
        if other.woken_at_ns.load(Ordering::Relaxed) != 0 {
            other.woken_at_ns.store(wake::now_ns(), Ordering::Relaxed);
        }
        // Who changes the word wakes, and nobody else.
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

    /// Says that this end is closed, unless this process is a fork of the one that made it.
    pub(crate) fn close(&self) {
        if self.process != std::process::id() {
            return;
        }
        count_store();
        self.ends.own().closed.store(1, order(Fault::PublishClosed, Ordering::Release));
        count_store();
        self.wake_sleeper();
    }

    /// Whether the other end has said so.
    #[inline(always)]
    pub(crate) fn is_closed(&self) -> bool {
        self.ends.other().closed.load(order(Fault::LoadClosed, Ordering::Acquire)) != 0
    }

    /// Whether the other end is closed or its process is dead.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_closed() || wake::has_hung_up(&self.link)
    }

    /// Says that this end is awake.
    fn awake(&self) {
        count_store();
        self.ends.own().state.store(self.awake, Ordering::Relaxed);
    }

    /// Says that much was received without a wait. The other end then need not make a barrier for each message.
    pub(crate) fn is_busy(&mut self) {
        if self.can_order && self.awake != state::AWAKE_WITH_BARRIER {
            self.awake = state::AWAKE_WITH_BARRIER;
            self.awake();
        }
    }

    /// Says that this end is about to sleep. What it waits for must be looked at once more after that. False, if the other
    /// end may miss it this time.
    fn announce(&mut self, state: u32) -> bool {
        count_store();
        self.ends.own().state.store(state, Ordering::Relaxed);
        if !has(Fault::BarrierOfSleeper) {
            fence(Ordering::SeqCst);
        }
        if self.awake != state::AWAKE_WITH_BARRIER {
            return true;
        }
        // Whoever has read the old word has published by the end of this barrier; from then on it reads this one.
        self.awake = state::AWAKE;
        self.can_order = wake::order_all_processes();
        self.can_order
    }

    /// Waits until `ready` says so. `before_looks` is called before this end looks repeatedly.
    ///
    /// # Errors
    /// What `ready` gives; `WouldBlock` and `TimedOut` by the limit; `Closed` and `PeerDied` once `ready` says no although the
    /// other end is known to be gone.
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
        // Where the other end is quick, nothing else is looked at.
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

    /// Prepares this end for a wait outside: says whether the link is to be waited for; not so where `ready` gives
    /// something already.
    ///
    /// # Errors
    /// As of [`wait`](Self::wait), and `System` where this end never sleeps.
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

    /// Looks without waiting.
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

    /// For how long this wait spins: not at all, for a time, or for ever.
    #[inline(always)]
    fn spins_for(&mut self) -> Option<Duration> {
        match self.waiting {
            Waiting::Spin => Some(Duration::MAX),
            Waiting::Park => None,
            Waiting::Adaptive => {
                let here = wake::processor();
                let together = here != 0 && here == self.ends.other().processor.load(Ordering::Relaxed);
                // Under loom, which has no clock, the time is over after a look.
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

    /// Looks again and again for a time; says whether `ready` did.
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

    /// Sleeps once, and gives what `ready` says. `learns` how long the wake-up took, if it is to.
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
            // Something else than what is waited for wakes it all the time.
            wake::sleep(left.min(Duration::from_millis(1)));
            Slept::ToTheEnd
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
        *vain += u32::from(slept == Slept::UntilWoken);
        if slept == Slept::ToTheEnd || *vain >= VAIN_WAKE_UPS {
            self.look_for_life(ready)?;
        }
        Ok(false)
    }

    /// Notes how long the last wake-up took.
    fn learn(&mut self) {
        let woken_at_ns = self.ends.own().woken_at_ns.load(Ordering::Relaxed);
        let took_ns = wake::now_ns().wrapping_sub(woken_at_ns);
        let took_ns = took_ns.clamp(*WAKE_UP_RANGE_NS.start(), *WAKE_UP_RANGE_NS.end());
        self.wake_up_ns = self.wake_up_ns - self.wake_up_ns / 8 + took_ns / 8;
    }

    /// The same, unless this end has looked a short time ago: short waits and calls that do not wait come here often.
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

    /// Returns whether the process of the other end has died, as far as this end knows. It looks at most every 40 milliseconds.
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

    /// An error if the other end is gone and `ready` says no.
    #[inline(never)]
    fn look_for_life(&self, ready: &mut impl FnMut() -> Result<bool>) -> Result<()> {
        if !wake::has_hung_up(&self.link) {
            return Ok(());
        }
        // What it published before it went is there by now. Whoever finds that will come here again.
        match !has(Fault::LookAfterDeath) && ready()? {
            true => Ok(()),
            false if self.is_closed() => Err(Error::Closed),
            false => Err(Error::PeerDied),
        }
    }
}
