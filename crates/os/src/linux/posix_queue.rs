//! POSIX message queues. On Linux a queue is a descriptor, so a child can inherit it, and a process can wait for it.

use crate::error::{Context, check, retry};
use crate::linux::handle::own;
use crate::linux::limited::LimitContext;
use crate::linux::limits::{Resource, raised};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// Creates a queue for `depth` messages of `size_bytes`, and removes its name before it returns.
pub fn create(name: &str, depth: usize, size_bytes: usize) -> io::Result<OwnedFd> {
    let path = CString::new(format!("/{name}"))?;
    let queue = create_named(name, depth, size_bytes)?;
    // SAFETY: `path` is NUL-terminated.
    check(unsafe { libc::mq_unlink(path.as_ptr()) }).context(|| "mq_unlink")?;
    Ok(queue)
}

/// Creates a queue for `depth` messages of `size_bytes`, which exists until it is [removed](remove).
pub fn create_named(name: &str, depth: usize, size_bytes: usize) -> io::Result<OwnedFd> {
    let path = CString::new(format!("/{name}"))?;
    let mut shape = std::mem::MaybeUninit::<libc::mq_attr>::zeroed();
    // SAFETY: zeroes are a valid mq_attr.
    let shape = unsafe {
        let shape = shape.assume_init_mut();
        shape.mq_maxmsg = depth as _;
        shape.mq_msgsize = size_bytes as _;
        shape
    };
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    let mode: libc::mode_t = 0o600;
    // SAFETY: `path` is NUL-terminated, `shape` is a whole mq_attr, and the new descriptor has no other owner.
    check(unsafe { libc::mq_open(path.as_ptr(), flags, mode, &raw mut *shape) })
        .map(|number| unsafe { own(number) })
        .map_err(|error| in_use(error, depth * size_bytes))
        .limited("mq_open")
        .context(|| format!("mq_open of {depth} x {size_bytes} bytes"))
}

/// Opens an existing queue by its name.
pub fn open(name: &str) -> io::Result<OwnedFd> {
    let path = CString::new(format!("/{name}"))?;
    // SAFETY: `path` is NUL-terminated, and the new descriptor has no other owner.
    check(unsafe { libc::mq_open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) })
        .map(|number| unsafe { own(number) })
        .context(|| format!("mq_open /{name}"))
}

/// Names the limit behind EMFILE, which `mq_open` returns for two limits. If another descriptor can be opened, the limit is that
/// on bytes in queues.
fn in_use(error: io::Error, bytes: usize) -> io::Error {
    // SAFETY: the call only duplicates standard error; the new descriptor has no other owner, and is closed immediately.
    let has_descriptors = check(unsafe { libc::fcntl(2, libc::F_DUPFD_CLOEXEC, 3) })
        .map(|number| drop(unsafe { own(number) }))
        .is_ok();
    if error.raw_os_error() != Some(libc::EMFILE) || !has_descriptors {
        return error;
    }
    let most = raised(Resource::MessageQueueBytes).unwrap_or_default();
    io::Error::new(
        io::ErrorKind::QuotaExceeded,
        format!(
            "the queues of all processes of this user may hold {most} bytes together (RLIMIT_MSGQUEUE), and other \
             queues leave less than the {bytes} bytes needed: wait for the other runs, or raise the limit (ulimit -q)"
        ),
    )
}

/// Removes a queue by its name, if it exists.
pub fn remove(name: &str) {
    if let Ok(path) = CString::new(format!("/{name}")) {
        // SAFETY: `path` is NUL-terminated.
        unsafe { libc::mq_unlink(path.as_ptr()) };
    }
}

/// Returns the queue's depth and message size in force.
pub fn shape(queue: BorrowedFd<'_>) -> io::Result<(usize, usize)> {
    attributes(queue).map(|shape| (shape.mq_maxmsg as usize, shape.mq_msgsize as usize))
}

/// Returns the number of messages in the queue.
pub fn waiting(queue: BorrowedFd<'_>) -> io::Result<usize> {
    attributes(queue).map(|attributes| attributes.mq_curmsgs as usize)
}

fn attributes(queue: BorrowedFd<'_>) -> io::Result<libc::mq_attr> {
    let mut attributes = std::mem::MaybeUninit::<libc::mq_attr>::zeroed();
    // SAFETY: the kernel fills one mq_attr, for which zeroes are a valid value.
    unsafe {
        check(libc::mq_getattr(queue.as_raw_fd(), attributes.as_mut_ptr()))?;
        Ok(attributes.assume_init())
    }
}

/// Sends one message with this priority.
#[inline]
pub fn send(queue: BorrowedFd<'_>, message: &[u8], priority: u32) -> io::Result<()> {
    let (bytes, len) = (message.as_ptr().cast(), message.len());
    // SAFETY: the kernel only reads `message`.
    retry(|| unsafe { libc::mq_send(queue.as_raw_fd(), bytes, len, priority) }).map(drop)
}

/// Receives one message into `buffer`, which must have at least the queue's message size.
#[inline]
pub fn receive(queue: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    let (to, room) = (buffer.as_mut_ptr().cast(), buffer.len());
    // SAFETY: the kernel writes at most `room` bytes, and no priority is requested.
    retry(|| unsafe { libc::mq_receive(queue.as_raw_fd(), to, room, std::ptr::null_mut()) })
        .map(|count| count as usize)
}
