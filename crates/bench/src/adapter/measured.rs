//! The measured part of a trial of an adapter: its number of messages, and the figures from the programs' clock
//! readings.

use super::counted::{CountedTrial, MOST_READINGS};
use super::planned;
use super::protocol::{Exchange, IdleInitiator};
use super::readings::{elapsed_ns, times, times_since_due};
use super::to_several;
use crate::not_measured::NotMeasured;
use crate::timed::{batch_for, window_for};
use crate::trial::context::Settings;
use furlong_loops::recorder::{Timing, timing_by_size, timing_of};
use furlong_loops::schedule::IdleResources;
use furlong_model::{OtherProcess, Part, Phase, RoleTally, TimerLateness};
use std::io;
use std::time::Duration;

/// The result of the measured part.
pub(super) struct MeasuredPart {
    pub(super) timing: Timing,
    /// The parts of the receivers if there are several.
    pub(super) parts: Vec<Part>,
    pub(super) roles: Vec<RoleTally>,
    pub(super) others: Vec<OtherProcess>,
}

/// The result of an exchange during which resource usage was measured.
struct MeasuredExchange {
    readings: Vec<Vec<u64>>,
    /// The number of messages that each program exchanged.
    messages: Vec<u64>,
    idle: IdleInitiator,
    roles: Vec<RoleTally>,
    others: Vec<OtherProcess>,
}

