//! The handles of an end of `channel` on Windows, its blocking wait strategy, and its system calls.

use crate::EndpointSetup;
use furlong_channel::{Channel, Events, Handles, Options, Side};
use furlong_model::{Call, Calls, Wait};
use furlong_os::Handle;
use std::io;

/// Summary of the mechanism in one line.
pub(crate) const SUMMARY: &str = "rings of the library furlong-channel, one each way, in a section";

/// Requirement of the mechanism.
pub(crate) const NEEDS: &str = "needs room in the paging file";

/// Wait strategy of an end that blocks at once.
pub(crate) const SLEEPERS_WAIT: &[Wait] = &[Wait::Event];

/// The calls of an end that sleeps: to wake, to sleep, and to check in between whether the peer is alive.
pub(crate) const SLEEPERS_CALLS: Calls = Calls {
    ring: &[Call::AtMostOnce("SetEvent")],
    wait: &[Call::AtMostOnce("WaitForSingleObject"), Call::AtMostOnce("PeekNamedPipe")],
    ..Calls::NONE
};

/// The calls of an end that never sleeps.
pub(crate) const SPINNERS_CALLS: Calls = Calls { wait: &[Call::AtMostOnce("PeekNamedPipe")], ..Calls::NONE };

/// Splits an end into the handles that are passed to a role, in order.
pub(crate) fn take_apart(end: Handles) -> Vec<Handle> {
    let Handles { memory, connection, sending, receiving, .. } = end;
    vec![memory, connection, sending.sender, sending.receiver, receiving.sender, receiving.receiver]
}

/// Opens an end from the handles of the set-up.
///
/// # Errors
/// Returns an error if a handle is missing or invalid.
pub(crate) fn open(setup: &mut EndpointSetup, side: Side, options: &Options) -> io::Result<Channel> {
    let (memory, connection) = (setup.descriptor()?, setup.descriptor()?);
    let mut events = || io::Result::Ok(Events { sender: setup.descriptor()?, receiver: setup.descriptor()? });
    let (sending, receiving) = (events()?, events()?);
    Ok(Channel::from_handles(Handles { memory, connection, sending, receiving, side }, options)?)
}
