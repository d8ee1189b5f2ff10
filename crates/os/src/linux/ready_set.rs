//! Sleeping until one of several descriptors can be read, and finding it: `select`, `poll`, `io_uring`; `epoll` watches several
//! descriptors in the same way as one ([`Epoll`](crate::linux::readiness::Epoll)).
//!
//! A set stores the numbers of descriptors. Its creator keeps the descriptors open.

use crate::error::{check, retry};
use crate::linux::handle::own;
use crate::linux::io_uring::{Ring, Submission};
use crate::linux::readiness::to_poll;
use crate::wait::Interest;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Upper bound (exclusive) of the descriptors that [`select`](SelectSet) can watch (FD_SETSIZE).
pub const SELECTABLE: RawFd = libc::FD_SETSIZE as RawFd;

/// Moves a descriptor to a number that `select` cannot watch, so that a smaller number is free. It keeps its number if no such
/// number may be used (RLIMIT_NOFILE): then `select` can watch all descriptors.
///
/// # Errors
/// Returns an error if no descriptor is free.
pub fn out_of_the_way(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    match duplicate_from(&descriptor, SELECTABLE) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(descriptor),
        moved => moved,
    }
}

/// Duplicates the descriptor to the smallest free number from `least`.
fn duplicate_from(descriptor: &impl AsRawFd, least: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_DUPFD_CLOEXEC takes a plain integer; the new descriptor has no other owner.
    check(unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, least) })
        .map(|number| unsafe { own(number) })
}

/// Descriptors that `select` watches.
#[derive(Debug)]
pub struct SelectSet {
    all: libc::fd_set,
    highest: RawFd,
    /// Index of each number in the list of descriptors.
    index: Vec<usize>,
    /// Duplicates of descriptors with too large numbers.
    _moved: Vec<OwnedFd>,
}