impl CountedTrial<'_> {
    /// Runs the measured part, once the pace is known.
    ///
    /// # Errors
    /// Returns the reason if there are no figures.
    pub(super) fn timed(&mut self, pace_ns: f64) -> Result<MeasuredPart, NotMeasured> {
        match self.case.pattern() {
            pattern if pattern.is_to_all() => self.timed_to_several(pace_ns),
            pattern if pattern.is_to_one_of_several() => self.timed_to_workers(pace_ns),
            _ => self.timed_of_pair(pace_ns),
        }
    }

    fn timed_of_pair(&mut self, pace_ns: f64) -> Result<MeasuredPart, NotMeasured> {
        let interval_ns = self.interval_ns();
        let (messages, batch) = self.amount(pace_ns, self.settings.budget);
        let first = self.done + u64::from(batch) + 1;
        let MeasuredExchange { readings, idle, roles, others, .. } =
            self.watched(messages, batch, interval_ns)?;
        let readings = &readings[0];
        let (mut times_ns, timer_late) = self.times(readings, &idle)?;
        times_ns.remove(0);
        let sizes = planned::sizes(self.case, self.key).filter(|_| self.times_each());
        let timing = match sizes {
            Some(sizes) => timing_by_size(&times_ns, sizes, first),
            None => timing_of(&times_ns, batch),
        };
        let timing = timing.map_err(|error| self.programs.failure(Phase::Finish, error.detail))?;
        let first_due_ns = interval_ns.and_then(|_| planned::due_ns(self.case, self.key).next());
        let elapsed_ns = elapsed_ns(readings, first_due_ns);
        let timing = Timing { elapsed_ns, late_sends: idle.late, timer_late, ..timing };
        Ok(MeasuredPart { timing, parts: Vec::new(), roles, others })
    }

    /// Runs the measured part of a pattern in which each message goes to several receivers. As in furlong's own loop,
    /// half of the time measures throughput, and half has one message in flight. If messages are due at fixed times,
    /// all of the time has one message in flight. A program does not know when all receivers have a message. So the
    /// messages of the second half are due at intervals that give the receivers enough time.
    fn timed_to_several(&mut self, pace_ns: f64) -> Result<MeasuredPart, NotMeasured> {
        let failure = |trial: &Self, what| NotMeasured::from(trial.programs.failure(Phase::Finish, what));
        if let Some(interval_ns) = self.interval_ns() {
            let (messages, batch) = self.amount(pace_ns, self.settings.budget);
            let MeasuredExchange { readings, idle, roles, others, .. } =
                self.watched(messages, batch, Some(interval_ns))?;
            let timed = to_several::when_due(&readings, interval_ns, idle.late);
            let (timing, parts) = timed.map_err(|what| failure(self, what))?;
            return Ok(MeasuredPart { timing, parts, roles, others });
        }
        let half = self.settings.budget / 2;
        let interval_ns = self.interval_in_turn(pace_ns)?;
        let (messages, batch) = self.amount(pace_ns, half);
        let MeasuredExchange { readings: streamed, mut roles, others, .. } =
            self.watched(messages, batch, None)?;
        let messages = (half.as_nanos() as u64 / interval_ns).clamp(1, MOST_READINGS - 1);
        let in_turn = self.in_turn(Phase::Timed, messages, interval_ns)?;
        roles.iter_mut().for_each(|role| role.messages_received = self.done);
        let timed = to_several::streamed_and_in_turn(&streamed, batch, &in_turn, interval_ns);
        let (timing, parts) = timed.map_err(|what| failure(self, what))?;
        Ok(MeasuredPart { timing, parts, roles, others })
    }

    /// Runs the measured part of a pattern in which each message goes to one of several workers.
    fn timed_to_workers(&mut self, pace_ns: f64) -> Result<MeasuredPart, NotMeasured> {
        let (messages, batch) = self.amount(pace_ns, self.settings.budget);
        let MeasuredExchange { readings, messages, mut roles, others, .. } =
            self.watched(messages, batch, None)?;
        // The sender's number comes first.
        for ((role, taken), own) in roles.iter_mut().skip(1).zip(&self.taken).zip(&messages[1..]) {
            (role.messages_received, role.round_trips) = (taken.count, *own);
        }
        let (timing, parts) = to_several::taken_by_one_of(&readings, &messages, batch)
            .map_err(|what| self.programs.failure(Phase::Finish, what))?;
        Ok(MeasuredPart { timing, parts, roles, others })
    }

    /// Sends messages that are due at this interval, after one message that is not recorded. Returns the readings by
    /// receiver.
    fn in_turn(
        &mut self,
        phase: Phase,
        messages: u64,
        interval_ns: u64,
    ) -> Result<Vec<Vec<u64>>, NotMeasured> {
        let messages = messages + 1;
        let part = Exchange { interval_ns: Some(interval_ns), ..Exchange::unpaced(phase, messages, 1) };
        let exchanged = self.exchange(part)?;
        self.readings(part, &exchanged)
    }

    /// Returns the interval of messages, in nanoseconds, that lets all receivers have one message before the next is
    /// due. It is twice the time of nearly all messages, which a few messages with a longer interval determine.
    fn interval_in_turn(&mut self, pace_ns: f64) -> Result<u64, NotMeasured> {
        const FIRST_NS: u64 = 1_000_000;
        const FEW: u64 = 10;
        let first_ns = FIRST_NS.max(4 * pace_ns as u64);
        let readings = self.in_turn(Phase::WarmUp, FEW, first_ns)?;
        let usual_ns = to_several::nearly_all_take_ns(&readings, first_ns)
            .map_err(|what| self.programs.failure(Phase::WarmUp, what))?;
        Ok(2 * usual_ns.max(pace_ns as u64).max(1))
    }

    /// Exchanges the measured messages, after one batch that is not timed: the other roles begin a moment later, so the
    /// first reading contains their delay. Measures the resource usage of all processes in this time.
    fn watched(
        &mut self,
        messages: u64,
        batch: u32,
        interval_ns: Option<u64>,
    ) -> Result<MeasuredExchange, NotMeasured> {
        self.programs.observer.before(Phase::Timed, &self.programs.participants.roles());
        let reading = |error: io::Error| format!("read what the programs use: {error}");
        let before = self
            .programs
            .participants
            .used()
            .map_err(|error| self.programs.failure(Phase::Timed, reading(error)))?;
        let messages = messages + u64::from(batch);
        let timed = Exchange { interval_ns, ..Exchange::unpaced(Phase::Timed, messages, batch) };
        let exchanged = self.exchange(timed)?;
        let after = self
            .programs
            .participants
            .used()
            .map_err(|error| self.programs.failure(Phase::Timed, reading(error)))?;
        self.programs.observer.before(Phase::Finish, &self.programs.participants.roles());
        let readings = self.readings(timed, &exchanged)?;
        let idle = exchanged.idle;
        let idle_initiator = IdleResources { ns: idle.idle_ns, switches: idle.idle_switches };
        let (roles, others) = self
            .programs
            .participants
            .tallies(&self.case.all_parties(), &before, &after, messages, self.done, idle_initiator)
            .map_err(|error| self.programs.failure(Phase::Finish, reading(error)))?;
        Ok(MeasuredExchange { readings, messages: exchanged.messages, idle, roles, others })
    }

    /// Returns the number of messages that fill the budget, and the number of messages per clock reading.
    fn amount(&self, pace_ns: f64, budget: Duration) -> (u64, u32) {
        let Settings { clock_read_ns, most_round_trips, .. } = *self.settings;
        let interval_ns = self.interval_ns();
        // A mechanism that is slower than the interval fills the time with fewer messages.
        let each_ns = interval_ns.map_or(pace_ns, |interval_ns| pace_ns.max(interval_ns as f64));
        let fill = (budget.as_nanos() as f64 / each_ns).ceil() as u64;
        // Each of several workers needs some messages.
        let of_one = self.case.pattern().is_to_one_of_several();
        let least = if of_one { 4 * u64::from(self.case.parties().get()) } else { 1 };
        let wanted = fill.min(most_round_trips.unwrap_or(u64::MAX)).max(least);
        if self.times_each() {
            return (wanted.min(MOST_READINGS - 1), 1);
        }
        let is_one_way = self.case.pattern().is_one_way();
        let batch = if is_one_way { window_for(pace_ns) } else { batch_for(pace_ns, clock_read_ns) };
        let batch = u64::from(batch).max(wanted.div_ceil(MOST_READINGS)).min(wanted);
        ((wanted / batch) * batch, batch as u32)
    }

    /// Returns the interval at which messages are due, in nanoseconds; `None` in a closed loop.
    fn interval_ns(&self) -> Option<u64> {
        self.case.arrival.interval_ns()
    }

    /// Returns whether each message is timed: messages with a due time, and round trips of several sizes.
    fn times_each(&self) -> bool {
        let is_mixed = self.case.conditions.size_mix().is_some() && !self.case.pattern().is_one_way();
        is_mixed || self.interval_ns().is_some()
    }

    /// Returns the recorded times of the measured part: of batches, or of messages since each was due.
    fn times(
        &self,
        readings: &[u64],
        idle: &IdleInitiator,
    ) -> Result<(Vec<u64>, Option<TimerLateness>), NotMeasured> {
        if self.interval_ns().is_none() {
            return Ok((times(readings), None));
        }
        times_since_due(readings, planned::due_ns(self.case, self.key), idle.late_by_ns.as_deref())
            .map_err(|what| self.programs.failure(Phase::Timed, what).into())
    }
}
