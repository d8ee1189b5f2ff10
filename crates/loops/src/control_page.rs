//! A page that supervisor and roles share beside the mechanism.
//!
//! The initiator writes on it which message is the last, so that the end of that part needs no system call and no
//! word in a message. Each role notes how far it has come in a line that only it writes, so that the
//! supervisor can tell a lost message from a slow one; in the measured loop only the responder does. Nobody
//! waits for anything on it.
//!
//! Roles on two hosts share no memory: each has a page of its own. Then the number of the last message is carried to the other
//! host, and it is not sent before it is known there.

use crate::schedule::LateSends;
use furlong_model::TimerLateness;
use furlong_os::memory::{Region, anonymous_object, page_bytes};
use furlong_os::{AsHandle, BorrowedHandle, Handle, cpu, handle};
use std::io;
use std::sync::atomic::Ordering;

/// Offset of the number of the message after which the measured part ends.
const LAST: usize = 0;

/// Offset of the time at which the measured part began, in nanoseconds of the clock that both roles read.
const START: usize = 8;

/// Offset of the number of messages in the measured part that were sent late.
const LATE: usize = 16;

/// Offset of what the sender's timer made late: their number, their lateness together, and the most of it, in nanoseconds.
const TIMER_LATE: usize = 24;

/// Offset of the last messages that it made late, each with its number and the time of its send.
const SENT: usize = 48;

/// Room for so many: a receiver that is further behind takes such a message for one that was sent when it was due.
const SENT_ROOM: u64 = 4;

/// Offset within a line of the number of the last message of its party, where several send.
const LAST_OF_LINE: usize = 24;

/// Bytes of a line: two lines of the cache, of which processors fetch one with the other.
const LINE_BYTES: usize = 128;

/// Offset of the line with this number, from 0 on: messages sent, then messages received.
const fn offset(line: usize) -> usize {
    LINE_BYTES * (1 + line)
}

/// The page, mapped.
#[derive(Debug)]
pub struct ControlPage {
    region: Region,
    lines: usize,
    /// Where it is this side's alone.
    own: Option<OwnPage>,
}

/// What stands for the page on the other host.
#[derive(Debug)]
struct OwnPage {
    /// Takes the number of the last message there, and answers when it is there; only the initiator has one.
    carrier: Option<Handle>,
}

/// How far a party has come: messages since the trial began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Messages sent; one way, for a receiver, those that it got.
    pub sent: u64,
    /// The number of the message that was received last.
    pub received: u64,
}

impl ControlPage {
    /// A new page with so many lines, and the descriptor by which roles map it.
    pub fn create(lines: usize) -> io::Result<(ControlPage, Handle)> {
        let object = anonymous_object("furlong-control-page", size_bytes(lines))?;
        let control_page = ControlPage::open(object.as_handle(), lines)?;
        Ok((control_page, object))
    }

    /// Maps the page of a descriptor.
    pub fn open(object: BorrowedHandle<'_>, lines: usize) -> io::Result<ControlPage> {
        Ok(ControlPage { region: Region::of_file(object, size_bytes(lines))?, lines, own: None })
    }

    /// The same as one of two, of which the other is on another host; `carrier` takes there what is announced.
    pub fn of_one_host(self, carrier: Option<Handle>) -> ControlPage {
        ControlPage { own: Some(OwnPage { carrier }), ..self }
    }

    /// Whether it is: then the last message waits until its number is known on the other host.
    pub fn is_of_one_host(&self) -> bool {
        self.own.is_some()
    }

    /// Notes that the responder's first message has come, with which the time of a stream begins where the initiator's clock
    /// is another host's.
    pub fn begin_here(&self, now_ns: u64) {
        if self.own.is_some() {
            self.announce_start(now_ns);
        }
    }

    /// Announces when the measured part began, before its first message is sent.
    pub fn announce_start(&self, now_ns: u64) {
        self.region.double_word(START).store(now_ns, Ordering::Release);
    }

    /// When the measured part began, for whoever has received a message of it.
    pub fn start(&self) -> u64 {
        self.region.double_word(START).load(Ordering::Acquire)
    }

    /// Announces which messages of it were sent later than they were due, before the last one is sent.
    pub fn announce_late(&self, late: LateSends) {
        let TimerLateness { sends, total_ns, longest_ns } = late.by_timer;
        for (at, number) in [sends, total_ns, longest_ns].into_iter().enumerate() {
            self.region.double_word(TIMER_LATE + 8 * at).store(number, Ordering::Relaxed);
        }
        self.region.double_word(LATE).store(late.all, Ordering::Release);
    }

    /// Which messages of it were sent late, for whoever has received the last one; `None` between hosts.
    pub fn late(&self) -> Option<LateSends> {
        let all = self.region.double_word(LATE).load(Ordering::Acquire);
        let [sends, total_ns, longest_ns] =
            [0, 8, 16].map(|at| self.region.double_word(TIMER_LATE + at).load(Ordering::Relaxed));
        let by_timer = TimerLateness { sends, total_ns, longest_ns };
        self.own.is_none().then_some(LateSends { all, by_timer })
    }

    /// Announces when a message is sent that the timer made late, before it is sent.
    #[inline]
    pub fn announce_sent(&self, sequence: u64, sent_ns: u64) {
        let place = SENT + 16 * (sequence % SENT_ROOM) as usize;
        self.region.double_word(place).store(0, Ordering::Release);
        self.region.double_word(place + 8).store(sent_ns, Ordering::Release);
        self.region.double_word(place).store(sequence, Ordering::Release);
    }

