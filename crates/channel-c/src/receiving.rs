//! The functions of a receiver.

use crate::arguments::{self, Timeout, mutable, timeout};
use crate::end::{End, Lender, on};
use crate::errors::{INVALID, NOT_TRUSTED, Result, number, status};
use furlong_channel::{Error, Message, Receiver, TrustedPeer};
use std::ffi::{c_int, c_void};

type ReceiverEnd = End<Receiver, Receiver<TrustedPeer>>;

/// See the header.
pub struct FurlongReceiver(Lender<ReceiverEnd, Message<'static>>);

impl FurlongReceiver {
    /// Creates a handle.
    pub(crate) fn new(end: ReceiverEnd) -> *mut FurlongReceiver {
        Box::into_raw(Box::new(FurlongReceiver(Lender::new(end))))
    }
}

/// Returns the receiver, or `LENT` if a message is peeked.
///
/// # Safety
/// Null, or a handle that has no other user for the lifetime of the result.
unsafe fn free<'a>(receiver: *mut FurlongReceiver) -> Result<&'a mut ReceiverEnd> {
    // SAFETY: as the caller promises.
    unsafe { mutable(receiver) }.and_then(|receiver| receiver.0.free())
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_recv(
    receiver: *mut FurlongReceiver,
    buffer: *mut u8,
    room: usize,
    len: *mut usize,
    timeout_ns: i64,
) -> c_int {
    // SAFETY: as the caller promises.
    let (receiver, len) = unsafe { (free(receiver), mutable(len)) };
    status(receiver.and_then(|receiver| {
        let len = len?;
        // SAFETY: as the caller promises.
        let buffer = unsafe { arguments::buffer(buffer, room) }?;
        let received = on!(receiver, end => match timeout(timeout_ns) {
            Timeout::None => end.recv(buffer),
            Timeout::Now => end.try_recv(buffer),
            Timeout::After(time) => end.recv_timeout(buffer, time),
        });
        if let Ok(found) | Err(Error::BufferTooSmall { len: found }) = received {
            *len = found;
        }
        received.map(drop).map_err(number)
    }))
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_receiver_is_closed(receiver: *mut FurlongReceiver) -> c_int {
    // SAFETY: as the caller promises.
    let closed = unsafe { free(receiver) }.map(|receiver| on!(receiver, end => end.is_closed()));
    closed.map_or_else(|error| error, c_int::from)
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_recv_each(
    receiver: *mut FurlongReceiver,
    most: usize,
    take: Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize)>,
    context: *mut c_void,
    count: *mut usize,
) -> c_int {
    // SAFETY: as the caller promises.
    status(unsafe { free(receiver) }.and_then(|receiver| {
        let take = take.ok_or(INVALID)?;
        // SAFETY: as the caller promises for its function.
        let each = |message: &[u8]| unsafe { take(context, message.as_ptr().cast(), message.len()) };
        let taken = on!(receiver, end => end.recv_each(most, each)).map_err(number)?;
        // SAFETY: as the caller promises.
        if let Some(count) = unsafe { count.as_mut() } {
            *count = taken;
        }
        Ok(())
    }))
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_peek(
    receiver: *mut FurlongReceiver,
    bytes: *mut *const c_void,
    len: *mut usize,
    timeout_ns: i64,
) -> c_int {
    // SAFETY: as the caller promises.
    let (receiver, bytes, len) = unsafe { (mutable(receiver), mutable(bytes), mutable(len)) };
    status(receiver.and_then(|receiver| {
        let (bytes, len) = (bytes?, len?);
        let message = receiver.0.lend(|end| {
            let End::Trusted(end) = end else { return Err(NOT_TRUSTED) };
            let message = match timeout(timeout_ns) {
                Timeout::None => end.peek(),
                Timeout::Now => end.try_peek(),
                Timeout::After(time) => end.peek_timeout(time),
            };
            message.map_err(number)
        })?;
        (*bytes, *len) = (message.as_ptr().cast(), message.len());
        Ok(())
    }))
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_release(receiver: *mut FurlongReceiver) -> c_int {
    // SAFETY: as the caller promises.
    let message = unsafe { mutable(receiver) }.and_then(|receiver| receiver.0.take());
    status(message.map(Message::release))
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_receiver_watch(receiver: *mut FurlongReceiver) -> c_int {
    // SAFETY: as the caller promises.
    let watched =
        unsafe { free(receiver) }.and_then(|receiver| on!(receiver, end => end.watch()).map_err(number));
    watched.map_or_else(|error| error, c_int::from)
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_receiver_descriptor(receiver: *mut FurlongReceiver) -> c_int {
    // SAFETY: as the caller promises.
    let receiver = unsafe { mutable(receiver) };
    receiver.map_or_else(|error| error, |receiver| receiver.0.descriptor())
}

/// See the header.
///
/// # Safety
/// As the header states. The handle must not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_receiver_close(receiver: *mut FurlongReceiver) {
    if !receiver.is_null() {
        // SAFETY: created by `Box::into_raw`.
        drop(unsafe { Box::from_raw(receiver) });
    }
}
