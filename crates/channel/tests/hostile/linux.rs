//! Attacks of a peer on Linux.

use super::*;
pub use common::map;
use common::name;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Removes a mapping.
pub fn unmap(words: *const AtomicU64, len: usize) {
    // SAFETY: mapped by `map` with this length, and no longer used.
    assert_eq!(unsafe { libc::munmap(words.cast_mut().cast(), len) }, 0);
}

/// Wakes the end whose receiver sleeps on this word.
pub fn wake(_theirs: &End, word: &AtomicU64) {
    // SAFETY: the kernel uses the address only as a key.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}

/// Returns the resident bytes of this process.
pub fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Creates memory that a hostile peer may pass: not sealed, or of another length.
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
    const LEN: usize = SHARED_BYTES;
    const SIZE_SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
    let options = options(WaitStrategy::Park);
    let made_of = |memory: OwnedFd| {
        let [ours, _theirs] = Channel::pair(&options).unwrap();
        open(End { memory, ..ours }, &options)
    };
    assert!(made_of(memory(LEN, SIZE_SEALS)).is_ok());
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
        expect!(made_of(refused), Err(Error::Corrupt(_)));
    }
    let [ours, _theirs] = Channel::pair(&options).unwrap();
    // SAFETY: no memory is involved.
    assert_ne!(unsafe { libc::ftruncate(ours.memory.as_raw_fd(), 0) }, 0, "it shrinks");
}

/// Returns two sockets like those of a channel.
fn sockets() -> [OwnedFd; 2] {
    let [ours, _] = Channel::pair(&options(WaitStrategy::Park)).unwrap();
    [ours.sending, ours.receiving]
}

/// A client maps no more than it accepts, regardless of the size that a listener offers.
#[test]
fn listener_with_larger_rings_is_refused_before_they_are_mapped() {
    const LARGE: usize = 256 << 20;
    let large = memory(4096 + 2 * LARGE, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW);
    let [socket, _other] = sockets();
    let small = Options::new().capacity(4096).longest_message(1000);
    let before = resident_bytes();
    let connected = greeted(&greeting(LARGE as u64, 1000, 0), &[&large, &socket], small);
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < LARGE, "{grown} bytes were mapped, and {connected:?}");
    expect!(connected, Err(Error::TooLarge { .. }));
    for (accepted, longest, fits) in
        [(CAPACITY, 1000, true), (CAPACITY / 2, 1000, false), (CAPACITY, 1001, false)]
    {
        let memory = memory(SHARED_BYTES, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW);
        let right = greeting(CAPACITY as u64, longest, 0);
        let connected = greeted(&right, &[&memory, &socket], small.accepted_capacity(accepted));
        assert_eq!(connected.is_ok(), fits, "{connected:?}");
    }
}

/// Returns a greeting like that of the library.
fn greeting(capacity: u64, longest: u64, start: u64) -> Vec<u8> {
    let mut greeting = b"furlong\x01".to_vec();
    [capacity, longest, start].iter().for_each(|number| greeting.extend(number.to_le_bytes()));
    greeting
}

/// Listens, and sends a client these bytes with these descriptors.
fn greeted(bytes: &[u8], descriptors: &[&OwnedFd], options: Options) -> Result<Channel, Error> {
    let name = name();
    // SAFETY: the socket address and the parts of the message live for the whole block.
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
        let connecting = thread::spawn(move || Channel::connect(&name, &options));
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
    let len = SHARED_BYTES;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
    let (memory, unsealed) = (memory(len, seals), memory(len, 0));
    let [socket, _other] = sockets();
    let datagrams: OwnedFd = std::os::unix::net::UnixDatagram::unbound().unwrap().into();
    let null: OwnedFd = File::open("/dev/null").unwrap().into();
    let right = greeting(CAPACITY as u64, 1000, 0);
    let both = [&memory, &socket];
    let greeted = |bytes: &[u8], descriptors: &[&OwnedFd]| {
        greeted(bytes, descriptors, Options::new().waiting(WaitStrategy::Park))
    };
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
        (&right, &[&memory, &datagrams]),
        (&right, &[&memory, &null]),
        (&greeting(CAPACITY as u64 * 2, 1000, 0), &both),
        (&greeting(CAPACITY as u64 - 8, 1000, 0), &both),
        (&greeting(0, 1000, 0), &both),
        (&greeting(1 << 63, 1000, 0), &both),
        (&greeting(CAPACITY as u64, 1000, 1), &both),
    ] {
        let open = std::fs::read_dir("/proc/self/fd").unwrap().count();
        expect!(greeted(bytes, descriptors), Err(Error::Corrupt(_)));
        // Other tests open and close descriptors as well, but not hundreds.
        assert!(std::fs::read_dir("/proc/self/fd").unwrap().count() < open + 100, "descriptors stay open");
    }
}
