//! A peer that does not follow the protocol: it writes anything anywhere into what is shared, or sends something else than
//! a greeting. Nothing that this end calls may crash, hang, or give what cannot be.
//!
//! `CHANNEL_SECONDS=60 cargo test -p furlong-channel --test hostile` scribbles for a minute with each way of waiting.

#![cfg(target_os = "linux")]

mod common;

use common::{PATIENCE, WAITINGS, name, processor_time};
use furlong_channel::{Channel, Descriptors, Error, Options, Waiting};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long each way of waiting is scribbled at.
fn time() -> Duration {
    let seconds = std::env::var("CHANNEL_SECONDS").map_or(1.5, |text| text.parse().unwrap());
    Duration::from_secs_f64(seconds)
}

const CAPACITY: usize = 8192;

/// The longest message, so much shorter than the ring that most random headers are none.
const LONGEST: usize = 3000;

fn options(waiting: Waiting) -> Options {
    Options::new().capacity(CAPACITY).longest_message(LONGEST).waiting(waiting)
}

/// Random numbers that repeat.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// The whole of the shared memory, as a peer maps it that wants to do harm.
struct Scribbled {
    words: *const AtomicU64,
    count: usize,
}

// SAFETY: mapped for as long as it lives, and touched through atomics alone.
unsafe impl Send for Scribbled {}

impl Drop for Scribbled {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length, and nothing refers to it any more.
        assert_eq!(unsafe { libc::munmap(self.words.cast_mut().cast(), self.count * 8) }, 0);
    }
}

impl Scribbled {
    fn map(memory: &OwnedFd) -> Scribbled {
        let len = File::from(memory.try_clone().unwrap()).metadata().unwrap().len() as usize;
        // SAFETY: the kernel chooses the address.
        let start = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), len, access, libc::MAP_SHARED, memory.as_raw_fd(), 0)
        };
        assert_ne!(start, libc::MAP_FAILED);
        Scribbled { words: start.cast(), count: len / 8 }
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at < self.count);
        // SAFETY: inside and aligned, and mapped as long as self.
        unsafe { &*self.words.add(at) }
    }

    /// Writes one word. Most go where the control words and the headers of small messages lie.
    fn scribble(&self, random: &mut Random) {
        const CONTROL_WORDS: u64 = 4096 / 8;
        let at = match random.below(4) {
            0 => random.below(2) * 128 + random.below(3) * 16 + random.below(3),
            1 => CONTROL_WORDS + random.below(2) * (CAPACITY as u64 / 8) + random.below(64),
            _ => random.below(self.count as u64),
        };
        let word = self.word(at as usize);
        let kind_and_length = |random: &mut Random| {
            let len = random.below(2 * LONGEST as u64);
            random.below(7) << 56
                | len << 32
                | if random.below(2) == 0 { len } else { random.below(LONGEST as u64) }
        };
        let value = match random.below(8) {
            0 => 0,
            1 => u64::MAX,
            2 => word.load(Ordering::Relaxed) ^ 1 << random.below(64),
            3 => random.below(5),
            4 => random.below(2 * CAPACITY as u64),
            5 => random.next(),
            _ => kind_and_length(random),
        };
        word.store(value, Ordering::Relaxed);
    }
}

/// One end and the memory that both share, with what belongs to the other end kept open.
fn victim(options: &Options) -> (Channel, Scribbled, Descriptors) {
    let [ours, theirs] = Channel::pair(options).unwrap();
    let shared = Scribbled::map(&ours.memory);
    (Channel::from_descriptors(ours, options).unwrap(), shared, theirs)
}

/// What may come of a call, whatever the peer does.
fn check<T>(result: Result<T, Error>, began: Instant) {
    match result {
        Ok(_)
        | Err(
            Error::WouldBlock
            | Error::TimedOut
            | Error::Closed
            | Error::Corrupt(_)
            | Error::BufferTooSmall { .. },
        ) => {}
        Err(other) => panic!("{other}"),
    }
    assert!(began.elapsed() < PATIENCE, "a call took {:?}", began.elapsed());
}

