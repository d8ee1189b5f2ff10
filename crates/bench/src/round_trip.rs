//! The measured loop of round trips: one message there, one back, one at a time.
//!
//! The initiator sends, and the responder answers with a message of its own. Whatever is not the mechanism's
//! work (writing the next stamp, checking the last message, counting) is done while a message is under way, so
//! that it does not lengthen the round trip. Between a receive and the next send there is the clock alone.

use crate::message_loop::{Leg, MessageLoop, used};
use crate::role::RoleError;
use crate::waiting::Channel;
use furlong_model::Arrival;
use furlong_os::clock;
use furlong_os::usage::Usage;

/// A message that leaves no later than this after it was due is on time: a few readings of the clock.
const PUNCTUAL_NS: u64 = 1_000;

/// Whether a message was sent later than it was due.
#[inline(always)]
pub(crate) fn is_late(sent_ns: u64, due_ns: u64) -> bool {
    sent_ns > due_ns + PUNCTUAL_NS
}

impl<C: Channel> MessageLoop<'_, C> {
    /// Runs round trips for at least `budget_ns`, `batch` to a reading of the clock, and gives `record` the time
    /// of each batch. `record` may end it early by answering `false`.
    #[inline(never)]
    pub(crate) fn lead(
        &mut self,
        budget_ns: u64,
        batch: u32,
        mut record: impl FnMut(u64) -> bool,
    ) -> Result<Leg, RoleError> {
        let before = self.begin()?;
        let start = clock::now_ns();
        let (mut last, mut sample, mut go_on) = (start, None, true);
        while go_on && last - start < budget_ns {
            for _ in 0..batch {
                self.trip(|| {
                    if let Some(sample) = sample.take() {
                        go_on = record(sample);
                    }
                })?;
            }
            let now = clock::now_ns();
            sample = Some(now - last);
            last = now;
        }
        let leg = self.end(before, last - start)?;
        if let Some(sample) = sample {
            record(sample);
        }
        Ok(leg)
    }

    /// Runs round trips for at least `budget_ns`, each begun when `pace` says, and gives `record` the time of each.
    /// `idle_until` waits until one is due, and says what processor time that took. Gives also how many were sent late.
    #[inline(never)]
    pub(crate) fn lead_at_pace(
        &mut self,
        budget_ns: u64,
        arrival: Arrival,
        idle_until: impl Fn(u64) -> u64,
        mut record: impl FnMut(u64),
    ) -> Result<(Leg, u64), RoleError> {
        let before = self.begin()?;
        let start = clock::now_ns();
        let (mut last, mut due, mut late_sends, mut idle_ns) = (start, start, 0, 0);
        while last - start < budget_ns {
            due = match arrival {
                Arrival::ClosedLoop => last,
                Arrival::Interval(interval_ns) => due + interval_ns,
                Arrival::ThinkTime(think_time_ns) => last + think_time_ns,
            };
            idle_ns += idle_until(due);
            let sent = clock::now_ns();
            late_sends += u64::from(is_late(sent, due));
            self.trip(|| {})?;
            last = clock::now_ns();
            record(last - if matches!(arrival, Arrival::Interval(_)) { due } else { sent });
        }
        Ok((Leg { idle_ns, ..self.end(before, last - start)? }, late_sends))
    }

    /// Begins a leg: the first round trip lines both roles up and is not timed. Gives what was done and used before.
    fn begin(&mut self) -> Result<(u64, Usage), RoleError> {
        self.prepare_next();
        self.trip(|| {})?;
        Ok((self.done, used()?))
    }

    /// Ends a leg that took `elapsed_ns`: the last round trip tells the responder and is not timed.
    fn end(&mut self, before: (u64, Usage), elapsed_ns: u64) -> Result<Leg, RoleError> {
        let usage = used()? - before.1;
        let round_trips = self.done - before.0;
        self.control_page.announce_last(self.done + 1);
        self.trip(|| {})?;
        self.settle()?;
        Ok(Leg { round_trips, elapsed_ns, usage, idle_ns: 0 })
    }

    /// One round trip; `meanwhile` runs while the message is under way.
    #[inline(always)]
    fn trip(&mut self, meanwhile: impl FnOnce()) -> Result<(), RoleError> {
        self.send()?;
        meanwhile();
        self.settle()?;
        self.done += 1;
        self.prepare_next();
        let length = self.receive()?;
        self.unchecked = Some(length);
        Ok(())
    }

    /// Answers until the initiator has announced the end.
    #[inline(never)]
    pub(crate) fn follow(&mut self) -> Result<Leg, RoleError> {
        self.prepare_next();
        let before = (self.done, used()?);
        loop {
            let length = self.receive()?;
            self.send()?;
            self.done += 1;
            self.note(self.done, self.done);
            self.prepare_next();
            self.unchecked = Some(length);
            self.settle()?;
            if self.control_page.is_last(self.done) {
                let usage = used()? - before.1;
                return Ok(Leg { round_trips: self.done - before.0, elapsed_ns: 0, usage, idle_ns: 0 });
            }
        }
    }
}
