//! The measured loops of messages one way, none of which is answered: as fast as they are taken, or at fixed times.
//!
//! The clock starts before the first message is sent and stops when the last one has arrived: the initiator writes
//! the start on the board, and the responder reads the clock. So a sender that runs ahead into a buffer gains nothing.
//! At fixed times, each message is timed from when it was due to when the responder has it: both read the same clock.

use crate::message_loop::{Leg, MessageLoop, used};
use crate::role::RoleError;
use crate::round_trip::is_late;
use crate::waiting::Channel;
use furlong_model::Role;
use furlong_os::{clock, cpu};

impl<C: Channel> MessageLoop<'_, C> {
    /// Sends messages for at least `budget_ns`, and reads the clock after each `batch`. `record` is given the time of
    /// each batch, and may end it early by answering `false`.
    #[inline(never)]
    pub(crate) fn stream(
        &mut self,
        budget_ns: u64,
        batch: u32,
        mut record: impl FnMut(u64) -> bool,
    ) -> Result<Leg, RoleError> {
        self.line_up()?;
        let before = (self.done, used()?);
        let start = clock::now_ns();
        self.control_page.announce_start(start);
        let (mut last, mut go_on) = (start, true);
        while go_on && last - start < budget_ns {
            for _ in 0..batch {
                self.send_next()?;
            }
            let now = clock::now_ns();
            go_on = record(now - last);
            last = now;
        }
        self.control_page.announce_last(self.done + 1);
        self.send_next()?;
        Ok(Leg { round_trips: self.done - before.0, elapsed_ns: 0, usage: used()? - before.1, idle_ns: 0 })
    }

    /// Sends a message every `interval_ns` for at least `budget_ns`, whatever became of the one before it.
    /// `idle_until` waits until one is due, and says what processor time that took.
    #[inline(never)]
    pub(crate) fn stream_at_pace(
        &mut self,
        budget_ns: u64,
        interval_ns: u64,
        idle_until: impl Fn(u64) -> u64,
    ) -> Result<Leg, RoleError> {
        self.line_up()?;
        let before = (self.done, used()?);
        let start = clock::now_ns();
        self.control_page.announce_start(start);
        let (mut due, mut late, mut idle_ns) = (start, 0, 0);
        loop {
            due += interval_ns;
            self.prepare_next();
            idle_ns += idle_until(due);
            let sent = clock::now_ns();
            late += u64::from(is_late(sent, due));
            let ends = sent.max(due) - start >= budget_ns;
            if ends {
                self.control_page.announce_late(late);
                self.control_page.announce_last(self.done + 1);
            }
            self.send()?;
            self.done += 1;
            if ends {
                let usage = used()? - before.1;
                return Ok(Leg { round_trips: self.done - before.0, elapsed_ns: 0, usage, idle_ns });
            }
        }
    }

    /// Receives messages until the initiator has announced the end, and gives `record` the time of each `batch` and the
    /// number of messages in it: fewer if the end comes before the first batch is full. What comes after the last full
    /// batch is not timed, since so few messages say nothing.
    #[inline(never)]
    pub(crate) fn drain(&mut self, batch: u32, mut record: impl FnMut(u64, u32)) -> Result<Leg, RoleError> {
        self.take_next()?;
        let before = (self.done, used()?);
        let (mut start, mut last, mut in_batch) = (0, 0, 0);
        loop {
            self.take_next()?;
            if start == 0 {
                start = self.control_page.start();
                last = start;
            }
            in_batch += 1;
            let ended = self.control_page.is_last(self.done);
            if in_batch == batch || (ended && last == start) {
                let now = clock::now_ns();
                record(now.saturating_sub(last), in_batch);
                (last, in_batch) = (now, 0);
            }
            if ended {
                let usage = used()? - before.1;
                let elapsed_ns = last.saturating_sub(start);
                return Ok(Leg { round_trips: self.done - before.0, elapsed_ns, usage, idle_ns: 0 });
            }
        }
    }

    /// Receives messages that are due every `interval_ns` until the initiator has announced the end, and gives `record`
    /// the time of each since it was due. Gives also how many were sent late.
    #[inline(never)]
    pub(crate) fn drain_at_pace(
        &mut self,
        interval_ns: u64,
        mut record: impl FnMut(u64),
    ) -> Result<(Leg, u64), RoleError> {
        self.take_next()?;
        let before = (self.done, used()?);
        let mut due = 0;
        loop {
            let length = self.receive()?;
            let now = clock::now_ns();
            if due == 0 {
                due = self.control_page.start();
            }
            due += interval_ns;
            record(now.saturating_sub(due));
            self.check_next(length)?;
            if self.control_page.is_last(self.done) {
                let usage = used()? - before.1;
                let elapsed_ns = now.saturating_sub(self.control_page.start());
                let leg = Leg { round_trips: self.done - before.0, elapsed_ns, usage, idle_ns: 0 };
                return Ok((leg, self.control_page.late()));
            }
        }
    }

    /// Sends a message that is not timed, and waits until it was taken, so that both roles begin together.
    fn line_up(&mut self) -> Result<(), RoleError> {
        self.send_next()?;
        while self.control_page.progress(Role::Responder).received < self.done {
            cpu::yield_now();
        }
        Ok(())
    }

    /// Stamps and sends the next message.
    #[inline(always)]
    fn send_next(&mut self) -> Result<(), RoleError> {
        self.prepare_next();
        self.send()?;
        self.done += 1;
        Ok(())
    }

    /// Receives and checks the next message.
    #[inline(always)]
    fn take_next(&mut self) -> Result<(), RoleError> {
        let length = self.receive()?;
        self.check_next(length)
    }

    /// Checks the next message, which has come with this length.
    #[inline(always)]
    fn check_next(&mut self, length: usize) -> Result<(), RoleError> {
        self.done += 1;
        self.unchecked = Some(length);
        self.settle()?;
        self.note(self.done, self.done);
        Ok(())
    }
}