impl SelectSet {
    /// Watches these descriptors.
    ///
    /// # Errors
    /// Returns `InvalidInput` if there are more than `select` can watch.
    pub fn new(descriptors: &[BorrowedFd<'_>]) -> io::Result<SelectSet> {
        // SAFETY: zeroes are an empty set.
        let mut all: libc::fd_set = unsafe { std::mem::zeroed() };
        let (mut highest, mut index, mut moved) = (0, vec![0; libc::FD_SETSIZE], Vec::new());
        for (place, descriptor) in descriptors.iter().enumerate() {
            let mut number = descriptor.as_raw_fd();
            if number >= SELECTABLE {
                let low = duplicate_from(descriptor, 0)?;
                number = low.as_raw_fd();
                moved.push(low);
            }
            let owner = index.get_mut(number as usize).ok_or(io::ErrorKind::InvalidInput)?;
            *owner = place;
            highest = highest.max(number);
            // SAFETY: the number is below FD_SETSIZE.
            unsafe { libc::FD_SET(number, &raw mut all) };
        }
        Ok(SelectSet { all, highest, index, _moved: moved })
    }

    /// Sleeps until a descriptor can be read, and returns its index.
    #[inline]
    pub fn wait(&mut self) -> io::Result<usize> {
        let mut ready = self.all;
        let none = std::ptr::null_mut();
        retry(|| {
            ready = self.all;
            // SAFETY: the set is ours, all numbers in it are at most the highest, and no timeout is passed.
            unsafe { libc::select(self.highest + 1, &raw mut ready, none, none, std::ptr::null_mut()) }
        })?;
        // SAFETY: the number is below FD_SETSIZE.
        let first = (0..=self.highest).find(|number| unsafe { libc::FD_ISSET(*number, &raw const ready) });
        first.map(|number| self.index[number as usize]).ok_or_else(|| nothing("select"))
    }
}

/// Descriptors that `poll` watches.
#[derive(Debug)]
pub struct PollSet(Vec<libc::pollfd>);

impl PollSet {
    /// Watches these descriptors.
    pub fn new(descriptors: &[BorrowedFd<'_>]) -> PollSet {
        PollSet(descriptors.iter().map(|descriptor| to_poll(*descriptor, Interest::Readable)).collect())
    }

    /// Sleeps until a descriptor can be read, and returns its index.
    #[inline]
    pub fn wait(&mut self) -> io::Result<usize> {
        // SAFETY: the count is that of the vector.
        retry(|| unsafe { libc::poll(self.0.as_mut_ptr(), self.0.len() as libc::nfds_t, -1) })?;
        self.0.iter().position(|watched| watched.revents != 0).ok_or_else(|| nothing("poll"))
    }
}

/// Descriptors that each have a poll in flight in a ring of this thread. A descriptor that was ready is polled again, by the call
/// that waits for the next one.
#[derive(Debug)]
pub struct RingSet {
    ring: Ring,
    descriptors: Vec<RawFd>,
    found: Option<usize>,
}

impl RingSet {
    /// Watches these descriptors.
    pub fn new(descriptors: &[BorrowedFd<'_>]) -> io::Result<RingSet> {
        let mut ring = Ring::new(Submission::Own)?;
        let descriptors: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
        for (place, number) in descriptors.iter().enumerate() {
            ring.begin_poll(*number, place as u64)?;
        }
        Ok(RingSet { ring, descriptors, found: None })
    }

    /// Sleeps until a descriptor can be read, and returns its index.
    #[inline]
    pub fn wait(&mut self) -> io::Result<usize> {
        let again = self.found.take().map(|place| (self.descriptors[place], place as u64));
        let place = self.ring.next_polled(again)? as usize;
        self.found = Some(place);
        Ok(place)
    }
}

fn nothing(call: &str) -> io::Error {
    io::Error::other(format!("{call} has returned and no descriptor is ready"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::{read, write};
    use crate::linux::pipe::pipe;
    use crate::linux::readiness::Epoll;
    use furlong_testing::skip;
    use std::os::fd::AsFd;

    /// Checks that each of 300 pipes is found after a write, and is found again until it is empty.
    fn finds(mut wait: impl FnMut() -> io::Result<usize>, pipes: &[(OwnedFd, OwnedFd)]) {
        for step in 0..600 {
            let place = step * 7 % pipes.len();
            write(pipes[place].1.as_fd(), b"ab").unwrap();
            for _ in 0..2 {
                assert_eq!(wait().unwrap(), place);
                assert_eq!(read(pipes[place].0.as_fd(), &mut [0; 1]).unwrap(), 1);
            }
        }
    }

    #[test]
    fn each_way_finds_the_one_that_is_ready() {
        let pipes: Vec<_> = (0..300).map(|_| pipe().unwrap()).collect();
        let readers: Vec<_> = pipes.iter().map(|(reader, _)| reader.as_fd()).collect();
        let mut select = SelectSet::new(&readers).unwrap();
        finds(|| select.wait(), &pipes);
        let mut poll = PollSet::new(&readers);
        finds(|| poll.wait(), &pipes);
        let epoll = Epoll::new(&readers, Interest::Readable).unwrap();
        finds(|| epoll.wait(), &pipes);
        let Ok(mut ring) = RingSet::new(&readers) else { skip!("needs io_uring") };
        finds(|| ring.wait(), &pipes);
    }

    #[test]
    fn what_is_out_of_the_way_is_watched_all_the_same() {
        let (reader, writer) = pipe().unwrap();
        let reader = out_of_the_way(reader).unwrap();
        // If no such number may be used, the reader keeps its own.
        let is_allowed = duplicate_from(&writer, SELECTABLE).is_ok();
        assert_eq!(reader.as_raw_fd() >= SELECTABLE, is_allowed);
        let mut select = SelectSet::new(&[reader.as_fd()]).unwrap();
        write(writer.as_fd(), b"a").unwrap();
        assert_eq!(select.wait().unwrap(), 0);
    }
}
