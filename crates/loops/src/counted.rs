//! Notifications over one link of which several processes have an end: from several senders to one receiver, or from one sender to
//! several workers, each notification to one of them.
//!
//! A notification carries nothing that tells which it is, so they are counted: each party notes on its line of the control page how
//! many it has sent or taken. Nothing holds back who posts a semaphore, so senders look at what all have taken each time they have
//! sent a share of what may be under way, and yield until there is room.
//!
//! Nobody can tell which one is the last. So when every sender has ended and as many are taken as were sent, the first sender
//! announces the end and sends one more to each of those who wait. One that came twice is seen by then, if it is taken
//! within a moment; one that was lost is waited for, until the supervisor says so.

use crate::channel::Channel;
use crate::control_page::ControlPage;
use crate::in_batches::{Amount, Arrivals, send_for, worked};
use crate::messages::{Baseline, LoopResult, Messages};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use crate::schedule::Idle;
use furlong_model::{Fault, Pattern};
use furlong_os::{clock, cpu};
use std::time::Duration;

/// Notifications of all senders that may be under way: fewer than any semaphore counts.
const MOST_UNDER_WAY: u64 = 1024;

/// How long nothing may be taken after as many were taken as were sent.
const SETTLING: Duration = Duration::from_millis(1);

/// How many have an end of a link that carries notifications.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    senders: usize,
    receivers: usize,
}

impl Counted {
    /// Returns the numbers for `several` processes at the shared end and one at the other.
    pub fn of(pattern: Pattern, several: u32) -> Counted {
        let several = several as usize;
        let [senders, receivers] = if pattern.is_from_several() { [several, 1] } else { [1, several] };
        Counted { senders, receivers }
    }

    /// How many all have sent, as far as they have noted it, and how many all have taken.
    pub fn sent_and_taken(self, page: &ControlPage) -> [u64; 2] {
        let sent = (0..self.senders).map(|line| page.progress(line).sent).sum();
        let receivers = self.senders..self.senders + self.receivers;
        [sent, receivers.map(|line| page.progress(line).received).sum()]
    }

    /// What one sender sends between two looks at what all have taken: half of what may be under way, for all senders together.
    fn share(self) -> u64 {
        (MOST_UNDER_WAY / 2 / self.senders as u64).max(1)
    }

    /// Yields until as many are taken as were sent.
    fn wait_until_taken(self, page: &ControlPage, sent: u64) -> Result<(), RoleError> {
        loop {
            match self.sent_and_taken(page)[1] {
                taken if taken == sent => return Ok(()),
                taken if taken > sent => {
                    let detail = format!("{taken} notifications were taken, and {sent} were sent");
                    return Err(RoleError::new(Fault::Repeated, detail));
                }
                _ => cpu::yield_now(),
            }
        }
    }
}

/// Sends for as long as `amount` says, and if it is the first of the senders ends the part for all.
pub(crate) fn notify(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: Counted,
    amount: Amount,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let (page, line) = (messages.control_page, messages.line);
    if line == 0 {
        page.announce_last(u64::MAX);
    }
    page.announce_last_of(line, u64::MAX);
    let start = begin_notifying(channel, messages, counted)?;
    let before = messages.baseline()?;
    let (mut room, mut idle) = (0, Idle::default());
    let elapsed_ns = send_for(start, amount, recorder, || {
        if room == 0 {
            room = counted.share();
            idle = idle + wait_for_room(messages, counted);
        }
        room -= 1;
        send_next(channel, messages)
    })?;
    let result = LoopResult { idle, ..messages.since(before, elapsed_ns)? };
    messages.note(messages.done, 0);
    page.announce_last_of(line, messages.done);
    if line == 0 {
        end_for_all(channel, messages, counted)?;
    }
    Ok(result)
}

