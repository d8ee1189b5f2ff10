//! Rings of requests and completions that a process shares with the kernel.
//!
//! Implemented here because the existing crate cannot map a ring that another process has created, and because six kinds of
//! requests are enough. A request for memory of this process is never left in flight: its function waits for the completion, so a
//! borrow is enough.

use crate::cpu;
use crate::error::{Context, check};
use crate::linux::handle::own;
use crate::linux::memory::Region;
use crate::linux::readiness::events;
use crate::linux::socket::send;
use crate::wait::Interest;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{Ordering, fence};

/// Submitter of the requests in the ring, which determines how its user waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submission {
    /// The user of the ring, with the system call that waits for the completion.
    Own,
    /// A kernel thread, which polls the ring for `IDLE_MS` after the last request.
    KernelThread,
}

/// Milliseconds for which the kernel thread polls before it sleeps.
const IDLE_MS: u32 = 50;

/// Number of requests in a ring, and half of the completions.
const ENTRIES: u32 = 64;

/// Minimum number of completions in a ring.
pub const COMPLETIONS: usize = 2 * ENTRIES as usize;

const SETUP_SQPOLL: u32 = 1 << 1;
const SETUP_SINGLE_ISSUER: u32 = 1 << 12;
const SETUP_DEFER_TASKRUN: u32 = 1 << 13;
const FEATURE_SINGLE_MMAP: u32 = 1;
const ENTER_GETEVENTS: u32 = 1;
const ENTER_SQ_WAKEUP: u32 = 1 << 1;
const SQ_NEED_WAKEUP: u32 = 1;
const SQ_COMPLETIONS_OVERFLOW: u32 = 1 << 1;
const OFFSET_ENTRIES: i64 = 0x1000_0000;
const OPERATION_POLL: u8 = 6;
const OPERATION_READ: u8 = 22;
const OPERATION_WRITE: u8 = 23;
const OPERATION_SEND: u8 = 26;
const OPERATION_RECEIVE: u8 = 27;
const OPERATION_MESSAGE: u8 = 40;
const ENTRY_SKIP_COMPLETION: u8 = 1 << 6;

/// `struct io_sqring_offsets`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
struct RequestOffsets {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    flags: u32,
    dropped: u32,
    array: u32,
    reserved: [u32; 3],
}

/// `struct io_cqring_offsets`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
struct CompletionOffsets {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    overflow: u32,
    entries: u32,
    flags: u32,
    reserved: [u32; 3],
}

/// `struct io_uring_params`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
struct Parameters {
    sq_entries: u32,
    cq_entries: u32,
    flags: u32,
    sq_thread_cpu: u32,
    sq_thread_idle: u32,
    features: u32,
    wq_fd: u32,
    reserved: [u32; 3],
    requests: RequestOffsets,
    completions: CompletionOffsets,
}

/// `struct io_uring_sqe`, as far as it is used.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
struct Request {
    operation: u8,
    flags: u8,
    priority: u16,
    fd: i32,
    offset: u64,
    address: u64,
    length: u32,
    operation_flags: u32,
    user_data: u64,
    rest: [u64; 3],
}

/// `struct io_uring_cqe`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Completion {
    user_data: u64,
    result: i32,
    flags: u32,
}

/// Offsets in the memory of a ring, to be passed to the process that maps it, because the kernel reports them only to the
/// creator.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    request_head: u32,
    request_tail: u32,
    request_flags: u32,
    request_array: u32,
    completion_head: u32,
    completion_tail: u32,
    completions: u32,
}

impl Layout {
    /// Returns the offsets as plain numbers.
    pub fn numbers(self) -> [i32; 7] {
        let Layout {
            request_head,
            request_tail,
            request_flags,
            request_array,
            completion_head,
            completion_tail,
            completions,
        } = self;
        [
            request_head,
            request_tail,
            request_flags,
            request_array,
            completion_head,
            completion_tail,
            completions,
        ]
        .map(|number| number as i32)
    }

    /// Creates a layout from [`numbers`](Layout::numbers).
    pub fn of(numbers: [i32; 7]) -> Layout {
        let [
            request_head,
            request_tail,
            request_flags,
            request_array,
            completion_head,
            completion_tail,
            completions,
        ] = numbers.map(|number| number as u32);
        Layout {
            request_head,
            request_tail,
            request_flags,
            request_array,
            completion_head,
            completion_tail,
            completions,
        }
    }
}