/// Calls everything while the memory is scribbled at, on new channels all the time.
fn suffer(waiting: Waiting, random: &mut Random) -> u32 {
    let options = options(waiting);
    let (mut end, shared, theirs) = victim(&options);
    let mut peer = Channel::from_descriptors(theirs, &options).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let seed = random.next() | 1;
    let scribbler = thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let mut random = Random(seed);
            // Some follow the protocol for a while.
            let mut works = random.below(2) * random.below(500);
            let mut buffer = [0; 100];
            while !stop.load(Ordering::Relaxed) {
                let _ = peer.try_send(&buffer[..random.below(100) as usize]);
                let _ = peer.try_recv(&mut buffer);
                works = works.saturating_sub(1);
                for _ in 0..if works == 0 { random.below(100) } else { 0 } {
                    shared.scribble(&mut random);
                }
            }
        }
    });
    let begin = Instant::now();
    let mut received = 0;
    let mut buffer = vec![0; LONGEST];
    let timeout = Duration::from_micros(200);
    while begin.elapsed() < Duration::from_millis(4) {
        let began = Instant::now();
        match random.below(9) {
            0 => check(end.try_send(&buffer[..random.below(200) as usize]), began),
            1 => check(end.send_timeout(&buffer[..random.below(LONGEST as u64) as usize], timeout), began),
            2 => check(end.both().0.try_send_all([&buffer[..50], &buffer[..500]]), began),
            3 => check(end.both().0.watch(100).map_err(quiet), began),
            4 => {
                let result = end.try_recv(&mut buffer);
                received += u32::from(result.as_ref().is_ok_and(|len| *len <= LONGEST));
                check(result, began);
            }
            5 => check(end.recv_timeout(&mut buffer, timeout), began),
            6 => check(end.recv_timeout(&mut buffer[..20], timeout), began),
            7 => check(end.both().1.watch().map_err(quiet), began),
            _ => check(end.both().1.try_recv_each(10, |message| assert!(message.len() <= LONGEST)), began),
        }
    }
    stop.store(true, Ordering::Relaxed);
    scribbler.join().unwrap();
    received
}

/// An end that spins cannot be watched.
fn quiet(error: Error) -> Error {
    match error {
        Error::System(error) if error.kind() == io::ErrorKind::Unsupported => Error::WouldBlock,
        other => other,
    }
}

fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn a_peer_that_scribbles_does_no_harm() {
    for waiting in WAITINGS {
        let mut random = Random(0x1234_5678_9abc_def1);
        suffer(waiting, &mut random);
        let (begin, resident) = (Instant::now(), resident_bytes());
        let (mut rounds, mut received) = (0, 0);
        while begin.elapsed() < time() {
            received += suffer(waiting, &mut random);
            rounds += 1;
        }
        let grown = resident_bytes().saturating_sub(resident);
        assert!(grown < 16 << 20, "{waiting:?}: {grown} bytes more after {rounds} rounds");
        println!("{waiting:?}: {rounds} channels, {received} messages");
        assert!(received > 0, "{waiting:?}: nothing that was scribbled ever was a message");
    }
}

#[test]
fn a_broken_channel_stays_broken() {
    let (mut end, shared, _theirs) = victim(&options(Waiting::Park));
    let first_header = shared.word((4096 + CAPACITY) / 8);
    first_header.store(u64::MAX, Ordering::Relaxed);
    expect!(end.recv_timeout(&mut [0; 8], PATIENCE), Err(Error::Corrupt(_)));
    first_header.store(0, Ordering::Relaxed);
    expect!(end.recv_timeout(&mut [0; 8], PATIENCE), Err(Error::Corrupt(_)));
    let read = shared.word(0);
    read.store(1 << 40, Ordering::Relaxed);
    let refused = (0..100).find_map(|_| end.send_timeout(&[0; 500], PATIENCE).err());
    expect!(refused, Some(Error::Corrupt(_)));
    read.store(0, Ordering::Relaxed);
    expect!(end.try_send(&[0; 8]), Err(Error::Corrupt(_)));
}

