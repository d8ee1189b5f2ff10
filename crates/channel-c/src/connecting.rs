//! The functions that connect two processes through a channel.

use crate::arguments::{FurlongOptions, Timeout, mutable, options, text, timeout};
use crate::end::End;
use crate::errors::{INVALID, Result, number, status};
use crate::receiving::FurlongReceiver;
use crate::sending::FurlongSender;
use furlong_channel::{Channel, Credentials, Descriptors, Listener, Options, Side};
use std::ffi::{c_char, c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::time::Duration;

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

impl From<Credentials> for FurlongPeer {
    fn from(peer: Credentials) -> FurlongPeer {
        FurlongPeer { process: peer.process, user: peer.user, group: peer.group }
    }
}

/// See the header.
type FurlongRule = Option<unsafe extern "C" fn(*mut c_void, *const FurlongPeer) -> c_int>;

/// Converts a callback of C into a rule of Rust.
///
/// # Safety
/// The function may be called with the context.
unsafe fn rule(is_allowed: FurlongRule, context: *mut c_void) -> Result<impl Fn(&Credentials) -> bool> {
    let is_allowed = is_allowed.ok_or(INVALID)?;
    // SAFETY: as the caller promises.
    Ok(move |peer: &Credentials| unsafe { is_allowed(context, &FurlongPeer::from(*peer)) } != 0)
}

/// See the header.
#[repr(C)]
pub struct FurlongEnd {
    memory: i32,
    sending: i32,
    receiving: i32,
    side: i32,
}

/// Output pointers for the handles of a new channel and the credentials of its peer.
struct Handles<'a> {
    sender: &'a mut *mut FurlongSender,
    receiver: &'a mut *mut FurlongReceiver,
    peer: Option<&'a mut FurlongPeer>,
}

impl Handles<'_> {
    /// # Safety
    /// Null, or pointers to words for handles, and to room for credentials.
    unsafe fn new<'a>(
        sender: *mut *mut FurlongSender,
        receiver: *mut *mut FurlongReceiver,
        peer: *mut FurlongPeer,
    ) -> Result<Handles<'a>> {
        // SAFETY: as the caller promises.
        unsafe { Ok(Handles { sender: mutable(sender)?, receiver: mutable(receiver)?, peer: peer.as_mut() }) }
    }

    /// # Safety
    /// If `trusts` is true, the other process must follow the protocol.
    unsafe fn give(self, channel: Channel, trusts: bool) {
        if let Some(peer) = self.peer {
            *peer = channel.peer().into();
        }
        // SAFETY: as the caller promises.
        (*self.sender, *self.receiver) = unsafe { handles_of(channel, trusts) };
    }
}

/// Returns the handles of a channel.
///
/// # Safety
/// If `trusts` is true, the other process must follow the protocol.
pub(crate) unsafe fn handles_of(
    channel: Channel,
    trusts: bool,
) -> (*mut FurlongSender, *mut FurlongReceiver) {
    if trusts {
        // SAFETY: as the caller promises.
        let (sender, receiver) = unsafe { channel.trust() }.split();
        (FurlongSender::new(End::Trusted(sender)), FurlongReceiver::new(End::Trusted(receiver)))
    } else {
        let (sender, receiver) = channel.split();
        (FurlongSender::new(End::Untrusted(sender)), FurlongReceiver::new(End::Untrusted(receiver)))
    }
}

/// See the header.
///
/// # Safety
/// As the header states.
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
/// As the header states.
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
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_accept_timeout(
    listener: *mut FurlongListener,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
    peer: *mut FurlongPeer,
    timeout_ns: i64,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        accept_by(listener, Handles::new(sender, receiver, peer), |listener| {
            let accepted = match timeout(timeout_ns) {
                Timeout::None => listener.accept(),
                Timeout::Now => listener.try_accept(),
                Timeout::After(time) => listener.accept_timeout(time),
            };
            accepted.map_err(number)
        })
    }
}

