//! System V message queues.
//!
//! The calls need a `long` before the text, so callers pass a buffer with that room at its beginning.

use crate::error::{Context, check, retry};
use crate::linux::limited::LimitContext;
use std::io;

/// Size in bytes of the type before the text.
pub const PREFIX_BYTES: usize = size_of::<libc::c_long>();

/// Type of every message: any positive number.
const TYPE: libc::c_long = 1;

/// Creates a queue that holds `capacity_bytes` and returns its ID.
pub fn create(key: i32, capacity_bytes: usize) -> io::Result<i32> {
    let flags = libc::IPC_CREAT | libc::IPC_EXCL | 0o600;
    // SAFETY: plain integers in and out.
    let queue = check(unsafe { libc::msgget(key, flags) }).limited("msgget")?;
    let sized = set_capacity(queue, capacity_bytes)
        .context(|| format!("set the capacity of a System V queue to {capacity_bytes} bytes"));
    if sized.is_err() {
        let _ = remove(queue);
    }
    sized.map(|()| queue)
}

/// Returns the queue's capacity in bytes.
///
/// # Errors
/// Returns an error if there is no such queue, or this user may not read it.
pub fn capacity_bytes(queue: i32) -> io::Result<u64> {
    status(queue).map(|status| status.msg_qbytes)
}

fn status(queue: i32) -> io::Result<libc::msqid_ds> {
    let mut status = std::mem::MaybeUninit::<libc::msqid_ds>::zeroed();
    // SAFETY: the kernel fills one msqid_ds, for which zeroes are a valid value.
    unsafe {
        check(libc::msgctl(queue, libc::IPC_STAT, status.as_mut_ptr()))?;
        Ok(status.assume_init())
    }
}

/// Sets the queue's capacity; only a privileged user may exceed `kernel.msgmnb`.
fn set_capacity(queue: i32, capacity_bytes: usize) -> io::Result<()> {
    let mut status = status(queue)?;
    status.msg_qbytes = capacity_bytes as libc::msglen_t;
    // SAFETY: the kernel reads one msqid_ds.
    check(unsafe { libc::msgctl(queue, libc::IPC_SET, &raw mut status) }).map(drop)
}

/// Removes the queue.
pub fn remove(queue: i32) -> io::Result<()> {
    // SAFETY: IPC_RMID ignores the address.
    check(unsafe { libc::msgctl(queue, libc::IPC_RMID, std::ptr::null_mut()) }).map(drop)
}

/// Returns the ID of the queue with this `key`.
pub fn find(key: i32) -> io::Result<i32> {
    // SAFETY: plain integers in and out.
    check(unsafe { libc::msgget(key, 0) })
}

/// Sends the bytes after the first [`PREFIX_BYTES`] of `framed`, and writes the type into those.
#[inline]
pub fn send(queue: i32, framed: &mut [u8], blocking: bool) -> io::Result<()> {
    let text_bytes = framed.len() - PREFIX_BYTES;
    framed[..PREFIX_BYTES].copy_from_slice(&TYPE.to_ne_bytes());
    // SAFETY: the kernel reads a type and `text_bytes` from a buffer that holds both.
    retry(|| unsafe { libc::msgsnd(queue, framed.as_ptr().cast(), text_bytes, flags(blocking)) }).map(drop)
}

/// Receives a text after the first [`PREFIX_BYTES`] of `framed` and returns its length.
///
/// # Errors
/// Returns E2BIG if the text is longer; it stays in the queue.
#[inline]
pub fn receive(queue: i32, framed: &mut [u8], blocking: bool) -> io::Result<usize> {
    let room = framed.len() - PREFIX_BYTES;
    let received = retry(|| {
        // SAFETY: the kernel writes a type and at most `room` bytes into a buffer that holds both.
        unsafe { libc::msgrcv(queue, framed.as_mut_ptr().cast(), room, TYPE, flags(blocking)) }
    });
    match received {
        Ok(count) => Ok(count as usize),
        Err(error) if error.raw_os_error() == Some(libc::ENOMSG) => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Err(error),
    }
}

#[inline]
fn flags(blocking: bool) -> libc::c_int {
    if blocking { 0 } else { libc::IPC_NOWAIT }
}
