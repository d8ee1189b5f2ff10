//! Round-trip loops written by hand for minimum latency: plain calls of the C library, two processes, no checks. They
//! stand for a C program, so they call the C library directly, with `unsafe`.

use furlong_os::affinity;
use furlong_os::process::{Bond, fork};
use furlong_os::{AsHandle, Handle, RawHandle};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// The mechanism that the loop uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    Pipe,
    UnixStream,
    Tcp,
    PosixMq,
    SharedMemory { sleeping: bool },
}

/// The timed round trips divided by the warm-up round trips. furlong warms up for about as long. A longer warm-up would
/// change the result: a pair that sleeps has a different pace after 100 ms than at first.
const WARM_UP: u64 = 4;

/// Offsets of the leader's and the follower's halves in the region, and of their tails.
const HALF: [usize; 2] = [0, 32];
const INLINE: usize = 16;
const TAIL: [usize; 2] = [384, 4096];
const REGION_BYTES: usize = 8192;

/// Returns the mean of `round_trips` round trips, in nanoseconds.
pub fn round_trip_ns(hand: Hand, size: usize, round_trips: u64, processors: [usize; 2]) -> io::Result<f64> {
    match hand {
        Hand::Pipe => {
            let (there, back) = (furlong_os::pipe::pipe()?, furlong_os::pipe::pipe()?);
            descriptors([back.0, there.0], [there.1, back.1], size, round_trips, processors)
        }
        Hand::UnixStream => {
            let (leader, follower) = furlong_os::socket::socketpair(furlong_os::socket::Kind::Stream)?;
            sockets(leader, follower, size, round_trips, processors)
        }
        Hand::Tcp => {
            let (leader, follower) = furlong_os::socket::tcp_pair()?;
            sockets(leader, follower, size, round_trips, processors)
        }
        Hand::PosixMq => {
            let queue = |way: &str| {
                furlong_os::linux::posix_queue::create(
                    &format!("furlong-by-hand-{}-{way}", std::process::id()),
                    1,
                    size,
                )
            };
            let (there, back) = (queue("there")?, queue("back")?);
            let (t, b) = (there.raw_handle(), back.raw_handle());
            both(round_trips, processors, |leads, count| {
                let (send, receive) = if leads { (t, b) } else { (b, t) };
                queues(leads, send, receive, size, count);
            })
        }
        Hand::SharedMemory { sleeping } => {
            let name = format!("furlong-by-hand-{}", std::process::id());
            let object = furlong_os::linux::segment::posix_shm(&name, REGION_BYTES)?;
            // SAFETY: the kernel chooses the address.
            let start = unsafe {
                let access = libc::PROT_READ | libc::PROT_WRITE;
                let fd = object.raw_handle();
                libc::mmap(std::ptr::null_mut(), REGION_BYTES, access, libc::MAP_SHARED, fd, 0)
            };
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let start = start.cast::<u8>();
            let time = both(round_trips, processors, |leads, count| {
                memory(leads, start, size, count, sleeping);
            });
            // SAFETY: mapped above, and not used any more.
            unsafe { libc::munmap(start.cast(), REGION_BYTES) };
            time
        }
    }
}

/// Returns the mean time per message of `messages` one-way messages, in nanoseconds, until the last has arrived.
pub fn message_ns(hand: Hand, size: usize, messages: u64, processors: [usize; 2]) -> io::Result<f64> {
    let (reader, writer) = match hand {
        Hand::Pipe => furlong_os::pipe::pipe()?,
        Hand::UnixStream => furlong_os::socket::socketpair(furlong_os::socket::Kind::Stream)?,
        Hand::Tcp => furlong_os::socket::tcp_pair()?,
        Hand::PosixMq | Hand::SharedMemory { .. } => return Err(io::ErrorKind::Unsupported.into()),
    };
    let (reader, writer) = (reader.raw_handle(), writer.raw_handle());
    timed_by(Clock::Follower, messages, processors, |leads, count| {
        let mut buffer = vec![0u8; size];
        for _ in 0..count {
            let mut done = 0;
            while done < size {
                // SAFETY: the rest of the buffer has `size - done` bytes.
                let moved = unsafe {
                    let rest = buffer.as_mut_ptr().add(done).cast();
                    if leads {
                        libc::write(writer, rest, size - done)
                    } else {
                        libc::read(reader, rest, size - done)
                    }
                };
                done += usize::try_from(moved).unwrap_or(size);
            }
        }
    })
}

/// The process that reads the clock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    Leader,
    Follower,
}

/// Forks leader and follower, pins them, and returns the leader's mean time per round trip.
fn both(round_trips: u64, processors: [usize; 2], run: impl Fn(bool, u64)) -> io::Result<f64> {
    timed_by(Clock::Leader, round_trips, processors, run)
}

