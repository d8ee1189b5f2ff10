//! The functions of a sender.

use crate::arguments::{Timeout, mutable, slice, timeout};
use crate::end::{End, Lender, on};
use crate::errors::{NOT_TRUSTED, Result, number, status};
use furlong_channel::{Loan, Sender, TrustedPeer};
use std::ffi::{c_int, c_void};

type SenderEnd = End<Sender, Sender<TrustedPeer>>;

/// See the header.
pub struct FurlongSender(Lender<SenderEnd, Loan<'static>>);

impl FurlongSender {
    /// Creates a handle.
    pub(crate) fn new(end: SenderEnd) -> *mut FurlongSender {
        Box::into_raw(Box::new(FurlongSender(Lender::new(end))))
    }
}

/// Returns the sender, or `LENT` if a message is loaned.
///
/// # Safety
/// Null, or a handle that has no other user for the lifetime of the result.
unsafe fn free<'a>(sender: *mut FurlongSender) -> Result<&'a mut SenderEnd> {
    // SAFETY: as the caller promises.
    unsafe { mutable(sender) }.and_then(|sender| sender.0.free())
}

/// A message of a batch.
#[repr(C)]
pub struct FurlongBytes {
    bytes: *const u8,
    len: usize,
}

#[cfg(all(test, in_one_process))]
impl FurlongBytes {
    pub(crate) fn of(bytes: &[u8]) -> FurlongBytes {
        FurlongBytes { bytes: bytes.as_ptr(), len: bytes.len() }
    }
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_send(
    sender: *mut FurlongSender,
    bytes: *const u8,
    len: usize,
    timeout_ns: i64,
) -> c_int {
    // SAFETY: as the caller promises.
    let (sender, message) = unsafe { (free(sender), slice(bytes, len)) };
    status(sender.and_then(|sender| {
        let message = message?;
        let sent = on!(sender, end => match timeout(timeout_ns) {
            Timeout::None => end.send(message),
            Timeout::Now => end.try_send(message),
            Timeout::After(time) => end.send_timeout(message, time),
        });
        sent.map_err(number)
    }))
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_send_all(
    sender: *mut FurlongSender,
    messages: *const FurlongBytes,
    count: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let (sender, messages) = unsafe { (free(sender), slice(messages, count)) };
    status(sender.and_then(|sender| {
        // SAFETY: as above.
        let messages = messages?.iter().map(|message| unsafe { slice(message.bytes, message.len) });
        let messages = messages.collect::<Result<Vec<&[u8]>>>()?;
        on!(sender, end => end.send_all(messages)).map_err(number)
    }))
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_loan(
    sender: *mut FurlongSender,
    len: usize,
    bytes: *mut *mut c_void,
    timeout_ns: i64,
) -> c_int {
    // SAFETY: as the caller promises.
    let (sender, bytes) = unsafe { (mutable(sender), mutable(bytes)) };
    status(sender.and_then(|sender| {
        let bytes = bytes?;
        let loan = sender.0.lend(|end| {
            let End::Trusted(end) = end else { return Err(NOT_TRUSTED) };
            let loan = match timeout(timeout_ns) {
                Timeout::None => end.loan(len),
                Timeout::Now => end.try_loan(len),
                Timeout::After(time) => end.loan_timeout(len, time),
            };
            loan.map_err(number)
        })?;
        *bytes = loan.as_mut_ptr().cast();
        Ok(())
    }))
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_commit(sender: *mut FurlongSender) -> c_int {
    // SAFETY: as the caller promises.
    let loan = unsafe { mutable(sender) }.and_then(|sender| sender.0.take());
    status(loan.map(Loan::commit))
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_give_up(sender: *mut FurlongSender) -> c_int {
    // SAFETY: as the caller promises.
    status(unsafe { mutable(sender) }.and_then(|sender| sender.0.take().map(drop)))
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_sender_is_closed(sender: *mut FurlongSender) -> c_int {
    // SAFETY: as the caller promises.
    let closed = unsafe { free(sender) }.map(|sender| on!(sender, end => end.is_closed()));
    closed.map_or_else(|error| error, c_int::from)
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_sender_watch(sender: *mut FurlongSender, len: usize) -> c_int {
    // SAFETY: as the caller promises.
    let watched =
        unsafe { free(sender) }.and_then(|sender| on!(sender, end => end.watch(len)).map_err(number));
    watched.map_or_else(|error| error, c_int::from)
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_sender_descriptor(sender: *mut FurlongSender) -> c_int {
    // SAFETY: as the caller promises.
    let sender = unsafe { mutable(sender) };
    sender.map_or_else(|error| error, |sender| sender.0.descriptor())
}

/// See the header.
///
/// # Safety
/// As the header states. The handle must not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_sender_close(sender: *mut FurlongSender) {
    if !sender.is_null() {
        // SAFETY: created by `Box::into_raw`.
        drop(unsafe { Box::from_raw(sender) });
    }
}
