//! Timing of messages over a link that several processes share, for data and notifications: in batches, each of which
//! ends with a reading of the clock.

use crate::messages::{Baseline, LoopResult, Messages};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use furlong_os::clock;

/// Length of a run of the loop.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    /// Time for which messages are sent, in nanoseconds.
    pub budget_ns: u64,
    /// Messages between two readings of the clock.
    pub batch: u32,
}

/// Sends from `start` on until the time is over or the recorder has enough, and returns the time that it took.
#[inline(always)]
pub(crate) fn send_for(
    start: u64,
    Amount { budget_ns, batch }: Amount,
    recorder: &mut Recorder,
    mut send_next: impl FnMut() -> Result<(), RoleError>,
) -> Result<u64, RoleError> {
    let (mut last, mut go_on) = (start, true);
    while go_on && last.saturating_sub(start) < budget_ns {
        for _ in 0..batch {
            send_next()?;
        }
        let now = clock::now_ns();
        go_on = recorder.keep(now.saturating_sub(last), batch);
        last = now;
    }
    Ok(last.saturating_sub(start))
}

/// Timing of the messages of several senders. Messages that arrive after the time is over are not timed: a sender that
/// gets a CPU late also ends late, when the other senders have ended.
pub(crate) struct Arrivals<'a> {
    recorder: &'a mut Recorder,
    amount: Amount,
    start: u64,
    last: u64,
    in_batch: u32,
}

impl<'a> Arrivals<'a> {
    /// Creates a timing that begins at `start`.
    pub(crate) fn new(start: u64, amount: Amount, recorder: &'a mut Recorder) -> Self {
        Arrivals { recorder, amount, start, last: start, in_batch: 0 }
    }

    /// Counts one message; `ends` is set if no more follow.
    #[inline(always)]
    pub(crate) fn add(&mut self, ends: bool) {
        self.in_batch += 1;
        let is_first = self.last == self.start;
        if self.in_batch == self.amount.batch || (ends && is_first) {
            let now = clock::now_ns();
            if is_first || now.saturating_sub(self.start) <= self.amount.budget_ns {
                self.recorder.keep(now.saturating_sub(self.last), self.in_batch);
                self.last = now;
            }
            self.in_batch = 0;
        }
    }

    /// Returns the time until the last message that is timed.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        self.last.saturating_sub(self.start)
    }
}

/// Returns the result of one of several workers since the common start. Passes the number of messages that it took
/// while the time was not over to the recorder.
pub(crate) fn worked(
    messages: &Messages<'_>,
    before: Baseline,
    in_time: u64,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let elapsed_ns = clock::now_ns().saturating_sub(messages.control_page.start());
    let result = messages.since(before, elapsed_ns)?;
    let in_time = u32::try_from(in_time).unwrap_or(u32::MAX);
    if in_time > 0 {
        recorder.keep(result.elapsed_ns, in_time);
    }
    Ok(result)
}
