//! A page that the supervisor and the roles share, in addition to the mechanism.
//!
//! The initiator writes the number of the last message on it, so that the end of the measured part needs no system call
//! and no word in a message. Each role writes its progress to a separate line, so that the supervisor can distinguish a
//! lost message from a slow one. In the measured loop of a pair only the responder does so. No process blocks on the
//! page: a loop that needs the progress of another party polls the page and yields its CPU.
//!
//! Roles on two hosts share no memory, so each host has a separate page. The number of the last message is then carried
//! to the other host, and the message is not sent before its number is known there.

use crate::schedule::LateSends;
use furlong_model::{FAN_OUT_BOUND, TimerLateness};
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

/// Offset of the sends that the sender's timer made late: their number, total lateness and maximum lateness, in
/// nanoseconds.
const TIMER_LATE: usize = 24;

/// Offset of the last messages that the timer made late, each with its number and the time of its send.
const SENT: usize = 48;

/// Number of such messages that the page holds. A receiver that is further behind treats such a message as sent when it
/// was due.
const SENT_ROOM: u64 = 4;

/// Offset within a line of the number of the last message of its party, if several parties send.
const LAST_OF_LINE: usize = 24;

/// Messages whose times of arrival the page holds for each receiver.
const ARRIVALS: usize = FAN_OUT_BOUND as usize;

/// Bytes of a line: two cache lines, because CPUs fetch one with the other.
const LINE_BYTES: usize = 128;

/// Returns the offset of the line with this index, from 0 on. A line holds the number of messages sent, the number of the last
/// message received, and the number at `LAST_OF_LINE`. The times of arrival of each receiver follow all lines.
const fn offset(line: usize) -> usize {
    LINE_BYTES * (1 + line)
}

/// The mapped page.
#[derive(Debug)]
pub struct ControlPage {
    region: Region,
    lines: usize,
    /// State of a page that only the roles of this host share; `None` if all roles share the page.
    own: Option<OwnPage>,
}

/// Connection to the page on the other host.
#[derive(Debug)]
struct OwnPage {
    /// Handle that carries the number of the last message there, and confirms its arrival; only the initiator has one.
    carrier: Option<Handle>,
}

/// Progress of a party: messages since the trial began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Messages sent; for a receiver of messages one way, the messages that it received.
    pub sent: u64,
    /// Number of the message that was received last.
    pub received: u64,
}

impl ControlPage {
    /// Creates a page with this number of lines, and the descriptor through which roles map it.
    pub fn create(lines: usize) -> io::Result<(ControlPage, Handle)> {
        let object = anonymous_object("furlong-control-page", size_bytes(lines))?;
        let control_page = ControlPage::open(object.as_handle(), lines)?;
        Ok((control_page, object))
    }

    /// Maps the page of a descriptor.
    pub fn open(object: BorrowedHandle<'_>, lines: usize) -> io::Result<ControlPage> {
        Ok(ControlPage { region: Region::from_file(object, size_bytes(lines))?, lines, own: None })
    }

    /// Turns the page into one of two, the other of which is on another host. Announcements are carried there through
    /// `carrier`.
    pub fn on_one_host(self, carrier: Option<Handle>) -> ControlPage {
        ControlPage { own: Some(OwnPage { carrier }), ..self }
    }

    /// Returns whether the other role's page is on another host. If so, the last message is not sent before its number
    /// is known there.
    pub fn is_of_one_host(&self) -> bool {
        self.own.is_some()
    }

    /// Announces the start of a stream when the responder's first message has arrived, if the initiator is on another
    /// host: its clock cannot be compared with the responder's.
    pub fn begin_here(&self, now_ns: u64) {
        if self.own.is_some() {
            self.announce_start(now_ns);
        }
    }

    /// Announces when the measured part began, before its first message is sent.
    pub fn announce_start(&self, now_ns: u64) {
        self.region.double_word(START).store(now_ns, Ordering::Release);
    }

    /// Returns when the measured part began, for a role that has received a message of it.
    pub fn start(&self) -> u64 {
        self.region.double_word(START).load(Ordering::Acquire)
    }

    /// Announces which messages of the part were sent later than they were due, before the last one is sent.
    pub fn announce_late(&self, late: LateSends) {
        let TimerLateness { sends, total_ns, longest_ns } = late.by_timer;
        for (at, number) in [sends, total_ns, longest_ns].into_iter().enumerate() {
            self.region.double_word(TIMER_LATE + 8 * at).store(number, Ordering::Relaxed);
        }
        self.region.double_word(LATE).store(late.all, Ordering::Release);
    }