/// Takes part in a notification that is not timed, and gives the time at which all begin.
fn begin_notifying(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: Counted,
) -> Result<u64, RoleError> {
    let (page, start_before) = (messages.control_page, messages.control_page.start());
    if messages.pattern.is_from_several() {
        send_next(channel, messages)?;
        messages.note(messages.done, 0);
        page.wait_for_start(start_before);
        return Ok(page.start());
    }
    send_to_each(channel, messages, counted)?;
    counted.wait_until_taken(page, messages.done)?;
    let start = clock::now_ns();
    page.announce_start(start);
    Ok(start)
}

/// Yields until no more than half of what may be under way is, and gives what that used.
#[cold]
#[inline(never)]
fn wait_for_room(messages: &Messages<'_>, counted: Counted) -> Idle {
    messages.note(messages.done, 0);
    let is_full = || {
        let [sent, taken] = counted.sent_and_taken(messages.control_page);
        sent.saturating_sub(taken) > MOST_UNDER_WAY / 2
    };
    if !is_full() {
        return Idle::default();
    }
    let used_before_ns = clock::thread_processor_ns();
    while is_full() {
        cpu::yield_now();
    }
    Idle { ns: clock::thread_processor_ns() - used_before_ns, switches: 0 }
}

/// Waits until all have ended and all that they sent is taken, and lets those at the other end go.
fn end_for_all(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: Counted,
) -> Result<(), RoleError> {
    let page = messages.control_page;
    let mut sent = 0;
    for line in 0..counted.senders {
        while page.last_of(line) == u64::MAX {
            cpu::yield_now();
        }
        sent += page.last_of(line);
    }
    counted.wait_until_taken(page, sent)?;
    std::thread::sleep(SETTLING);
    counted.wait_until_taken(page, sent)?;
    page.announce_last(sent);
    send_to_each(channel, messages, counted)
}

/// Takes what several send until the end is announced.
pub(crate) fn take_from_several(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: Counted,
    amount: Amount,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let page = messages.control_page;
    let before = begin_taking(channel, messages, counted)?;
    let start = clock::now_ns();
    page.announce_start(start);
    let mut arrivals = Arrivals::new(start, amount, recorder);
    loop {
        take_next(channel, messages)?;
        let ended = page.last() != u64::MAX;
        arrivals.add(ended);
        if ended {
            return messages.since(before, arrivals.elapsed_ns());
        }
    }
}

/// Takes one notification of each sender, which then waits for the start.
fn begin_taking(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: Counted,
) -> Result<Baseline, RoleError> {
    for _ in 0..counted.senders {
        take_next(channel, messages)?;
    }
    // One too many stands in for that of a sender which has not come so far, and would wait for the next start.
    while counted.sent_and_taken(messages.control_page)[0] < messages.done {
        cpu::yield_now();
    }
    messages.baseline()
}

/// Takes as one of several workers until the end is announced.
pub(crate) fn take_as_worker(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let (page, start_before) = (messages.control_page, messages.control_page.start());
    take_next(channel, messages)?;
    page.wait_for_start(start_before);
    let before = messages.baseline()?;
    let (taken_before, mut in_time) = (messages.done, messages.done);
    loop {
        take_next(channel, messages)?;
        if page.last_of(0) == u64::MAX {
            in_time = messages.done;
        } else if page.last() != u64::MAX {
            break;
        }
    }
    worked(messages, before, in_time - taken_before, recorder)
}

/// Sends one to each of those at the other end, each of whom takes one.
fn send_to_each(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: Counted,
) -> Result<(), RoleError> {
    for _ in 0..counted.receivers {
        send_next(channel, messages)?;
    }
    messages.note(messages.done, 0);
    Ok(())
}

#[inline(always)]
fn send_next(channel: &mut dyn Channel, messages: &mut Messages<'_>) -> Result<(), RoleError> {
    messages.send(channel)?;
    messages.done += 1;
    Ok(())
}

#[inline(always)]
fn take_next(channel: &mut dyn Channel, messages: &mut Messages<'_>) -> Result<(), RoleError> {
    messages.receive(channel)?;
    messages.done += 1;
    messages.note(messages.done, messages.done);
    Ok(())
}
