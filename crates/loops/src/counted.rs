//! Notifications over one link with several processes at one end: from several senders to one receiver, or from one
//! sender to several workers, each notification to one of them.
//!
//! A notification carries no identifier, so notifications are counted: each party writes the number that it sent or
//! took to its line of the control page. A post to a semaphore never blocks. Senders therefore check how many
//! notifications were taken each time they have sent a share of the maximum in flight, and yield until there is room.
//!
//! No process can recognise the last notification. When every sender has ended and all notifications are taken, the
//! first sender announces the end and sends one more notification to each receiver. A duplicate is detected if it is
//! taken within 1 ms. A lost notification is detected by the supervisor's timeout.

use crate::channel::Channel;
use crate::control_page::ControlPage;
use crate::in_batches::{Amount, Arrivals, send_for, worked};
use crate::messages::{Baseline, LoopResult, Messages};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use crate::schedule::IdleResources;
use furlong_model::{Fault, Pattern};
use furlong_os::{clock, cpu};
use std::time::Duration;

/// Maximum number of notifications of all senders in flight: fewer than the maximum value of any semaphore.
const MOST_UNDER_WAY: u64 = 1024;

/// Time for which no further notification may be taken after all of them were taken.
const SETTLING: Duration = Duration::from_millis(1);

/// Numbers of senders and receivers of a link that carries notifications.
#[derive(Debug, Clone, Copy)]
pub struct PartyCounts {
    senders: usize,
    receivers: usize,
}

impl PartyCounts {
    /// Returns the numbers for `several` processes at the shared end and one at the other.
    pub fn of(pattern: Pattern, several: u32) -> PartyCounts {
        let several = several as usize;
        let [senders, receivers] = if pattern.is_from_several() { [several, 1] } else { [1, several] };
        PartyCounts { senders, receivers }
    }

    /// Returns how many notifications all parties have sent, as far as they have noted it, and how many all have taken.
    pub fn sent_and_taken(self, page: &ControlPage) -> [u64; 2] {
        let sent = (0..self.senders).map(|line| page.progress(line).sent).sum();
        let receivers = self.senders..self.senders + self.receivers;
        [sent, receivers.map(|line| page.progress(line).received).sum()]
    }

    /// Returns how many notifications one sender sends between two checks of the number taken: half of the maximum in
    /// flight, divided among the senders.
    fn share(self) -> u64 {
        (MOST_UNDER_WAY / 2 / self.senders as u64).max(1)
    }

    /// Yields until as many notifications are taken as were sent.
    fn wait_until_taken(self, page: &ControlPage, sent: u64) -> Result<(), RoleError> {
        loop {
            match self.sent_and_taken(page)[1] {
                taken if taken == sent => return Ok(()),
                taken if taken > sent => {
                    let detail = format!("{taken} notifications were received, but {sent} were sent");
                    return Err(RoleError::new(Fault::Repeated, detail));
                }
                _ => cpu::yield_now(),
            }
        }
    }
}

/// Sends for as long as `amount` says. The first of the senders also ends the part for all.
pub(crate) fn notify(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: PartyCounts,
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
    let (mut room, mut idle) = (0, IdleResources::default());
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

/// Takes part in a notification that is not timed, and returns the common start time.
fn begin_notifying(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: PartyCounts,
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

/// Yields until at most half of the maximum is in flight, and returns the CPU time used for that.
#[cold]
#[inline(never)]
fn wait_for_room(messages: &Messages<'_>, counted: PartyCounts) -> IdleResources {
    messages.note(messages.done, 0);
    let is_full = || {
        let [sent, taken] = counted.sent_and_taken(messages.control_page);
        sent.saturating_sub(taken) > MOST_UNDER_WAY / 2
    };
    if !is_full() {
        return IdleResources::default();
    }
    let used_before_ns = clock::thread_processor_ns();
    while is_full() {
        cpu::yield_now();
    }
    IdleResources { ns: clock::thread_processor_ns() - used_before_ns, switches: 0 }
}

/// Waits until all senders have ended and all their notifications are taken, and then releases the receivers.
fn end_for_all(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: PartyCounts,
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

/// Takes the notifications of several senders until the end is announced.
pub(crate) fn take_from_several(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: PartyCounts,
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
    counted: PartyCounts,
) -> Result<Baseline, RoleError> {
    for _ in 0..counted.senders {
        take_next(channel, messages)?;
    }
    // A duplicate may replace the notification of a slower sender, which would then wait for the next start. So wait
    // until all senders have sent.
    while counted.sent_and_taken(messages.control_page)[0] < messages.done {
        cpu::yield_now();
    }
    messages.baseline()
}

/// Takes notifications as one of several workers until the end is announced.
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

/// Sends one notification for each of the receivers.
fn send_to_each(
    channel: &mut dyn Channel,
    messages: &mut Messages<'_>,
    counted: PartyCounts,
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
