//! Messages to one of several workers, sent when they are due. Each worker knows from the number of a message when it was due.

use crate::messages::{LoopResult, Messages};
use crate::recorder::Recorder;
use crate::role_error::RoleError;
use crate::schedule::{IdleResources, LateSends, Schedule};
use crate::shared_end::{
    Numbering, SharedEnd, TakenMessages, begin_work, send_next, send_untimed, take_next, take_untimed,
};
use furlong_os::clock;

/// Sends messages to `workers` for at least `budget_ns`, each when it is due, regardless of the message before it.
pub fn send_work_when_due(
    end: &mut SharedEnd,
    messages: &mut Messages<'_>,
    (workers, budget_ns): (u32, u64),
    mut schedule: Schedule,
) -> Result<LoopResult, RoleError> {
    let (channel, page) = (&mut *end.channel, messages.control_page);
    let (before, start) = begin_work::<false>(channel, messages, workers)?;
    let (mut free, mut due, mut ends) = (start, start, false);
    let (mut late, mut idle) = (LateSends::default(), IdleResources::default());
    while !ends {
        due = schedule.next_ns(due, due);
        idle = idle + schedule.idle_until(due);
        let sent = clock::now_ns();
        let from = schedule.timed_from_ns([due, free, sent], &mut late);
        if from != due {
            page.announce_sent(messages.done + 1, from);
        }
        send_next::<false>(channel, messages, Numbering::ALONE)?;
        free = clock::now_ns();
        ends = schedule.is_over([start, due, sent.max(due)], budget_ns);
    }
    page.announce_late(late);
    page.announce_last(messages.done);
    send_untimed::<false>(channel, messages, Numbering::ALONE, workers)?;
    Ok(LoopResult { idle, ..messages.since(before, free - start)? })
}

/// Receives as one of several workers until a message arrives that ends its part, and passes the time of each to the recorder: since
/// it was due, or since it was sent if the sender's timer was late. The first worker reports the late sends of all.
pub fn work_when_due(
    end: &mut SharedEnd,
    messages: &mut Messages<'_>,
    (taken, is_first): (&mut TakenMessages, bool),
    mut schedule: Schedule,
    recorder: &mut Recorder,
) -> Result<LoopResult, RoleError> {
    let (channel, page) = (&mut *end.channel, messages.control_page);
    let before = take_untimed::<false>(channel, messages, taken)?;
    // The line of the sender has the number of the last message before the first one that is due.
    let (mut number, mut due) = (page.last_of(0), page.start());
    loop {
        take_next::<false>(channel, messages, taken)?;
        let now = clock::now_ns();
        if taken.last > page.last() {
            break;
        }
        while number < taken.last {
            due = schedule.next_ns(due, due);
            number += 1;
        }
        recorder.keep(now.saturating_sub(page.sent(number).unwrap_or(due)), 1);
    }
    let elapsed_ns = clock::now_ns().saturating_sub(page.start());
    let late = page.late().filter(|_| is_first);
    Ok(LoopResult { late, ..messages.since(before, elapsed_ns)? })
}