/// Creates a ring for the process that maps it.
///
/// # Errors
/// Returns the kernel's error, or `Unsupported` before Linux 5.4.
pub fn create(submission: Submission) -> io::Result<(OwnedFd, Layout)> {
    match submission {
        Submission::KernelThread => set_up(SETUP_SQPOLL),
        Submission::Own => set_up(0),
    }
}

fn set_up(flags: u32) -> io::Result<(OwnedFd, Layout)> {
    let mut parameters = Parameters { flags, sq_thread_idle: IDLE_MS, ..Parameters::default() };
    // SAFETY: the kernel reads and writes one structure; the new descriptor has no other owner.
    let handle = unsafe {
        check(libc::syscall(libc::SYS_io_uring_setup, ENTRIES, &raw mut parameters))
            .map(|number| own(number as libc::c_int))
            .context(|| "io_uring_setup")?
    };
    if parameters.features & FEATURE_SINGLE_MMAP == 0 {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "io_uring is older than Linux 5.4 here"));
    }
    let Parameters { requests, completions, .. } = parameters;
    let layout = Layout {
        request_head: requests.head,
        request_tail: requests.tail,
        request_flags: requests.flags,
        request_array: requests.array,
        completion_head: completions.head,
        completion_tail: completions.tail,
        completions: completions.entries,
    };
    Ok((handle, layout))
}

/// A ring that this process has mapped and uses alone.
#[derive(Debug)]
pub struct Ring {
    handle: OwnedFd,
    layout: Layout,
    rings: Region,
    entries: Region,
    submission: Submission,
}

impl Ring {
    /// Creates a ring of this thread.
    pub fn new(submission: Submission) -> io::Result<Ring> {
        let plainest = || create(submission);
        let (handle, layout) = match submission {
            // A ring that only one thread uses is cheaper, from Linux 6.1 on.
            Submission::Own => set_up(SETUP_SINGLE_ISSUER | SETUP_DEFER_TASKRUN).or_else(|_| plainest())?,
            Submission::KernelThread => plainest()?,
        };
        Ring::of(handle, layout, submission)
    }

    /// Maps the ring of a handle, with the layout that its creator received.
    pub fn of(handle: OwnedFd, layout: Layout, submission: Submission) -> io::Result<Ring> {
        let ring_bytes = (layout.request_array as usize + ENTRIES as usize * size_of::<u32>())
            .max(layout.completions as usize + COMPLETIONS * size_of::<Completion>());
        let rings = Region::from_device_at(handle.as_fd(), 0, ring_bytes)?;
        let entry_bytes = ENTRIES as usize * size_of::<Request>();
        let entries = Region::from_device_at(handle.as_fd(), OFFSET_ENTRIES, entry_bytes)?;
        for index in 0..ENTRIES {
            rings.word((layout.request_array + 4 * index) as usize).store(index, Ordering::Relaxed);
        }
        Ok(Ring { handle, layout, rings, entries, submission })
    }

    /// Reads once.
    #[inline]
    pub fn read(&mut self, fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        self.transfer(OPERATION_READ, fd, buffer.as_mut_ptr() as u64, buffer.len())
    }

    /// Writes once, which may write fewer bytes.
    #[inline]
    pub fn write(&mut self, fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
        self.transfer(OPERATION_WRITE, fd, bytes.as_ptr() as u64, bytes.len())
    }

    /// Receives once from a socket.
    #[inline]
    pub fn receive(&mut self, socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        self.transfer(OPERATION_RECEIVE, socket, buffer.as_mut_ptr() as u64, buffer.len())
    }

    /// Sends once through a socket, which may send fewer bytes.
    #[inline]
    pub fn send(&mut self, socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
        self.transfer(OPERATION_SEND, socket, bytes.as_ptr() as u64, bytes.len())
    }

    /// Sends `bytes` through each of these sockets, with one call for as many sockets as fit in the ring. Waits until all bytes
    /// are sent.
    ///
    /// # Errors
    /// Returns the error of a [`send`](Ring::send) through one of them; some of the others may have sent the bytes.
    #[inline]
    pub fn send_to_all(&mut self, sockets: &[OwnedFd], bytes: &[u8]) -> io::Result<()> {
        for some in sockets.chunks(ENTRIES as usize) {
            for (place, socket) in some.iter().enumerate() {
                self.put(place as u32, send_request(socket, bytes, place as u64));
            }
            let count = some.len() as u32;
            self.hand_over(count, count)?;
            let mut sent = Ok(());
            for _ in some {
                let Completion { result, user_data, .. } = self.completed();
                let by = some[user_data as usize].as_fd();
                let rest = match result {
                    result if result as usize == bytes.len() => Ok(()),
                    result if result >= 0 => send_rest(by, &bytes[result as usize..]),
                    result if -result == libc::EINTR => send_rest(by, bytes),
                    result => Err(io::Error::from_raw_os_error(-result)),
                };
                sent = sent.and(rest);
            }
            sent?;
        }
        Ok(())
    }

