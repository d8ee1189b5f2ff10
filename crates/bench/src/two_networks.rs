//! Links between two network namespaces of this machine. A mechanism that uses TCP or UDP has a socket in each, and its
//! data crosses the virtual Ethernet pair between them. A socket stays in the namespace where it was created, so all
//! roles can run in this process's namespace.

use furlong_mechanism::{BetweenHosts, Link, LinkSpecification, new_secret};
use furlong_model::Unavailable;
use furlong_os::Context;
use furlong_os::linux::limited::no_thread;
use furlong_os::linux::two_networks::{self, FAR_ADDRESS, FAR_ADDRESS_BEHIND_BRIDGE, in_the_other};
use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

/// The time that the two ends of a link may take to connect.
const PATIENCE: Duration = Duration::from_secs(10);

/// Moves this process, and all processes that it starts, into one of two new network namespaces. Call it before the
/// second thread starts. With `bridged`, a bridge connects them, too.
///
/// # Errors
/// Returns the reason if namespaces cannot be created. Nothing has changed then.
pub fn enter(bridged: bool) -> Result<(), Unavailable> {
    two_networks::enter(bridged).map_err(|error| {
        Unavailable::new(
            format!("cannot create two network namespaces: {error}"),
            "run it as root, or where user namespaces are allowed (sysctl user.max_user_namespaces, user.max_net_namespaces)",
        )
    })
}

/// Creates a link whose responder's end is in the other namespace; with `bridged`, across the bridge.
///
/// # Errors
/// Returns an error if there is no other namespace, or if the link cannot be created.
pub(crate) fn link(ends: BetweenHosts, specification: &LinkSpecification, bridged: bool) -> io::Result<Link> {
    let BetweenHosts { listen, enter, .. } = ends;
    let address = if bridged { FAR_ADDRESS_BEHIND_BRIDGE } else { FAR_ADDRESS };
    let entrance = in_the_other(|| listen(address.into()))?;
    let to = SocketAddr::new(address.into(), entrance.address()?.port());
    let (secret, deadline) = (new_secret()?, Instant::now() + PATIENCE);
    // Each end waits for the other, so they need two threads.
    thread::scope(|scope| {
        let responder = thread::Builder::new()
            .spawn_scoped(scope, || entrance.admit(&secret, deadline, specification))
            .map_err(|error| no_thread(&error))
            .context(|| "start the thread that creates the responder's end")?;
        let initiator = enter(to, &secret, deadline, specification);
        let responder =
            responder.join().map_err(|_| io::Error::other("the responder's end was not created"))?;
        Ok(initiator?.joined(responder?))
    })
}
