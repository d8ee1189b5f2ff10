//! The calls of the operating system that a channel makes, one function each; with `wake` and `storage`, where the `unsafe` is.

use crate::credentials::Credentials;
use crate::error::{Error, Result};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// Ends this process as `kill -9` does.
#[cfg(crash_sweep)]
pub(crate) fn kill_this_process() {
    // SAFETY: no memory is involved.
    unsafe { libc::raise(libc::SIGKILL) };
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Takes a number that a call has just given.
fn own(number: RawFd) -> OwnedFd {
    // SAFETY: callers pass a descriptor that the kernel has just made for them, and nobody else owns.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// Anonymous memory of `len` bytes, zeroed, whose size nobody can change any more.
pub(crate) fn sealed_memory(len: usize) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is NUL-terminated.
    let memory = own(check(unsafe { libc::memfd_create(c"furlong-channel".as_ptr(), flags) })?);
    let len = libc::off_t::try_from(len).map_err(io::Error::other)?;
    // SAFETY: no memory of ours is involved.
    check(unsafe { libc::ftruncate(memory.as_raw_fd(), len) })?;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, SEALS | libc::F_SEAL_SEAL) })?;
    Ok(memory)
}

/// Who holds these can touch every byte for ever: what lies beyond the end of a file kills who touches it.
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;

/// Whether a descriptor that came from another process is memory of exactly `len` bytes that stays so.
pub(crate) fn check_memory(memory: BorrowedFd<'_>, len: usize) -> Result<()> {
    let number = memory.as_raw_fd();
    // SAFETY: no memory of ours is involved.
    let seals = unsafe { libc::fcntl(number, libc::F_GET_SEALS) };
    if seals < 0 || seals & SEALS != SEALS || seals & (libc::F_SEAL_WRITE | libc::F_SEAL_FUTURE_WRITE) != 0 {
        return Err(Error::Corrupt("the memory is not sealed as it must be"));
    }
    // Pages of other kinds may run out at any touch.
    let mut system = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: there is room for the answer, and it is read only where the call has written it.
    let kind = unsafe {
        check(libc::fstatfs(number, system.as_mut_ptr()))?;
        system.assume_init().f_type
    };
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: as above.
    let size = unsafe {
        check(libc::fstat(number, status.as_mut_ptr()))?;
        status.assume_init().st_size
    };
    if kind != libc::TMPFS_MAGIC || usize::try_from(size) != Ok(len) {
        return Err(Error::Corrupt("the memory has another size or kind"));
    }
    Ok(())
}

/// Maps `len` bytes of memory that is at least so long, and takes all pages at once.
pub(crate) fn map(memory: BorrowedFd<'_>, len: usize) -> io::Result<*mut u8> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    // SAFETY: the kernel chooses the address, so nothing of ours is replaced.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, flags, memory.as_raw_fd(), 0) };
    if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(start.cast()) }
}

/// Gives a mapping back.
///
/// # Safety
/// It was made by [`map`] with this length, and nobody uses it any more.
pub(crate) unsafe fn unmap(start: *mut u8, len: usize) {
    // SAFETY: as the caller promises.
    unsafe { libc::munmap(start.cast(), len) };
}

const SOCKET_KIND: libc::c_int = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;

/// Two sockets that are connected with each other.
pub(crate) fn socket_pair() -> io::Result<[OwnedFd; 2]> {
    let mut numbers = [-1; 2];
    // SAFETY: there is room for two numbers.
    check(unsafe { libc::socketpair(libc::AF_UNIX, SOCKET_KIND, 0, numbers.as_mut_ptr()) })?;
    Ok(numbers.map(own))
}

/// A name of a UNIX socket as the kernel takes it: a path, or after `@` a name that is in no file system.
pub(crate) struct Address {
    address: libc::sockaddr_un,
    len: libc::socklen_t,
}

impl Address {
    pub(crate) fn new(name: &[u8]) -> io::Result<Address> {
        // SAFETY: all zeroes are a valid address.
        let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let is_abstract = name.first() == Some(&b'@');
        if name.is_empty() || name.len() >= address.sun_path.len() || name.contains(&0) {
            let message = "a name of a socket has 1 to 107 bytes, none of them 0";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        for (to, from) in address.sun_path.iter_mut().zip(name) {
            *to = *from as libc::c_char;
        }
        if is_abstract {
            address.sun_path[0] = 0;
        }
        let head = size_of::<libc::sa_family_t>();
        let len = (head + name.len() + usize::from(!is_abstract)) as libc::socklen_t;
        Ok(Address { address, len })
    }

    fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.address).cast()
    }
}

fn socket() -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved.
    Ok(own(check(unsafe { libc::socket(libc::AF_UNIX, SOCKET_KIND, 0) })?))
}

