//! The handles of an end of `channel` on Linux, its blocking wait strategy, and its system calls.

use crate::EndpointSetup;
use furlong_channel::{Channel, Descriptors, Options, Side};
use furlong_model::{Call, Calls, Wait};
use furlong_os::Handle;
use std::io;

/// Summary of the mechanism in one line.
pub(crate) const SUMMARY: &str = "rings of the library furlong-channel, one each way, in a sealed memfd";

/// Requirement of the mechanism.
pub(crate) const NEEDS: &str = "needs Linux 3.17 or later";

/// Wait strategy of an end that blocks at once.
pub(crate) const SLEEPERS_WAIT: &[Wait] = &[Wait::Futex];

/// The calls of an end that sleeps: to wake, to sleep, and to check in between whether the peer is alive.
pub(crate) const SLEEPERS_CALLS: Calls = Calls {
    ring: &[Call::AtMostOnce("futex")],
    wait: &[Call::AtMostOnce("membarrier"), Call::AtMostOnce("futex"), Call::AtMostOnce("poll")],
    ..Calls::NONE
};

/// The calls of an end that never sleeps.
pub(crate) const SPINNERS_CALLS: Calls = Calls { wait: &[Call::AtMostOnce("poll")], ..Calls::NONE };

/// Splits an end into the handles that are passed to a role, in order.
pub(crate) fn take_apart(end: Descriptors) -> Vec<Handle> {
    let Descriptors { memory, sending, receiving, .. } = end;
    vec![memory, sending, receiving]
}

/// Opens an end from the handles of the set-up.
///
/// # Errors
/// Returns an error if a handle is missing or invalid.
pub(crate) fn open(setup: &mut EndpointSetup, side: Side, options: &Options) -> io::Result<Channel> {
    let (memory, sending) = (setup.descriptor()?, setup.descriptor()?);
    let end = Descriptors { memory, sending, receiving: setup.descriptor()?, side };
    Ok(Channel::from_descriptors(end, options)?)
}
