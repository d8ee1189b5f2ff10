//! What an end of `channel` is made of on Windows, how it sleeps, and what it calls.

use crate::EndpointSetup;
use furlong_channel::{Channel, Events, Handles, Options, Side};
use furlong_model::{Call, Calls, Wait};
use furlong_os::Handle;
use std::io;

/// One line that says what it is.
pub(crate) const SUMMARY: &str = "rings of the library furlong-channel, one each way, in a section";

/// What it needs.
pub(crate) const NEEDS: &str = "needs room in the paging file";

/// How an end waits that sleeps at once.
pub(crate) const SLEEPERS_WAIT: &[Wait] = &[Wait::Event];

/// The calls of an end that sleeps: to wake, and to sleep in between looking whether the other end lives.
pub(crate) const SLEEPERS_CALLS: Calls = Calls {
    ring: &[Call::AtMostOnce("SetEvent")],
    wait: &[Call::AtMostOnce("WaitForSingleObject"), Call::AtMostOnce("PeekNamedPipe")],
    ..Calls::NONE
};

/// The calls of an end that never sleeps.
pub(crate) const SPINNERS_CALLS: Calls = Calls { wait: &[Call::AtMostOnce("PeekNamedPipe")], ..Calls::NONE };

/// What is handed over of an end, in order.
pub(crate) fn take_apart(end: Handles) -> Vec<Handle> {
    let Handles { memory, connection, sending, receiving, .. } = end;
    vec![memory, connection, sending.sender, sending.receiver, receiving.sender, receiving.receiver]
}

/// The end of what was handed over.
///
/// # Errors
/// If something is missing, or not what it should be.
pub(crate) fn open(setup: &mut EndpointSetup, side: Side, options: &Options) -> io::Result<Channel> {
    let (memory, connection) = (setup.descriptor()?, setup.descriptor()?);
    let mut events = || io::Result::Ok(Events { sender: setup.descriptor()?, receiver: setup.descriptor()? });
    let (sending, receiving) = (events()?, events()?);
    Ok(Channel::from_handles(Handles { memory, connection, sending, receiving, side }, options)?)
}
