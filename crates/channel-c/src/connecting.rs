//! How two processes get the two ends.

use crate::arguments::{FurlongOptions, Timeout, mutable, options, text, timeout};
use crate::end::End;
use crate::errors::{INVALID, Result, number, status};
use crate::receiving::FurlongReceiver;
use crate::sending::FurlongSender;
use furlong_channel::{Channel, Descriptors, Listener, Options, Side};
use std::ffi::{c_char, c_int};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

/// See the header.
pub struct FurlongListener {
    listener: Listener,
    trusts: bool,
}

/// See the header.
#[repr(C)]
pub struct FurlongPeer {
    process: i32,
    user: u32,
    group: u32,
}

/// See the header.
#[repr(C)]
pub struct FurlongEnd {
    memory: i32,
    sending: i32,
    receiving: i32,
    side: i32,
}

/// Where handles of a new channel go.
struct Handles<'a> {
    sender: &'a mut *mut FurlongSender,
    receiver: &'a mut *mut FurlongReceiver,
}

impl Handles<'_> {
    /// # Safety
    /// Null, or pointers to words for handles.
    unsafe fn new<'a>(
        sender: *mut *mut FurlongSender,
        receiver: *mut *mut FurlongReceiver,
    ) -> Result<Handles<'a>> {
        // SAFETY: as the caller promises.
        unsafe { Ok(Handles { sender: mutable(sender)?, receiver: mutable(receiver)? }) }
    }

    /// # Safety
    /// If `trusts`, the other process follows the protocol.
    unsafe fn give(self, channel: Channel, trusts: bool) {
        if trusts {
            // SAFETY: as the caller promises.
            let (sender, receiver) = unsafe { channel.trust() }.split();
            *self.sender = FurlongSender::new(End::Trusted(sender));
            *self.receiver = FurlongReceiver::new(End::Trusted(receiver));
        } else {
            let (sender, receiver) = channel.split();
            *self.sender = FurlongSender::new(End::Untrusted(sender));
            *self.receiver = FurlongReceiver::new(End::Untrusted(receiver));
        }
    }
}

/// # Safety
/// Null, or a pointer to room for who is at the other end.
unsafe fn tell_peer(peer: *mut FurlongPeer, channel: &Channel) {
    let found = channel.peer();
    // SAFETY: as the caller promises.
    if let Some(peer) = unsafe { peer.as_mut() } {
        *peer = FurlongPeer { process: found.process, user: found.user, group: found.group };
    }
}

/// See the header.
///
/// # Safety
/// As it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_listen(
    name: *const c_char,
    given: *const FurlongOptions,
    listener: *mut *mut FurlongListener,
) -> c_int {
    // SAFETY: as the caller promises.
    let (name, given, listener) = unsafe { (text(name), options(given), mutable(listener)) };
    let listen = || {
        let ((options, trusts), place) = (given?, listener?);
        let listener = Listener::bind(name?, &options).map_err(number)?;
        *place = Box::into_raw(Box::new(FurlongListener { listener, trusts }));
        Ok(())
    };
    status(listen())
}

/// See the header.
///
/// # Safety
/// As it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_accept(
    listener: *mut FurlongListener,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
    peer: *mut FurlongPeer,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { furlong_accept_timeout(listener, sender, receiver, peer, -1) }
}

/// See the header.
///
/// # Safety
/// As it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_accept_timeout(
    listener: *mut FurlongListener,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
    peer: *mut FurlongPeer,
    timeout_ns: i64,
) -> c_int {
    // SAFETY: as the caller promises.
    let (listener, handles) = unsafe { (mutable(listener), Handles::new(sender, receiver)) };
    let accept = || {
        let (listener, handles) = (listener?, handles?);
        let accepted = match timeout(timeout_ns) {
            Timeout::None => listener.listener.accept(),
            Timeout::Now => listener.listener.try_accept(),
            Timeout::After(time) => listener.listener.accept_timeout(time),
        };
        let channel = accepted.map_err(number)?;
        // SAFETY: as the caller promises, here and by the options.
        unsafe {
            tell_peer(peer, &channel);
            handles.give(channel, listener.trusts);
        }
        Ok(())
    };
    status(accept())
}

/// See the header.
///
/// # Safety
/// As it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_listener_descriptor(listener: *mut FurlongListener) -> c_int {
    // SAFETY: as the caller promises.
    let listener = unsafe { mutable(listener) };
    listener.map_or_else(|error| error, |listener| listener.listener.descriptor().as_raw_fd())
}

/// See the header.
///
/// # Safety
/// As it says, and the handle is of no use any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_listener_close(listener: *mut FurlongListener) {
    if !listener.is_null() {
        // SAFETY: made by `Box::into_raw`.
        drop(unsafe { Box::from_raw(listener) });
    }
}

/// See the header.
///
/// # Safety
/// As it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_connect(
    name: *const c_char,
    given: *const FurlongOptions,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
    peer: *mut FurlongPeer,
) -> c_int {
    // SAFETY: as the caller promises.
    let (name, given, handles) = unsafe { (text(name), options(given), Handles::new(sender, receiver)) };
    let connect = || {
        let ((options, trusts), handles) = (given?, handles?);
        let channel = Channel::connect(name?, &options).map_err(number)?;
        // SAFETY: as the caller promises, here and by the options.
        unsafe {
            tell_peer(peer, &channel);
            handles.give(channel, trusts);
        }
        Ok(())
    };
    status(connect())
}

/// See the header.
///
/// # Safety
/// As it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_pair(
    given: *const FurlongOptions,
    first: *mut FurlongEnd,
    second: *mut FurlongEnd,
) -> c_int {
    // SAFETY: as the caller promises.
    let (given, first, second) = unsafe { (options(given), mutable(first), mutable(second)) };
    let pair = || {
        let ((options, _), first, second) = (given?, first?, second?);
        let [one, other] = Channel::pair(&options).map_err(number)?;
        (*first, *second) = (end_of(one), end_of(other));
        Ok(())
    };
    status(pair())
}

fn end_of(descriptors: Descriptors) -> FurlongEnd {
    FurlongEnd {
        memory: descriptors.memory.into_raw_fd(),
        sending: descriptors.sending.into_raw_fd(),
        receiving: descriptors.receiving.into_raw_fd(),
        side: i32::from(descriptors.side == Side::Second),
    }
}

/// See the header.
///
/// # Safety
/// As it says: the descriptors are nobody else's any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_from_end(
    end: *const FurlongEnd,
    given: *const FurlongOptions,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
) -> c_int {
    // SAFETY: as the caller promises.
    let (end, given, handles) = unsafe { (end.as_ref(), options(given), Handles::new(sender, receiver)) };
    let open = || {
        let end = end.ok_or(INVALID)?;
        // SAFETY: as the caller promises. All are owned before one is found to be missing.
        let own = |number: i32| (number >= 0).then(|| unsafe { OwnedFd::from_raw_fd(number) });
        let [Some(memory), Some(sending), Some(receiving)] =
            [end.memory, end.sending, end.receiving].map(own)
        else {
            return Err(INVALID);
        };
        let side = if end.side == 0 { Side::First } else { Side::Second };
        let ((options, trusts), handles): ((Options, bool), _) = (given?, handles?);
        let descriptors = Descriptors { memory, sending, receiving, side };
        let channel = Channel::from_descriptors(descriptors, &options).map_err(number)?;
        // SAFETY: as the caller promises by the options.
        unsafe { handles.give(channel, trusts) };
        Ok(())
    };
    status(open())
}