/// Forks leader and follower, pins them, and returns the mean time of one of them per round trip.
fn timed_by(
    clock: Clock,
    round_trips: u64,
    [first, second]: [usize; 2],
    run: impl Fn(bool, u64),
) -> io::Result<f64> {
    let result = furlong_os::memory::Region::anonymous(64)?;
    let start = |processor: usize, leads: bool| {
        let (run, result) = (&run, &result);
        // This program does not list the descriptors that a child needs, so it keeps all of them: closing the rest
        // could close one that the loop uses.
        let keep: Vec<RawHandle> = (3..256).collect();
        fork(&keep, io::stderr().as_handle(), Bond::DiesWithParent, move || {
            if affinity::pin(processor).is_err() {
                return 1;
            }
            run(leads, round_trips / WARM_UP);
            let start = furlong_os::clock::now_ns();
            run(leads, round_trips);
            if leads == (clock == Clock::Leader) {
                result.double_word(0).store(furlong_os::clock::now_ns() - start, Ordering::Release);
            }
            0
        })
    };
    let (mut leader, mut follower) = (start(first, true)?, start(second, false)?);
    leader.wait();
    follower.wait();
    match result.double_word(0).load(Ordering::Acquire) {
        0 => Err(io::Error::other("the loop by hand did not finish")),
        elapsed_ns => Ok(elapsed_ns as f64 / round_trips as f64),
    }
}

fn sockets(a: Handle, b: Handle, size: usize, count: u64, processors: [usize; 2]) -> io::Result<f64> {
    descriptors([a.try_clone()?, b.try_clone()?], [a, b], size, count, processors)
}

/// Runs the loop over descriptors. `readers` and `writers` hold the leader's descriptor, then the follower's.
fn descriptors(
    readers: [Handle; 2],
    writers: [Handle; 2],
    size: usize,
    round_trips: u64,
    processors: [usize; 2],
) -> io::Result<f64> {
    let numbers = |ends: &[Handle; 2]| [ends[0].raw_handle(), ends[1].raw_handle()];
    let (readers, writers) = (numbers(&readers), numbers(&writers));
    both(round_trips, processors, |leads, count| {
        let role = usize::from(!leads);
        stream(leads, readers[role], writers[role], size, count);
    })
}

fn stream(leads: bool, reader: RawHandle, writer: RawHandle, size: usize, count: u64) {
    let mut buffer = vec![0u8; size];
    for _ in 0..count {
        // SAFETY: the buffer has `size` bytes.
        unsafe {
            if leads {
                libc::write(writer, buffer.as_ptr().cast(), size);
                libc::read(reader, buffer.as_mut_ptr().cast(), size);
            } else {
                libc::read(reader, buffer.as_mut_ptr().cast(), size);
                libc::write(writer, buffer.as_ptr().cast(), size);
            }
        }
    }
}

fn queues(leads: bool, send: RawHandle, receive: RawHandle, size: usize, count: u64) {
    let mut buffer = vec![0u8; size];
    for _ in 0..count {
        // SAFETY: the buffer has `size` bytes, the message size of both queues.
        unsafe {
            if leads {
                libc::mq_send(send, buffer.as_ptr().cast(), size, 0);
                libc::mq_receive(receive, buffer.as_mut_ptr().cast(), size, std::ptr::null_mut());
            } else {
                libc::mq_receive(receive, buffer.as_mut_ptr().cast(), size, std::ptr::null_mut());
                libc::mq_send(send, buffer.as_ptr().cast(), size, 0);
            }
        }
    }
}

/// Runs the loop over shared memory. The layout is furlong's, so that the ratio shows the harness overhead and not a
/// different arrangement of cache lines.
fn memory(leads: bool, start: *mut u8, size: usize, count: u64, sleeping: bool) {
    let (own, other) = if leads { (0, 1) } else { (1, 0) };
    let mut buffer = vec![0u8; size];
    let inline = size.min(INLINE);
    // SAFETY: the words and both parts of both messages are inside the region and do not overlap.
    let (own_word, other_word) = unsafe {
        (AtomicU32::from_ptr(start.add(HALF[own]).cast()), AtomicU32::from_ptr(start.add(HALF[other]).cast()))
    };
    let mut sequence = own_word.load(Ordering::Acquire);
    let mut seen = if leads { other_word.load(Ordering::Acquire) } else { sequence };
    let send = |buffer: &[u8], sequence: &mut u32| {
        *sequence = sequence.wrapping_add(1);
        // SAFETY: as above.
        unsafe {
            std::ptr::copy_nonoverlapping(buffer.as_ptr().add(inline), start.add(TAIL[own]), size - inline);
            std::ptr::copy_nonoverlapping(buffer.as_ptr(), start.add(HALF[own] + 16), inline);
        }
        own_word.store(*sequence, Ordering::Release);
        if sleeping {
            // SAFETY: the word outlives the call.
            unsafe { libc::syscall(libc::SYS_futex, own_word.as_ptr(), libc::FUTEX_WAKE, 1) };
        }
    };
    let receive = |buffer: &mut [u8], seen: &mut u32| {
        while other_word.load(Ordering::Acquire) == *seen {
            if sleeping {
                let none = std::ptr::null::<libc::timespec>();
                // SAFETY: as above.
                unsafe { libc::syscall(libc::SYS_futex, other_word.as_ptr(), libc::FUTEX_WAIT, *seen, none) };
            } else {
                std::hint::spin_loop();
            }
        }
        *seen = seen.wrapping_add(1);
        // SAFETY: as above.
        unsafe {
            std::ptr::copy_nonoverlapping(start.add(HALF[other] + 16), buffer.as_mut_ptr(), inline);
            std::ptr::copy_nonoverlapping(
                start.add(TAIL[other]),
                buffer.as_mut_ptr().add(inline),
                size - inline,
            );
        }
    };
    for _ in 0..count {
        if leads {
            send(&buffer, &mut sequence);
            receive(&mut buffer, &mut seen);
        } else {
            receive(&mut buffer, &mut seen);
            send(&buffer, &mut sequence);
        }
    }
}