/// # Safety
/// Null, or a listener whose options state correctly whether the other process is trusted.
unsafe fn accept_by(
    listener: *mut FurlongListener,
    handles: Result<Handles>,
    accept: impl FnOnce(&Listener) -> Result<Channel>,
) -> c_int {
    // SAFETY: as the caller promises.
    let listener = unsafe { mutable(listener) };
    let accept = || {
        let (listener, handles) = (listener?, handles?);
        let channel = accept(&listener.listener)?;
        // SAFETY: as the caller promises by the options.
        unsafe { handles.give(channel, listener.trusts) };
        Ok(())
    };
    status(accept())
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_accept_if(
    listener: *mut FurlongListener,
    is_allowed: FurlongRule,
    context: *mut c_void,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
    peer: *mut FurlongPeer,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        let rule = rule(is_allowed, context);
        accept_by(listener, Handles::new(sender, receiver, peer), |listener| {
            listener.accept_if(rule?).map_err(number)
        })
    }
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_try_accept_if(
    listener: *mut FurlongListener,
    is_allowed: FurlongRule,
    context: *mut c_void,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
    peer: *mut FurlongPeer,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        let rule = rule(is_allowed, context);
        accept_by(listener, Handles::new(sender, receiver, peer), |listener| {
            listener.try_accept_if(rule?).map_err(number)
        })
    }
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_listener_descriptor(listener: *mut FurlongListener) -> c_int {
    // SAFETY: as the caller promises.
    let listener = unsafe { mutable(listener) };
    listener.map_or_else(|error| error, |listener| listener.listener.descriptor().as_raw_fd())
}

/// See the header.
///
/// # Safety
/// As the header states. The handle must not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_listener_close(listener: *mut FurlongListener) {
    if !listener.is_null() {
        // SAFETY: created by `Box::into_raw`.
        drop(unsafe { Box::from_raw(listener) });
    }
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_connect(
    name: *const c_char,
    given: *const FurlongOptions,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
    peer: *mut FurlongPeer,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        connect_by(name, given, Handles::new(sender, receiver, peer), |name, options| {
            Channel::connect(name, options).map_err(number)
        })
    }
}

/// # Safety
/// As the header states for the name and the options.
unsafe fn connect_by(
    name: *const c_char,
    given: *const FurlongOptions,
    handles: Result<Handles>,
    connect: impl FnOnce(&str, &Options) -> Result<Channel>,
) -> c_int {
    // SAFETY: as the caller promises.
    let (name, given) = unsafe { (text(name), options(given)) };
    let connect = || {
        let ((options, trusts), handles) = (given?, handles?);
        let channel = connect(name?, &options)?;
        // SAFETY: as the caller promises by the options.
        unsafe { handles.give(channel, trusts) };
        Ok(())
    };
    status(connect())
}

/// Returns the timeout of a call that connects.
fn connect_time(timeout_ns: i64) -> Duration {
    match timeout(timeout_ns) {
        Timeout::None => Duration::MAX,
        Timeout::Now => Duration::ZERO,
        Timeout::After(time) => time,
    }
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_connect_timeout(
    name: *const c_char,
    given: *const FurlongOptions,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
    peer: *mut FurlongPeer,
    timeout_ns: i64,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        connect_by(name, given, Handles::new(sender, receiver, peer), |name, options| {
            Channel::connect_timeout(name, options, connect_time(timeout_ns)).map_err(number)
        })
    }
}

/// See the header.
///
/// # Safety
/// As the header states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_connect_if(
    name: *const c_char,
    given: *const FurlongOptions,
    is_allowed: FurlongRule,
    context: *mut c_void,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
    peer: *mut FurlongPeer,
    timeout_ns: i64,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        let rule = rule(is_allowed, context);
        connect_by(name, given, Handles::new(sender, receiver, peer), |name, options| {
            Channel::connect_if(name, options, connect_time(timeout_ns), rule?).map_err(number)
        })
    }
}

/// See the header.
///
/// # Safety
/// As the header states.
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
/// As the header states: the descriptors must have no other owner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn furlong_from_end(
    end: *const FurlongEnd,
    given: *const FurlongOptions,
    sender: *mut *mut FurlongSender,
    receiver: *mut *mut FurlongReceiver,
) -> c_int {
    // SAFETY: as the caller promises.
    let (end, given) = unsafe { (end.as_ref(), options(given)) };
    // SAFETY: as the caller promises.
    let handles = unsafe { Handles::new(sender, receiver, std::ptr::null_mut()) };
    let open = || {
        let end = end.ok_or(INVALID)?;
        // SAFETY: as the caller promises. All descriptors are owned before one is found to be invalid.
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
