//! How messages over a link that several share are timed, whatever they carry: in batches, each of which ends with a reading of
//! the clock.

use crate::messages::{Baseline, LoopResult, Messages};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use furlong_os::clock;

/// How long a run of the loop takes.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    /// Time for which messages are sent, in nanoseconds.
    pub budget_ns: u64,
    /// Messages between two readings of the clock.
    pub batch: u32,
}

/// Sends from `start` on until the time is over, or the recorder has enough, and gives the time that it took.
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

/// What comes from several. What comes after the time is over is not timed: a sender that is given a processor late ends late,
/// and the others have ended then.
pub(crate) struct Arrivals<'a> {
    recorder: &'a mut Recorder,
    amount: Amount,
    start: u64,
    last: u64,
    in_batch: u32,
}

impl<'a> Arrivals<'a> {
    /// From `start` on.
    pub(crate) fn new(start: u64, amount: Amount, recorder: &'a mut Recorder) -> Self {
        Arrivals { recorder, amount, start, last: start, in_batch: 0 }
    }

    /// One has come, after which there are no more or there may be.
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

    /// The time until the last one that is timed.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        self.last.saturating_sub(self.start)
    }
}

/// What one of several workers has done since the common start. The recorder is told how many it took while the time was not
/// over.
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