/// Wakes the victim all the time, or makes its word say that it does not sleep.
#[test]
fn who_is_woken_in_vain_uses_little_processor_time() {
    const QUIET: Duration = Duration::from_millis(600);
    let (mut end, shared, _theirs) = victim(&options(Waiting::Park));
    // The receiver's state, in the direction in which the victim receives.
    let state = 1024 / 8 + 128 / 8;
    let stop = Arc::new(AtomicBool::new(false));
    let scribbler = thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            while !stop.load(Ordering::Relaxed) {
                shared.word(state).store(0, Ordering::SeqCst);
                // SAFETY: the kernel takes the address as a key.
                unsafe {
                    libc::syscall(libc::SYS_futex, shared.words.add(state), libc::FUTEX_WAKE, 1);
                }
            }
        }
    });
    let before = processor_time();
    expect!(end.recv_timeout(&mut [0; 8], QUIET), Err(Error::TimedOut));
    let used = processor_time() - before;
    stop.store(true, Ordering::Relaxed);
    scribbler.join().unwrap();
    assert!(used < QUIET / 10, "{used:?} of {QUIET:?}");
}

#[test]
fn what_a_peer_sees_beside_its_messages_is_nothing() {
    let (mut end, shared, _theirs) = victim(&options(Waiting::Park));
    // What is in our buffer behind the message must not go along, nor anything of our memory.
    let mut buffer = vec![0xa5; 4096];
    buffer[..13].fill(1);
    for _ in 0..200 {
        let _ = end.try_send(&buffer[..13]);
    }
    for at in 0..shared.count {
        for byte in shared.word(at).load(Ordering::Relaxed).to_le_bytes() {
            assert_ne!(byte, 0xa5, "word {at}");
        }
    }
}

/// Memory as a peer may pass it: not sealed, or of another length.
fn memory(len: usize, seals: libc::c_int) -> OwnedFd {
    // SAFETY: the name is NUL-terminated, and the descriptor is new.
    let memory = unsafe {
        let flags = libc::MFD_ALLOW_SEALING | libc::MFD_CLOEXEC;
        OwnedFd::from_raw_fd(libc::memfd_create(c"hostile".as_ptr(), flags))
    };
    // SAFETY: no memory is involved.
    unsafe {
        assert_eq!(libc::ftruncate(memory.as_raw_fd(), len as libc::off_t), 0);
        assert_eq!(libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, seals), 0);
    }
    memory
}

#[test]
fn memory_that_could_shrink_is_refused_and_ours_cannot() {
    const LEN: usize = 4096 + 2 * CAPACITY;
    const SIZE_SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
    let options = options(Waiting::Park);
    let open = |memory: OwnedFd| {
        let [ours, _theirs] = Channel::pair(&options).unwrap();
        Channel::from_descriptors(Descriptors { memory, ..ours }, &options)
    };
    assert!(open(memory(LEN, SIZE_SEALS)).is_ok());
    for refused in [
        memory(LEN, 0),
        memory(LEN, libc::F_SEAL_SHRINK),
        memory(LEN, libc::F_SEAL_GROW),
        memory(LEN, SIZE_SEALS | libc::F_SEAL_FUTURE_WRITE),
        memory(LEN - 4096, SIZE_SEALS),
        memory(LEN + 4096, SIZE_SEALS),
        File::open("/dev/zero").unwrap().into(),
        File::open("/").unwrap().into(),
        std::os::unix::net::UnixDatagram::unbound().unwrap().into(),
    ] {
        expect!(open(refused), Err(Error::Corrupt(_)));
    }
    let [ours, _theirs] = Channel::pair(&options).unwrap();
    // SAFETY: no memory is involved.
    assert_ne!(unsafe { libc::ftruncate(ours.memory.as_raw_fd(), 0) }, 0, "it shrinks");
}

