//! The measured loop of round trips with several messages in flight: a window of messages is sent, and then one more for each
//! response.
//!
//! Each message is timed from its send to its response. One reading of the clock ends the time of one message and begins that
//! of the next. All other work is done after the next message is sent, as in the loop with one message in flight. The
//! responder's loop is the same: it receives a message, answers it, and receives the next. The maximum window with which the
//! two sides never wait for room at once is computed in `furlong_model::most_outstanding`.

use crate::channel::Channel;
use crate::messages::{Baseline, LoopResult, Messages};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use crate::round_trip::{Initiate, Respond, line_up};
use furlong_os::clock;

/// The loop with several messages in flight, compiled for each type of channel.
pub trait WindowLoop: Initiate + Respond {
    /// Makes round trips for at least `budget_ns`, with `window` messages in flight. Passes the time of each to the recorder,
    /// which may end the loop early.
    fn initiate_window(
        &mut self,
        messages: &mut Messages<'_>,
        budget_ns: u64,
        window: u32,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError>;
}

impl<C: Channel> WindowLoop for C {
    fn initiate_window(
        &mut self,
        messages: &mut Messages<'_>,
        budget_ns: u64,
        window: u32,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError> {
        let (mut sends, before) = begin(self, messages, window)?;
        let start = clock::now_ns();
        let (mut last, mut go_on) = (start, true);
        while go_on && last.wrapping_sub(start) < budget_ns {
            let (now, sample_ns) = turn(self, messages, &mut sends)?;
            go_on = recorder.keep(sample_ns, 1);
            last = now;
        }
        end(self, messages, &sends, before, [start, last])
    }
}

/// Times at which the messages of a window were sent.
struct Sends {
    window: u64,
    /// Ring buffer indexed by message number; its length is a power of two.
    sent_ns: Vec<u64>,
}

/// State of a loop when its clock started.
struct ClockStart {
    baseline: Baseline,
    /// Sum of the send times of the messages in flight.
    sent_ns: u128,
}

impl Sends {
    /// Notes when a message is sent.
    #[inline(always)]
    fn note(&mut self, number: u64, now_ns: u64) {
        let place = self.place(number);
        self.sent_ns[place] = now_ns;
    }

    /// Returns the sum of the send times of the messages in flight, after the message number `answered` was answered.
    fn sum_ns(&self, answered: u64) -> u128 {
        (answered + 1..=answered + self.window).map(|number| u128::from(self.sent_ns(number))).sum()
    }

    /// Returns when a message in flight was sent.
    #[inline(always)]
    fn sent_ns(&self, number: u64) -> u64 {
        self.sent_ns[self.place(number)]
    }

    #[inline(always)]
    fn place(&self, number: u64) -> usize {
        number as usize & (self.sent_ns.len() - 1)
    }
}

/// Synchronises both roles with an untimed round trip, sends a window of messages and receives the responses to all of them.
/// The time of a message includes the messages before it, and the first window has fewer of those.
fn begin(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    window: u32,
) -> Result<(Sends, ClockStart), RoleError> {
    line_up(channel, messages)?;
    messages.settle()?;
    let places = (window as usize).next_power_of_two();
    let mut sends = Sends { window: window.into(), sent_ns: vec![0; places] };
    let first = messages.done + 1;
    for number in first..first + sends.window {
        messages.prepare(number);
        sends.note(number, clock::now_ns());
        messages.send_number(channel, number)?;
    }
    messages.prepare(first + sends.window);
    for _ in 0..window {
        turn(channel, messages, &mut sends)?;
    }
    let baseline = messages.baseline()?;
    let sent_ns = sends.sum_ns(messages.done);
    Ok((sends, ClockStart { baseline, sent_ns }))
}

/// Receives a response and sends the next message. Returns the time of the response, and the duration of its round trip.
#[inline(always)]
fn turn<C: Channel + ?Sized>(
    channel: &mut C,
    messages: &mut Messages<'_>,
    sends: &mut Sends,
) -> Result<(u64, u64), RoleError> {
    let length = messages.receive(channel)?;
    let now_ns = clock::now_ns();
    let number = messages.done + 1;
    let next = number + sends.window;
    messages.send_number(channel, next)?;
    let sample_ns = now_ns - sends.sent_ns(number);
    sends.note(next, now_ns);
    messages.took(length)?;
    messages.prepare(next + 1);
    Ok((now_ns, sample_ns))
}

/// Ends a loop that ran from `start` to `end`. The last message is announced to the responder, and sent in place of an answered
/// one.
fn end(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    sends: &Sends,
    before: ClockStart,
    [start, end]: [u64; 2],
) -> Result<LoopResult, RoleError> {
    let result = messages.since(before.baseline, end.wrapping_sub(start))?;
    let outstanding =
        |now_ns: u64, sent_ns: u128| (u128::from(now_ns) * u128::from(sends.window) - sent_ns) as u64;
    let outstanding_ns = [outstanding(start, before.sent_ns), outstanding(end, sends.sum_ns(messages.done))];
    let length = messages.receive(channel)?;
    messages.took(length)?;
    let last = messages.done + sends.window;
    messages.control_page.announce_last(last);
    messages.send_number(channel, last)?;
    while messages.done < last {
        let length = messages.receive(channel)?;
        messages.took(length)?;
    }
    Ok(LoopResult { outstanding_ns: Some(outstanding_ns), ..result })
}