    /// Makes one request for memory that the caller has borrowed for the whole call, and returns its result.
    #[inline]
    fn transfer(&mut self, operation: u8, fd: BorrowedFd<'_>, address: u64, len: usize) -> io::Result<usize> {
        let no_signal = if operation == OPERATION_SEND { libc::MSG_NOSIGNAL as u32 } else { 0 };
        loop {
            let request = Request {
                operation,
                fd: fd.as_raw_fd(),
                // Minus one is the current position of the file; a pipe has none.
                offset: if matches!(operation, OPERATION_READ | OPERATION_WRITE) { u64::MAX } else { 0 },
                address,
                length: u32::try_from(len).unwrap_or(1 << 30),
                operation_flags: no_signal,
                ..Request::default()
            };
            self.submit(request, 1)?;
            match self.completed().result {
                result if result >= 0 => return Ok(result as usize),
                result if -result == libc::EINTR => {}
                result => return Err(io::Error::from_raw_os_error(-result)),
            }
        }
    }

    /// Waits for the completion of a request for borrowed memory. Until then the kernel uses the memory, even if a call fails.
    #[inline]
    fn completed(&mut self) -> Completion {
        loop {
            match self.take() {
                Some(completion) => return completion,
                None => drop(self.enter(0, 1, ENTER_GETEVENTS)),
            }
        }
    }

    /// Starts a poll until a descriptor can be read: then [`next_polled`](Ring::next_polled) returns `value`.
    pub fn begin_poll(&mut self, fd: RawFd, value: u64) -> io::Result<()> {
        self.submit(poll_request(fd, Interest::Readable, value), 0)
    }

    /// Waits for the next completed poll and returns its value. Before that, and in the same system call, starts the poll of
    /// `again`.
    ///
    /// # Errors
    /// Returns the reason why a descriptor cannot be polled.
    #[inline]
    pub fn next_polled(&mut self, again: Option<(RawFd, u64)>) -> io::Result<u64> {
        if let Some((fd, value)) = again {
            self.submit(poll_request(fd, Interest::Readable, value), 1)?;
        }
        loop {
            match self.take() {
                Some(Completion { result, user_data, .. }) if result >= 0 => return Ok(user_data),
                Some(failed) => return Err(io::Error::from_raw_os_error(-failed.result)),
                None => self.enter(0, 1, ENTER_GETEVENTS).or_else(self::again)?,
            }
        }
    }

    /// Sleeps until a descriptor can be read or written.
    #[inline]
    pub fn poll(&mut self, fd: BorrowedFd<'_>, interest: Interest) -> io::Result<()> {
        self.submit(poll_request(fd.as_raw_fd(), interest, 0), 1)?;
        self.next_polled(None).map(drop)
    }

    /// Puts a completion with this value into another ring, and wakes its user if it waits.
    #[inline]
    pub fn message(&mut self, other: BorrowedFd<'_>, value: u64) -> io::Result<()> {
        let request = Request {
            operation: OPERATION_MESSAGE,
            flags: ENTRY_SKIP_COMPLETION,
            fd: other.as_raw_fd(),
            offset: value,
            ..Request::default()
        };
        self.submit(request, 0)
    }

    /// Returns the value of the next message in this ring.
    ///
    /// # Errors
    /// Returns `WouldBlock` if there is none and `wait` is false. Returns another error if a message of this process could not be
    /// put into the other ring.
    #[inline]
    pub fn next_message(&mut self, wait: bool) -> io::Result<u64> {
        loop {
            match self.take() {
                Some(Completion { result: 0, user_data, .. }) => return Ok(user_data),
                Some(failed) => return Err(io::Error::from_raw_os_error(-failed.result)),
                // The kernel puts completions that did not fit into the ring only during a call.
                None if self.flag(SQ_COMPLETIONS_OVERFLOW) => self.enter(0, 0, ENTER_GETEVENTS)?,
                None if !wait => return Err(io::ErrorKind::WouldBlock.into()),
                None => self.enter(0, 1, ENTER_GETEVENTS).or_else(again)?,
            }
        }
    }