/// A greeting as the library sends it.
fn greeting(capacity: u64, longest: u64, start: u64) -> Vec<u8> {
    let mut greeting = b"furlong\x01".to_vec();
    [capacity, longest, start].iter().for_each(|number| greeting.extend(number.to_le_bytes()));
    greeting
}

/// Listens, and sends who connects these bytes with so many descriptors.
fn greeted(bytes: &[u8], descriptors: &[&OwnedFd]) -> Result<Channel, Error> {
    let name = name();
    // SAFETY: a socket address and a message of parts that live for the whole block.
    unsafe {
        let listener = libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0);
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        for (to, from) in address.sun_path[1..].iter_mut().zip(&name.as_bytes()[1..]) {
            *to = *from as libc::c_char;
        }
        let len = (size_of::<libc::sa_family_t>() + name.len()) as libc::socklen_t;
        assert_eq!(libc::bind(listener, (&raw const address).cast(), len), 0);
        assert_eq!(libc::listen(listener, 1), 0);
        let connecting =
            thread::spawn(move || Channel::connect(&name, &Options::new().waiting(Waiting::Park)));
        let connection = libc::accept(listener, std::ptr::null_mut(), std::ptr::null_mut());
        let numbers: Vec<i32> = descriptors.iter().map(|descriptor| descriptor.as_raw_fd()).collect();
        let mut control = [0u64; 128];
        let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut message: libc::msghdr = std::mem::zeroed();
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        if !numbers.is_empty() {
            let len = size_of_val(&numbers[..]) as u32;
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(len) as _;
            let head = libc::CMSG_FIRSTHDR(&raw const message);
            ((*head).cmsg_level, (*head).cmsg_type) = (libc::SOL_SOCKET, libc::SCM_RIGHTS);
            (*head).cmsg_len = libc::CMSG_LEN(len) as _;
            std::ptr::copy_nonoverlapping(numbers.as_ptr().cast(), libc::CMSG_DATA(head), len as usize);
        }
        if !bytes.is_empty() {
            assert_eq!(libc::sendmsg(connection, &raw const message, 0), bytes.len() as isize);
        }
        libc::close(connection);
        libc::close(listener);
        connecting.join().unwrap()
    }
}

#[test]
fn a_greeting_that_is_none_is_refused() {
    let len = 4096 + 2 * CAPACITY;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
    let (memory, unsealed) = (memory(len, seals), memory(len, 0));
    let socket: OwnedFd = std::os::unix::net::UnixDatagram::unbound().unwrap().into();
    let right = greeting(CAPACITY as u64, 1000, 0);
    let both = [&memory, &socket];
    assert!(greeted(&right, &both).is_ok());
    expect!(greeted(&[], &[]), Err(Error::Closed));
    let mut other_version = right.clone();
    other_version[7] = 2;
    for (bytes, descriptors) in [
        (&right[..31], &both[..]),
        (&[&right[..], &[0]].concat(), &both),
        (&other_version, &both),
        (&right, &[]),
        (&right, &[&memory]),
        (&right, &[&memory, &socket, &socket]),
        (&right, &[&memory; 200]),
        (&right, &[&unsealed, &socket]),
        (&right, &[&socket, &memory]),
        (&greeting(CAPACITY as u64 * 2, 1000, 0), &both),
        (&greeting(CAPACITY as u64 - 8, 1000, 0), &both),
        (&greeting(0, 1000, 0), &both),
        (&greeting(1 << 63, 1000, 0), &both),
        (&greeting(CAPACITY as u64, 1000, 1), &both),
    ] {
        let open = std::fs::read_dir("/proc/self/fd").unwrap().count();
        expect!(greeted(bytes, descriptors), Err(Error::Corrupt(_)));
        // Other tests open and close too, but not hundreds.
        assert!(std::fs::read_dir("/proc/self/fd").unwrap().count() < open + 100, "descriptors stay open");
    }
}