    /// Returns when a received message was sent, if the timer made it late.
    #[inline]
    pub fn sent(&self, sequence: u64) -> Option<u64> {
        let place = SENT + 16 * (sequence % SENT_ROOM) as usize;
        let number = || self.region.double_word(place).load(Ordering::Acquire);
        let before = number();
        let sent_ns = self.region.double_word(place + 8).load(Ordering::Acquire);
        // The sender may be writing of another message there.
        (before == sequence && number() == sequence).then_some(sent_ns)
    }

    /// Announces the number of the last message of it, before it is sent.
    pub fn announce_last(&self, sequence: u64) {
        self.region.double_word(LAST).store(sequence, Ordering::Release);
        if let Some(OwnPage { carrier: Some(carrier) }) = &self.own {
            // Who carries it is watched: where it is gone, the trial ends, and says so.
            let _ = carry(carrier.as_handle(), sequence);
        }
    }

    /// Whether `sequence` is the last message of it. The announcement was made before it was sent.
    #[inline]
    pub fn is_last(&self, sequence: u64) -> bool {
        self.region.double_word(LAST).load(Ordering::Acquire) == sequence
    }

    /// The number of the last message of it; `u64::MAX` once somebody has said that there will be more.
    #[inline]
    pub fn last(&self) -> u64 {
        self.region.double_word(LAST).load(Ordering::Acquire)
    }

    /// Announces the number of the last message of the sender with this line, of several, before it is sent.
    pub fn announce_last_of(&self, line: usize, sequence: u64) {
        self.region.double_word(offset(line) + LAST_OF_LINE).store(sequence, Ordering::Release);
    }

    /// The number of the last message of the sender with this line; `u64::MAX` where it has said that there will be more.
    #[inline]
    pub fn last_of(&self, line: usize) -> u64 {
        self.region.double_word(offset(line) + LAST_OF_LINE).load(Ordering::Acquire)
    }

    /// Waits until another start is announced than that of the part before.
    pub fn wait_for_start(&self, start_before: u64) {
        while self.start() == start_before {
            cpu::yield_now();
        }
    }

    /// Notes on its line how far a party has come.
    #[inline]
    pub fn note(&self, line: usize, progress: Progress) {
        let line = offset(line);
        self.region.double_word(line).store(progress.sent, Ordering::Relaxed);
        self.region.double_word(line + 8).store(progress.received, Ordering::Relaxed);
    }

    /// How far the party with this line has come.
    pub fn progress(&self, line: usize) -> Progress {
        let line = offset(line);
        Progress {
            sent: self.region.double_word(line).load(Ordering::Relaxed),
            received: self.region.double_word(line + 8).load(Ordering::Relaxed),
        }
    }

    /// Notes on its line when a party has received a message, and how far it has come with it.
    #[inline]
    pub fn note_arrival(&self, line: usize, Progress { sent, received }: Progress, now_ns: u64) {
        let line = offset(line);
        self.region.double_word(line + 16).store(now_ns, Ordering::Relaxed);
        self.region.double_word(line).store(sent, Ordering::Relaxed);
        // Release: who sees the number sees the time.
        self.region.double_word(line + 8).store(received, Ordering::Release);
    }

    /// Room for as many times as there are receivers.
    pub fn room_for_arrivals(&self) -> Vec<u64> {
        Vec::with_capacity(self.lines)
    }

    /// When all have received the message with this number who do, in order; `None` while one has not.
    pub fn arrivals(&self, number: u64, arrivals_ns: &mut Vec<u64>) -> Option<()> {
        arrivals_ns.clear();
        for line in (1..self.lines).map(offset) {
            if self.region.double_word(line + 8).load(Ordering::Acquire) < number {
                return None;
            }
            arrivals_ns.push(self.region.double_word(line + 16).load(Ordering::Relaxed));
        }
        arrivals_ns.sort_unstable();
        Some(())
    }

    /// How far each party has come.
    pub fn all_progress(&self) -> impl Iterator<Item = Progress> {
        (0..self.lines).map(|line| self.progress(line))
    }

    /// Messages that all have received who do: everyone but the party with the first line.
    pub fn received_by_all(&self) -> u64 {
        if self.own.is_some() {
            // Nobody notes here what has come there.
            return u64::MAX;
        }
        (1..self.lines).map(|line| self.progress(line).received).min().unwrap_or_default()
    }
}

/// Hands over the number of the last message, and waits until it is known on the other host.
fn carry(carrier: BorrowedHandle<'_>, sequence: u64) -> io::Result<()> {
    handle::write(carrier, &sequence.to_le_bytes())?;
    handle::read(carrier, &mut [0]).map(drop)
}

/// Bytes of a page with so many lines.
fn size_bytes(lines: usize) -> usize {
    offset(lines).next_multiple_of(page_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_late_send_is_known_until_others_have_overwritten_it() {
        let (page, _object) = ControlPage::create(2).unwrap();
        page.announce_sent(7, 700);
        assert_eq!([page.sent(6), page.sent(7), page.sent(8)], [None, Some(700), None]);
        page.announce_sent(7 + SENT_ROOM, 1_100);
        assert_eq!([page.sent(7), page.sent(7 + SENT_ROOM)], [None, Some(1_100)]);
        let late = LateSends { all: 9, by_timer: TimerLateness { sends: 3, total_ns: 30, longest_ns: 20 } };
        page.announce_late(late);
        assert_eq!(page.late(), Some(late));
        // Nothing of it is where parties note how far they are.
        page.note(0, Progress { sent: 1, received: 2 });
        assert_eq!((page.late(), page.sent(7 + SENT_ROOM)), (Some(late), Some(1_100)));
    }
}
