//! What an end of `channel` is made of on Linux, how it sleeps, and what it calls.

use crate::EndpointSetup;
use furlong_channel::{Channel, Descriptors, Options, Side};
use furlong_model::{Call, Calls, Wait};
use furlong_os::Handle;
use std::io;

/// One line that says what it is.
pub(crate) const SUMMARY: &str = "rings of the library furlong-channel, one each way, in a sealed memfd";

/// What it needs.
pub(crate) const NEEDS: &str = "needs Linux 3.17 or later";

/// How an end waits that sleeps at once.
pub(crate) const SLEEPERS_WAIT: &[Wait] = &[Wait::Futex];

/// The calls of an end that sleeps: to wake, and to sleep in between looking whether the other end lives.
pub(crate) const SLEEPERS_CALLS: Calls = Calls {
    ring: &[Call::AtMostOnce("futex")],
    wait: &[Call::AtMostOnce("membarrier"), Call::AtMostOnce("futex"), Call::AtMostOnce("poll")],
    ..Calls::NONE
};

/// The calls of an end that never sleeps.
pub(crate) const SPINNERS_CALLS: Calls = Calls { wait: &[Call::AtMostOnce("poll")], ..Calls::NONE };

/// What is handed over of an end, in order.
pub(crate) fn take_apart(end: Descriptors) -> Vec<Handle> {
    let Descriptors { memory, sending, receiving, .. } = end;
    vec![memory, sending, receiving]
}

/// The end of what was handed over.
///
/// # Errors
/// If something is missing, or not what it should be.
pub(crate) fn open(setup: &mut EndpointSetup, side: Side, options: &Options) -> io::Result<Channel> {
    let (memory, sending) = (setup.descriptor()?, setup.descriptor()?);
    let end = Descriptors { memory, sending, receiving: setup.descriptor()?, side };
    Ok(Channel::from_descriptors(end, options)?)
}
