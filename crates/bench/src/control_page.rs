//! A page that supervisor and roles share beside the mechanism.
//!
//! The initiator writes on it which message is the last, so that the end of that part needs no system call and no
//! word in a message. Each role notes how far it has come in a line that only it writes, so that the
//! supervisor can tell a lost message from a slow one; in the measured loop only the responder does. Nobody
//! waits for anything on it.

use furlong_model::Role;
use furlong_os::memory::{Region, anonymous_object, page_bytes};
use furlong_os::{BorrowedHandle, Handle};
use std::io;
use std::sync::atomic::Ordering;

/// Offset of the number of the message after which the measured part ends.
const LAST: usize = 0;

/// Offset of the time at which the measured part began, in nanoseconds of the clock that both roles read.
const START: usize = 8;

/// Offset of the number of messages in the measured part that were sent late.
const LATE: usize = 16;

/// Offset of each role's line: messages sent, then messages received.
const PROGRESS: [usize; 2] = [128, 256];

/// The page, mapped.
#[derive(Debug)]
pub struct ControlPage(Region);

/// How far a role has come: messages since the trial began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl ControlPage {
    /// A new page and the descriptor by which roles map it.
    pub(crate) fn create() -> io::Result<(ControlPage, Handle)> {
        use furlong_os::AsHandle;
        let object = anonymous_object("furlong-control-page", page_bytes())?;
        let control_page = ControlPage::open(object.as_handle())?;
        Ok((control_page, object))
    }

    /// Maps the page of a descriptor.
    pub(crate) fn open(object: BorrowedHandle<'_>) -> io::Result<ControlPage> {
        Region::of_file(object, page_bytes()).map(ControlPage)
    }

    /// Announces when the measured part began, before its first message is sent.
    pub(crate) fn announce_start(&self, now_ns: u64) {
        self.0.double_word(START).store(now_ns, Ordering::Release);
    }

    /// When the measured part began, for whoever has received a message of it.
    pub(crate) fn start(&self) -> u64 {
        self.0.double_word(START).load(Ordering::Acquire)
    }

    /// Announces how many messages of it were sent later than they were due, before the last one is sent.
    pub(crate) fn announce_late(&self, messages: u64) {
        self.0.double_word(LATE).store(messages, Ordering::Release);
    }

    /// How many messages of it were sent late, for whoever has received the last one.
    pub(crate) fn late(&self) -> u64 {
        self.0.double_word(LATE).load(Ordering::Acquire)
    }

    /// Announces the number of the last message of it, before it is sent.
    pub(crate) fn announce_last(&self, sequence: u64) {
        self.0.double_word(LAST).store(sequence, Ordering::Release);
    }

    /// Whether `sequence` is the last message of it. The announcement was made before it was sent.
    #[inline]
    pub(crate) fn is_last(&self, sequence: u64) -> bool {
        self.0.double_word(LAST).load(Ordering::Acquire) == sequence
    }

    /// Notes how far `role` has come.
    #[inline]
    pub(crate) fn note(&self, role: Role, progress: Progress) {
        let line = PROGRESS[role.index()];
        self.0.double_word(line).store(progress.sent, Ordering::Relaxed);
        self.0.double_word(line + 8).store(progress.received, Ordering::Relaxed);
    }

    /// How far `role` has come.
    pub(crate) fn progress(&self, role: Role) -> Progress {
        let line = PROGRESS[role.index()];
        Progress {
            sent: self.0.double_word(line).load(Ordering::Relaxed),
            received: self.0.double_word(line + 8).load(Ordering::Relaxed),
        }
    }
}