/// A socket that others can connect to.
pub(crate) fn listen(address: &Address) -> io::Result<OwnedFd> {
    let listener = socket()?;
    // SAFETY: the address is as long as it says.
    check(unsafe { libc::bind(listener.as_raw_fd(), address.as_ptr(), address.len) })?;
    // SAFETY: no memory is involved.
    check(unsafe { libc::listen(listener.as_raw_fd(), 128) })?;
    Ok(listener)
}

/// A socket that is connected to a listener.
pub(crate) fn connect(address: &Address) -> io::Result<OwnedFd> {
    let connected = socket()?;
    // SAFETY: as above.
    check(unsafe { libc::connect(connected.as_raw_fd(), address.as_ptr(), address.len) })?;
    Ok(connected)
}

/// The next connection of a listener, after waiting for one.
pub(crate) fn accept(listener: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    loop {
        let none = std::ptr::null_mut();
        // SAFETY: no address is asked for.
        let number = unsafe { libc::accept4(listener.as_raw_fd(), none, none.cast(), libc::SOCK_CLOEXEC) };
        match check(number) {
            Ok(number) => return Ok(own(number)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The number of this process's user.
pub(crate) fn user() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { libc::geteuid() }
}

/// Who is at the other end of a connected socket.
pub(crate) fn credentials(socket: BorrowedFd<'_>) -> io::Result<Credentials> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: there is room for the answer.
    check(unsafe {
        let (level, name) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
        libc::getsockopt(socket.as_raw_fd(), level, name, (&raw mut found).cast(), &raw mut len)
    })?;
    Ok(Credentials { process: found.pid, user: found.uid, group: found.gid })
}

/// Descriptors that go with a greeting.
pub(crate) const PASSED: usize = 2;

/// Room for a control message with more descriptors than are allowed, so that they can be counted and closed.
#[repr(C, align(8))]
struct Control([u8; 256]);

/// Sends bytes with descriptors. Never waits: it is the first thing that the socket carries.
pub(crate) fn send_descriptors(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    descriptors: [BorrowedFd<'_>; PASSED],
) -> io::Result<()> {
    let numbers = descriptors.map(|descriptor| descriptor.as_raw_fd());
    let mut control = Control([0; 256]);
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: all zeroes are a message without anything; the rest points to what lives for the whole call, and the
    // control message has room for the numbers.
    let sent = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of_val(&numbers) as u32) as _;
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        (*head).cmsg_level = libc::SOL_SOCKET;
        (*head).cmsg_type = libc::SCM_RIGHTS;
        (*head).cmsg_len = libc::CMSG_LEN(size_of_val(&numbers) as u32) as _;
        std::ptr::copy_nonoverlapping(numbers.as_ptr().cast(), libc::CMSG_DATA(head), size_of_val(&numbers));
        libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
    };
    match sent {
        count if count == bytes.len() as isize => Ok(()),
        count if count < 0 => Err(io::Error::last_os_error()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Receives what [`send_descriptors`] has sent, within a time: exactly so many bytes and descriptors. Descriptors that
/// are too many are closed.
pub(crate) fn receive_descriptors(
    socket: BorrowedFd<'_>,
    bytes: &mut [u8],
    limit: Duration,
) -> Result<[OwnedFd; PASSED]> {
    let mut watch = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let limit_ms = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: one entry, which lives for the whole call.
    if check(unsafe { libc::poll(&raw mut watch, 1, limit_ms) })? == 0 {
        return Err(Error::TimedOut);
    }
    let mut control = Control([0; 256]);
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut descriptors = Vec::new();
    // SAFETY: as in `send_descriptors`; the kernel says in the message how much it has written, and every number in it
    // is a new descriptor of ours.
    let (count, flags) = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len() as _;
        let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
        let count = libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags);
        if count < 0 {
            return Err(io::Error::last_os_error().into());
        }
        let mut head = libc::CMSG_FIRSTHDR(&raw const message);
        while !head.is_null() {
            if (*head).cmsg_level == libc::SOL_SOCKET && (*head).cmsg_type == libc::SCM_RIGHTS {
                let data = libc::CMSG_DATA(head).cast::<RawFd>();
                let len = ((*head).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
                descriptors
                    .extend((0..len / size_of::<RawFd>()).map(|at| own(data.add(at).read_unaligned())));
            }
            head = libc::CMSG_NXTHDR(&raw const message, head);
        }
        (count, message.msg_flags)
    };
    if count == 0 {
        return Err(Error::Closed);
    }
    if count as usize != bytes.len() || flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
        return Err(Error::Corrupt("the greeting has another length"));
    }
    descriptors.try_into().map_err(|_| Error::Corrupt("the greeting has another number of descriptors"))
}

/// Fetches the line of an address, if there is one there, as far as the processor cares.
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    // SAFETY: has no effect on what a program sees, wherever the address leads.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
