//! The measured loops of messages one way, which are not answered: sent as fast as they are taken, or when they are due.
//!
//! The clock starts before the first message is sent and stops when the last one has arrived. The initiator writes the start
//! time to the control page, and the responder reads the clock. So a sender gains nothing by running ahead into a buffer. If
//! messages are due at fixed times, the time of each is measured from when it was due until the responder has it. Both roles
//! read the same clock.

use crate::channel::Channel;
use crate::messages::{Baseline, LoopResult, Messages};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use crate::schedule::{IdleResources, LateSends, Schedule};
use crate::window::WindowLoop;
use furlong_os::{clock, cpu};

/// The loop that sends as fast as messages are taken, compiled for each type of channel.
pub trait SendStream: Channel {
    /// Sends messages for at least `budget_ns`, and reads the clock after each `batch`. Passes the time of each batch to the
    /// recorder, which may end the loop early.
    fn send_stream(
        &mut self,
        messages: &mut Messages<'_>,
        budget_ns: u64,
        batch: u32,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError>;
}

/// All loops of one end, compiled for each type of channel.
pub trait OneWayLoop: WindowLoop + SendStream {
    /// Receives messages until the initiator has announced the end. Passes the time of each `batch` to the recorder, with the
    /// number of its messages, which is smaller if the end comes before the first batch is full. Messages after the last full
    /// batch are not timed, because their number is too small.
    fn receive_stream(
        &mut self,
        messages: &mut Messages<'_>,
        batch: u32,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError>;
}

impl<C: Channel> SendStream for C {
    fn send_stream(
        &mut self,
        messages: &mut Messages<'_>,
        budget_ns: u64,
        batch: u32,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError> {
        let before = begin_sending(self, messages)?;
        let start = clock::now_ns();
        messages.control_page.announce_start(start);
        let (mut last, mut go_on) = (start, true);
        while go_on && last.wrapping_sub(start) < budget_ns {
            for _ in 0..batch {
                messages.prepare_next();
                messages.send_more(self)?;
                messages.done += 1;
            }
            let now = clock::now_ns();
            go_on = recorder.keep(now.wrapping_sub(last), batch);
            last = now;
        }
        end_sending(self, messages, before)
    }
}

impl<C: Channel> OneWayLoop for C {
    fn receive_stream(
        &mut self,
        messages: &mut Messages<'_>,
        batch: u32,
        recorder: &mut Recorder,
    ) -> Result<LoopResult, RoleError> {
        let before = begin_receiving(self, messages)?;
        let (mut start, mut last, mut in_batch) = (0, 0, 0);
        loop {
            receive_next(self, messages)?;
            if start == 0 {
                start = messages.control_page.start();
                last = start;
            }
            in_batch += 1;
            let ended = messages.control_page.is_last(messages.done);
            // Between hosts the last message has waited for its announcement, so its batch is not timed.
            let full = in_batch == batch && !(ended && messages.control_page.is_of_one_host());
            if full || (ended && last == start) {
                let now = clock::now_ns();
                recorder.keep(now.saturating_sub(last), in_batch);
                (last, in_batch) = (now, 0);
            }
            if ended {
                return messages.since(before, last.saturating_sub(start));
            }
        }
    }
}

/// Sends messages for at least `budget_ns`, each when it is due, regardless of the message before it.
pub fn send_stream_when_due(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    budget_ns: u64,
    mut schedule: Schedule,
) -> Result<LoopResult, RoleError> {
    let before = begin_sending(channel, messages)?;
    let start = clock::now_ns();
    messages.control_page.announce_start(start);
    let (mut free, mut due, mut late, mut idle) =
        (start, start, LateSends::default(), IdleResources::default());
    loop {
        due = schedule.next_ns(due, due);
        messages.prepare_next();
        idle = idle + schedule.idle_until(due);
        let sent = clock::now_ns();
        let from = schedule.timed_from_ns([due, free, sent], &mut late);
        if from != due {
            messages.control_page.announce_sent(messages.done + 1, from);
        }
        let ends = schedule.is_over([start, due, sent.max(due)], budget_ns);
        if ends {
            messages.control_page.announce_late(late);
            messages.control_page.announce_last(messages.done + 1);
        }
        messages.send(channel)?;
        messages.done += 1;
        free = clock::now_ns();
        if ends {
            return Ok(LoopResult { idle, ..messages.since(before, 0)? });
        }
    }
}

/// Receives messages until the initiator has announced the end, and passes the time of each to the recorder: since it was due,
/// or since it was sent if the sender's timer was late.
pub fn receive_stream_when_due(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    mut schedule: Schedule,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let before = begin_receiving(channel, messages)?;
    let mut due = 0;
    loop {
        let length = messages.receive(channel)?;
        let now = clock::now_ns();
        if due == 0 {
            due = messages.control_page.start();
        }
        due = schedule.next_ns(due, due);
        let from = messages.control_page.sent(messages.done + 1).unwrap_or(due);
        recorder.keep(now.saturating_sub(from), 1);
        check_next(messages, length)?;
        if messages.control_page.is_last(messages.done) {
            let elapsed_ns = now.saturating_sub(messages.control_page.start());
            let late = messages.control_page.late();
            return Ok(LoopResult { late, ..messages.since(before, elapsed_ns)? });
        }
    }
}

/// Sends a message that is not timed, and waits until it is received, so that both roles begin together.
pub fn begin_sending(channel: &mut dyn Channel, messages: &mut Messages<'_>) -> Result<Baseline, RoleError> {
    send_next(channel, messages)?;
    while messages.control_page.received_by_all() < messages.done {
        cpu::yield_now();
    }
    messages.baseline()
}

/// Announces and sends the last message.
fn end_sending(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    before: Baseline,
) -> Result<LoopResult, RoleError> {
    messages.control_page.announce_last(messages.done + 1);
    send_next(channel, messages)?;
    let result = messages.since(before, 0)?;
    if messages.last_may_be_lost {
        send_last_until_taken(channel, messages)?;
    }
    Ok(result)
}

/// Sends the last message again after each millisecond in which not all receivers have got it. A receiver recognises a
/// duplicate by its number.
fn send_last_until_taken(channel: &mut dyn Channel, messages: &mut Messages<'_>) -> Result<(), RoleError> {
    const WHILE_NS: u64 = 1_000_000;
    let is_taken = |messages: &Messages<'_>| messages.control_page.received_by_all() >= messages.done;
    let mut sent_ns = clock::now_ns();
    while !is_taken(messages) {
        if clock::now_ns().saturating_sub(sent_ns) >= WHILE_NS {
            messages.send_number(channel, messages.done)?;
            sent_ns = clock::now_ns();
        }
        cpu::yield_now();
    }
    Ok(())
}

/// Receives a message that is not timed.
pub fn begin_receiving(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
) -> Result<Baseline, RoleError> {
    let mut length = messages.receive(channel)?;
    while messages.last_may_be_lost && messages.is_last_again(length) {
        length = messages.receive(channel)?;
    }
    check_next(messages, length)?;
    messages.control_page.begin_here(clock::now_ns());
    messages.baseline()
}

/// Stamps and sends the next message.
#[inline(always)]
fn send_next<C: Channel + ?Sized>(channel: &mut C, messages: &mut Messages<'_>) -> Result<(), RoleError> {
    messages.prepare_next();
    messages.send(channel)?;
    messages.done += 1;
    Ok(())
}

/// Receives and checks the next message.
#[inline(always)]
fn receive_next<C: Channel + ?Sized>(channel: &mut C, messages: &mut Messages<'_>) -> Result<(), RoleError> {
    let length = messages.receive(channel)?;
    check_next(messages, length)
}

/// Checks the next message, which was received with this length.
#[inline(always)]
fn check_next(messages: &mut Messages<'_>, length: usize) -> Result<(), RoleError> {
    messages.took(length)?;
    messages.note_taken();
    Ok(())
}