    /// Puts a request into the ring and submits it, and waits for `completions` in the same call.
    ///
    /// # Errors
    /// Returns the kernel's error if the request was not accepted; then no request is in flight.
    #[inline]
    fn submit(&mut self, request: Request, completions: u32) -> io::Result<()> {
        self.put(0, request);
        self.hand_over(1, completions)
    }

    /// Writes a request into the entry that is `ahead` entries after the next one.
    #[inline]
    fn put(&mut self, ahead: u32, request: Request) {
        let next = self.rings.word(self.layout.request_tail as usize).load(Ordering::Relaxed);
        let slot = (next.wrapping_add(ahead) % ENTRIES) as usize * size_of::<Request>();
        // SAFETY: the place is inside the map and aligned, and the kernel reads it only once the tail is beyond it.
        unsafe { self.entries.place::<Request>(slot).write(request) };
    }

    /// Submits the next `count` entries, and waits for `completions` in the same call.
    ///
    /// # Errors
    /// Returns the kernel's error if it did not accept all of them; then no request is in flight.
    #[inline]
    fn hand_over(&mut self, count: u32, completions: u32) -> io::Result<()> {
        let tail = self.rings.word(self.layout.request_tail as usize);
        let next = tail.load(Ordering::Relaxed);
        tail.store(next.wrapping_add(count), Ordering::Release);
        if self.submission == Submission::KernelThread {
            // Orders the store of the tail before the load of the wake-up flag: otherwise the kernel thread could sleep without
            // having seen the entries.
            fence(Ordering::SeqCst);
            if self.flag(SQ_NEED_WAKEUP) {
                self.enter(0, 0, ENTER_SQ_WAKEUP).or_else(again)?;
            }
            return Ok(());
        }
        let flags = if completions > 0 { ENTER_GETEVENTS } else { 0 };
        let mut taken = 0;
        loop {
            let entered = self.enter(count - taken, completions, flags);
            let head = self.rings.word(self.layout.request_head as usize).load(Ordering::Acquire);
            taken = head.wrapping_sub(next);
            if taken == count {
                // An error here is an interrupted wait: the kernel has accepted all entries.
                return Ok(());
            }
            if let Err(error) = entered.or_else(again) {
                self.rings
                    .word(self.layout.request_tail as usize)
                    .store(next.wrapping_add(taken), Ordering::Release);
                for _ in 0..taken {
                    self.completed();
                }
                return Err(error);
            }
        }
    }

    /// Returns whether the kernel has set a flag.
    #[inline]
    fn flag(&self, flag: u32) -> bool {
        self.rings.word(self.layout.request_flags as usize).load(Ordering::Relaxed) & flag != 0
    }

    /// Takes the oldest completion, if there is one.
    #[inline]
    fn take(&mut self) -> Option<Completion> {
        let head = self.rings.word(self.layout.completion_head as usize);
        let first = head.load(Ordering::Relaxed);
        if self.rings.word(self.layout.completion_tail as usize).load(Ordering::Acquire) == first {
            return None;
        }
        let slot = self.layout.completions as usize + first as usize % COMPLETIONS * size_of::<Completion>();
        // SAFETY: the place is inside the map and aligned, and the kernel does not write it until the head is beyond it.
        let completion = unsafe { self.rings.place::<Completion>(slot).read() };
        head.store(first.wrapping_add(1), Ordering::Release);
        Some(completion)
    }

    /// Makes one `io_uring_enter` call.
    #[inline]
    fn enter(&self, submit: u32, wait_for: u32, flags: u32) -> io::Result<()> {
        let none = std::ptr::null::<libc::sigset_t>();
        // SAFETY: only the ring's own memory is involved.
        check(unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.handle.as_raw_fd(),
                submit,
                wait_for,
                flags,
                none,
                0usize,
            )
        })
        .map(drop)
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Returns a request to send all bytes through a socket. The caller borrows the bytes until its completion.
#[inline]
fn send_request(socket: &OwnedFd, bytes: &[u8], value: u64) -> Request {
    Request {
        operation: OPERATION_SEND,
        fd: socket.as_raw_fd(),
        address: bytes.as_ptr() as u64,
        length: u32::try_from(bytes.len()).unwrap_or(1 << 30),
        operation_flags: (libc::MSG_NOSIGNAL | libc::MSG_WAITALL) as u32,
        user_data: value,
        ..Request::default()
    }
}

