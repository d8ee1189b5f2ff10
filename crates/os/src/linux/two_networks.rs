//! Two network namespaces, connected by a virtual Ethernet pair. This process and the processes that it starts are in one. The
//! processes that it starts in the other are as separate as those of another container.
//!
//! The machine's own network is not changed, and neither namespace has a name: the kernel removes both, with the pair, once their
//! last process has ended, in any way.

use crate::error::{Context, check};
use crate::linux::namespace::{self, SeparateNamespaces};
use crate::linux::process::{Bond, Exit, fork};
use crate::linux::segment::{text_object, written_text};
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
/// Length of their common network prefix, in bits.
const NETWORK_BITS: u8 = 30;
/// Longest reason why the namespaces cannot be created, in bytes.
const REASON_BYTES: u64 = 4096;

/// The namespace of this side, and the other one; a process creates them once.
static NETWORKS: OnceLock<[OwnedFd; 2]> = OnceLock::new();

/// Moves this process, and all processes that it starts from now on, into a new network namespace, and creates the other one:
/// directly if it has the right, and otherwise inside a user namespace in which it keeps its user and group. Call it before the
/// process starts a second thread. A second call does nothing.
///
/// # Errors
/// Returns an error if that is not allowed, or the kernel has no such devices; then nothing has changed.
pub fn enter() -> io::Result<()> {
    if NETWORKS.get().is_some() {
        return Ok(());
    }
    // A child tries first, because a process cannot leave half-made namespaces.
    let said = text_object("furlong-networks")?;
    let trial = fork(&[], said.as_fd(), Bond::DiesWithParent, || match made() {
        Ok(_) => 0,
        Err(error) => {
            eprint!("{error}");
            1
        }
    });
    if trial?.wait() != Some(Exit::Code(0)) {
        let reason = written_text(said.as_fd(), REASON_BYTES);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    let made = made()?;
    let _ = NETWORKS.set(made);
    Ok(())
}

/// Calls `body` in the other namespace; the processes that it starts stay there.
///
/// # Errors
/// Returns the error of `body`, or an error if there is no other namespace.
pub fn in_the_other<T>(body: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let [near, far] = NETWORKS.get().ok_or(io::ErrorKind::NotConnected)?;
    join(far.as_fd())?;
    let result = body();
    join(near.as_fd())?;
    result
}

fn made() -> io::Result<[OwnedFd; 2]> {
    let far = another()?;
    let near = another()?;
    virtual_cable::make("near", far.as_fd(), "far")?;
    settle(NEAR_ADDRESS)?;
    join(far.as_fd())?;
    let settled = settle(FAR_ADDRESS);
    join(near.as_fd())?;
    settled.map(|()| [near, far])
}

/// Moves this process into a new network namespace, and returns it.
fn another() -> io::Result<OwnedFd> {
    namespace::leave(SeparateNamespaces { network: true, ..SeparateNamespaces::default() })
        .context(|| "enter a new network namespace")?;
    File::open("/proc/self/ns/net").map(OwnedFd::from).context(|| "open /proc/self/ns/net")
}

fn settle(address: Ipv4Addr) -> io::Result<()> {
    virtual_cable::set_up(LOOPBACK)?;
    virtual_cable::give_address(END, address, NETWORK_BITS)?;
    virtual_cable::set_up(END)
}

fn join(network: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call changes only the namespace of this thread.
    check(unsafe { libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop).context(|| "setns")
}