    /// Returns which messages of the part were sent late, for a role that has received the last one; `None` between
    /// hosts.
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
        // The sender may be replacing the entry by that of another message.
        (before == sequence && number() == sequence).then_some(sent_ns)
    }

    /// Announces the number of the last message of the part, before that message is sent.
    pub fn announce_last(&self, sequence: u64) {
        self.region.double_word(LAST).store(sequence, Ordering::Release);
        if let Some(OwnPage { carrier: Some(carrier) }) = &self.own {
            // A failure is ignored, because the supervisor watches the carrier: if it has exited, the trial ends with
            // that reason.
            let _ = carry(carrier.as_handle(), sequence);
        }
    }

    /// Returns whether `sequence` is the last message of the part. The announcement was made before that message was
    /// sent.
    #[inline]
    pub fn is_last(&self, sequence: u64) -> bool {
        self.region.double_word(LAST).load(Ordering::Acquire) == sequence
    }

    /// Returns the number of the last message of the part; `u64::MAX` while more messages will follow.
    #[inline]
    pub fn last(&self) -> u64 {
        self.region.double_word(LAST).load(Ordering::Acquire)
    }

    /// Announces the number of the last message of one of several senders, the one with this line, before it is sent.
    pub fn announce_last_of(&self, line: usize, sequence: u64) {
        self.region.double_word(offset(line) + LAST_OF_LINE).store(sequence, Ordering::Release);
    }

    /// Returns the number of the last message of the sender with this line; `u64::MAX` while more messages will follow.
    #[inline]
    pub fn last_of(&self, line: usize) -> u64 {
        self.region.double_word(offset(line) + LAST_OF_LINE).load(Ordering::Acquire)
    }

    /// Waits until a start is announced that differs from the start of the previous part.
    pub fn wait_for_start(&self, start_before: u64) {
        while self.start() == start_before {
            cpu::yield_now();
        }
    }

    /// Writes the progress of a party to its line.
    #[inline]
    pub fn note(&self, line: usize, progress: Progress) {
        let line = offset(line);
        self.region.double_word(line).store(progress.sent, Ordering::Relaxed);
        self.region.double_word(line + 8).store(progress.received, Ordering::Relaxed);
    }

    /// Returns the progress of the party with this line.
    pub fn progress(&self, line: usize) -> Progress {
        let line = offset(line);
        Progress {
            sent: self.region.double_word(line).load(Ordering::Relaxed),
            received: self.region.double_word(line + 8).load(Ordering::Relaxed),
        }
    }

    /// Returns the offset of the time at which the party with this line got a message.
    fn arrival(&self, line: usize, number: u64) -> usize {
        offset(self.lines) + 8 * (line * ARRIVALS + number as usize % ARRIVALS)
    }

    /// Writes when a party received a message, and its progress with that message.
    #[inline]
    pub fn note_arrival(&self, line: usize, Progress { sent, received }: Progress, now_ns: u64) {
        self.region.double_word(self.arrival(line, received)).store(now_ns, Ordering::Relaxed);
        let line = offset(line);
        self.region.double_word(line).store(sent, Ordering::Relaxed);
        // Release: a party that reads the number also reads the time.
        self.region.double_word(line + 8).store(received, Ordering::Release);
    }

    /// Allocates room for one arrival time per receiver.
    pub fn room_for_arrivals(&self) -> Vec<u64> {
        Vec::with_capacity(self.lines)
    }

    /// Writes the times at which the receivers got the message with this number to `arrivals_ns`, in order; returns
    /// `None` until all have it. It must be one of the last [`FAN_OUT_BOUND`] messages.
    pub fn arrivals(&self, number: u64, arrivals_ns: &mut Vec<u64>) -> Option<()> {
        arrivals_ns.clear();
        for line in 1..self.lines {
            if self.region.double_word(offset(line) + 8).load(Ordering::Acquire) < number {
                return None;
            }
            let time = self.region.double_word(self.arrival(line, number));
            arrivals_ns.push(time.load(Ordering::Relaxed));
        }
        arrivals_ns.sort_unstable();
        Some(())
    }

    /// Returns the progress of each party.
    pub fn all_progress(&self) -> impl Iterator<Item = Progress> {
        (0..self.lines).map(|line| self.progress(line))
    }

    /// Returns the number of messages that all receivers have: all parties but that with the first line.
    pub fn received_by_all(&self) -> u64 {
        if self.own.is_some() {
            // The receiver's progress is on the page of the other host.
            return u64::MAX;
        }
        (1..self.lines).map(|line| self.progress(line).received).min().unwrap_or_default()
    }
}

/// Sends the number of the last message to the other host, and waits until it is known there.
fn carry(carrier: BorrowedHandle<'_>, sequence: u64) -> io::Result<()> {
    handle::write(carrier, &sequence.to_le_bytes())?;
    handle::read(carrier, &mut [0]).map(drop)
}

/// Returns the size of a page with this number of lines.
fn size_bytes(lines: usize) -> usize {
    (offset(lines) + 8 * lines * ARRIVALS).next_multiple_of(page_bytes())
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
        // The progress of the parties and the arrivals do not overlap this data.
        page.note_arrival(1, Progress { sent: 3, received: 3 }, 30);
        page.note_arrival(1, Progress { sent: 4, received: 4 }, 40);
        let mut arrivals_ns = page.room_for_arrivals();
        for (number, expected) in [(3, &[30][..]), (4, &[40])] {
            assert_eq!((page.arrivals(number, &mut arrivals_ns), &arrivals_ns[..]), (Some(()), expected));
        }
        assert_eq!(page.arrivals(5, &mut arrivals_ns), None);
        page.note(0, Progress { sent: 1, received: 2 });
        assert_eq!((page.late(), page.sent(7 + SENT_ROOM)), (Some(late), Some(1_100)));
    }
}