/// Sends the remaining bytes of a request, because kernels before 5.19 may complete it early.
#[cold]
fn send_rest(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    let mut sent = 0;
    while sent < bytes.len() {
        sent += send(socket, &bytes[sent..])?;
    }
    Ok(())
}

/// Returns a poll request that completes once a descriptor can be read or written.
#[inline]
fn poll_request(fd: RawFd, interest: Interest, value: u64) -> Request {
    let events = events(interest) as u32;
    // The kernel swaps the halves of this word on big-endian machines.
    let events = if cfg!(target_endian = "big") { events << 16 } else { events };
    Request { operation: OPERATION_POLL, fd, operation_flags: events, user_data: value, ..Request::default() }
}

/// Returns `Ok` if the kernel asks for another call, and otherwise the error.
#[cold]
fn again(error: io::Error) -> io::Result<()> {
    match error.raw_os_error() {
        Some(libc::EINTR) => Ok(()),
        Some(libc::EAGAIN | libc::EBUSY) => {
            cpu::yield_now();
            Ok(())
        }
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::pipe::pipe;
    use crate::linux::socket::{Kind, socketpair};
    use furlong_testing::skip;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;

    /// Shuts a socket down, even if a process that another test has forked holds a copy of it.
    fn shut(socket: OwnedFd) {
        UnixStream::from(socket).shutdown(Shutdown::Both).unwrap();
    }

    #[test]
    fn what_is_written_is_read_whoever_submits_it() {
        for submission in [Submission::Own, Submission::KernelThread] {
            let Ok(mut ring) = Ring::new(submission) else { skip!("needs io_uring") };
            let (reader, writer) = pipe().unwrap();
            let (ours, theirs) = socketpair(Kind::Stream).unwrap();
            let mut buffer = [0; 5];
            // More operations than the ring has entries.
            for _ in 0..3 * ENTRIES {
                assert_eq!(ring.write(writer.as_fd(), b"hello").unwrap(), 5);
                assert_eq!(ring.read(reader.as_fd(), &mut buffer).unwrap(), 5);
                assert_eq!(ring.send(ours.as_fd(), &buffer).unwrap(), 5);
                assert_eq!(ring.receive(theirs.as_fd(), &mut buffer).unwrap(), 5);
            }
            assert_eq!(&buffer, b"hello");
            assert!(ring.send(writer.as_fd(), b"to no socket").is_err());
            shut(theirs);
            assert_eq!(ring.send(ours.as_fd(), b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        }
    }

    #[test]
    fn one_call_sends_by_all_sockets() {
        let Ok(mut ring) = Ring::new(Submission::Own) else { skip!("needs io_uring") };
        let pairs: Vec<_> = (0..=ENTRIES).map(|_| socketpair(Kind::Stream).unwrap()).collect();
        let (ours, theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        for text in [b"one", b"two"] {
            ring.send_to_all(&ours, text).unwrap();
        }
        let mut buffer = [0; 6];
        for socket in &theirs {
            assert_eq!(ring.receive(socket.as_fd(), &mut buffer).unwrap(), 6);
            assert_eq!(&buffer, b"onetwo");
        }
        theirs.into_iter().for_each(shut);
        assert_eq!(ring.send_to_all(&ours, b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        // No request is left in flight.
        assert!(ring.take().is_none());
    }

    #[test]
    fn a_message_arrives_in_the_other_ring() {
        let Ok((handle, layout)) = create(Submission::Own) else { skip!("needs io_uring") };
        let to = handle.as_fd().try_clone_to_owned().unwrap();
        let layout = Layout::of(layout.numbers());
        let mut theirs = Ring::of(handle, layout, Submission::Own).unwrap();
        let mut ours = Ring::new(Submission::Own).unwrap();
        assert_eq!(theirs.next_message(false).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        // More than fit in the ring: the kernel keeps the others.
        for value in 0..3 * COMPLETIONS as u64 {
            ours.message(to.as_fd(), value).unwrap();
        }
        for value in 0..3 * COMPLETIONS as u64 {
            assert_eq!(theirs.next_message(value % 2 == 0).unwrap(), value);
        }
    }

    #[test]
    fn a_message_that_cannot_arrive_is_an_error() {
        let Ok(mut ours) = Ring::new(Submission::Own) else { skip!("needs io_uring") };
        let (reader, _writer) = pipe().unwrap();
        ours.message(reader.as_fd(), 1).unwrap();
        assert!(ours.next_message(true).is_err());
    }
}
