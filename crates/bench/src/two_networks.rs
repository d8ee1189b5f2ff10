//! Links between two network namespaces of this machine. What goes by the network has a socket in each, and passes the virtual
//! Ethernet pair between them; a socket stays where it was made, so that roles run where all roles run.

use furlong_mechanism::{BetweenHosts, Link, LinkSpecification, new_secret};
use furlong_model::Unavailable;
use furlong_os::Context;
use furlong_os::linux::limited::no_thread;
use furlong_os::linux::two_networks::{self, FAR_ADDRESS, in_the_other};
use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

/// How long the two ends of a link may take to find each other.
const PATIENCE: Duration = Duration::from_secs(10);

/// Moves this process into one of two new network namespaces; all that it starts is there too. It comes before the second thread.
///
/// # Errors
/// Why there can be none here. Nothing has changed then.
pub fn enter() -> Result<(), Unavailable> {
    two_networks::enter().map_err(|error| {
        Unavailable::new(
            format!("two network namespaces cannot be made: {error}"),
            "run it as root, or where user namespaces are allowed (sysctl user.max_user_namespaces, user.max_net_namespaces)",
        )
    })
}

/// Makes a link whose responder's end is in the other namespace.
///
/// # Errors
/// That there is no other namespace, or what could not be made.
pub(crate) fn link(ends: BetweenHosts, specification: &LinkSpecification) -> io::Result<Link> {
    let BetweenHosts { listen, enter, .. } = ends;
    let entrance = in_the_other(|| listen(FAR_ADDRESS.into()))?;
    let to = SocketAddr::new(FAR_ADDRESS.into(), entrance.address()?.port());
    let (secret, deadline) = (new_secret()?, Instant::now() + PATIENCE);
    // Each waits for the other.
    thread::scope(|scope| {
        let responder = thread::Builder::new()
            .spawn_scoped(scope, || entrance.admit(&secret, deadline, specification))
            .map_err(|error| no_thread(&error))
            .context(|| "start the thread that makes the responder's end")?;
        let initiator = enter(to, &secret, deadline, specification);
        let responder = responder.join().map_err(|_| io::Error::other("the responder's end was not made"))?;
        Ok(initiator?.joined(responder?))
    })
}
