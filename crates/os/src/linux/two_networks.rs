//! Two network namespaces, connected by a virtual Ethernet pair. This process and the processes that it starts are in one. The
//! processes that it starts in the other are as separate as those of another container.
//!
//! The machine's own network is not changed, and neither namespace has a name: the kernel removes both, with the pair, once their
//! last process has ended, in any way.
//!
//! On request, a bridge in a third namespace is a second way between them: each has a further pair, whose other end is a port.

use crate::error::{Context, check};
use crate::linux::attempt::attempt;
use crate::linux::namespace::{self, SeparateNamespaces};
use crate::linux::virtual_cable::{self, END, LOOPBACK};
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

/// Address of the other side.
pub const FAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// Address of this side.
const NEAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Address of the other side across the bridge.
pub const FAR_ADDRESS_BEHIND_BRIDGE: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);
/// Address of this side at the bridge.
const NEAR_ADDRESS_AT_BRIDGE: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
/// Index of the end of either side that leads to the bridge.
const BRIDGED_END: i32 = 3;
/// Indexes of the bridge and of its ports.
const BRIDGE: i32 = 2;
const PORTS: [i32; 2] = [3, 4];
/// Length of their common network prefix, in bits.
const NETWORK_BITS: u8 = 30;

/// The namespace of this side, the other one, and that of the bridge, if there is one. A process creates them once.
static NETWORKS: OnceLock<(OwnedFd, OwnedFd, Option<OwnedFd>)> = OnceLock::new();

/// Moves this process, and all processes that it starts from now on, into a new network namespace, and creates the other one:
/// directly if it has the right, and otherwise inside a user namespace in which it keeps its user and group. Call it before the
/// process starts a second thread. A second call does nothing. With `bridged`, a bridge connects them, too.
///
/// # Errors
/// Returns an error if that is not allowed, or the kernel has no such devices; then nothing has changed.
pub fn enter(bridged: bool) -> io::Result<()> {
    if NETWORKS.get().is_some() {
        return Ok(());
    }
    // A child tries first, because a process cannot leave half-made namespaces.
    attempt(|| made(bridged).map(drop))?;
    let made = made(bridged)?;
    let _ = NETWORKS.set(made);
    Ok(())
}

/// Calls `body` in the other namespace; the processes that it starts stay there.
///
/// # Errors
/// Returns the error of `body`, or an error if there is no other namespace.
pub fn in_the_other<T>(body: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let (near, far, _) = NETWORKS.get().ok_or(io::ErrorKind::NotConnected)?;
    join(far.as_fd())?;
    let result = body();
    join(near.as_fd())?;
    result
}

fn made(bridged: bool) -> io::Result<(OwnedFd, OwnedFd, Option<OwnedFd>)> {
    let far = another()?;
    let middle = bridged.then(another).transpose()?;
    let near = another()?;
    virtual_cable::make(("near", END), far.as_fd(), ("far", END))?;
    settle(END, NEAR_ADDRESS)?;
    let [near_port, far_port] = PORTS;
    if let Some(middle) = &middle {
        virtual_cable::make(("near-bridge", BRIDGED_END), middle.as_fd(), ("port-near", near_port))?;
        settle(BRIDGED_END, NEAR_ADDRESS_AT_BRIDGE)?;
    }
    join(far.as_fd())?;
    settle(END, FAR_ADDRESS)?;
    if let Some(middle) = &middle {
        virtual_cable::make(("far-bridge", BRIDGED_END), middle.as_fd(), ("port-far", far_port))?;
        settle(BRIDGED_END, FAR_ADDRESS_BEHIND_BRIDGE)?;
        join(middle.as_fd())?;
        virtual_cable::make_bridge(BRIDGE)?;
        PORTS.into_iter().try_for_each(|port| virtual_cable::plug_in(port, BRIDGE))?;
        [BRIDGE, near_port, far_port].into_iter().try_for_each(virtual_cable::set_up)?;
    }
    join(near.as_fd())?;
    Ok((near, far, middle))
}

/// Moves this process into a new network namespace, and returns it.
fn another() -> io::Result<OwnedFd> {
    namespace::leave(SeparateNamespaces { network: true, ..SeparateNamespaces::default() })
        .context(|| "enter a new network namespace")?;
    File::open("/proc/self/ns/net").map(OwnedFd::from).context(|| "open /proc/self/ns/net")
}

fn settle(end: i32, address: Ipv4Addr) -> io::Result<()> {
    virtual_cable::set_up(LOOPBACK)?;
    virtual_cable::give_address(end, address, NETWORK_BITS)?;
    virtual_cable::set_up(end)
}

fn join(network: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call changes only the namespace of this thread.
    check(unsafe { libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop).context(|| "setns")
}
