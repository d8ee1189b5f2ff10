//! Two network namespaces with a virtual Ethernet pair between them: this process and what it starts is in one, and what it starts
//! in the other is as far away as another container.
//!
//! Nothing of the machine's own network is touched, and neither has a name: the kernel takes both away, with the pair, once the
//! last process in them has ended, however that was.

use crate::error::{Context, check};
use crate::linux::namespace::{self, Between};
use crate::linux::process::{Bond, Exit, fork};
use crate::linux::segment::{text_object, written_text};
use crate::linux::virtual_cable::{self, END, LOOPBACK};
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

/// The address of the other side.
pub const FAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// That of this side.
const NEAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Bits that both have in common.
const NETWORK_BITS: u8 = 30;
/// The longest reason why there are none, in bytes.
const REASON_BYTES: u64 = 4096;

/// The namespace of this side, and the other one; a process has them once.
static NETWORKS: OnceLock<[OwnedFd; 2]> = OnceLock::new();

/// Moves this process, and all it starts from now on, into a network namespace of its own, and makes the other one: directly where
/// it has the right, else inside a user namespace in which it keeps its user and group. Once is enough; it comes before the second
/// thread.
///
/// # Errors
/// Where that is not allowed, or the kernel has no such devices. Nothing has changed then.
pub fn enter() -> io::Result<()> {
    if NETWORKS.get().is_some() {
        return Ok(());
    }
    // What is half-made cannot be left again, so a child tries first.
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

/// Does something in the other namespace: what it starts stays there.
///
/// # Errors
/// Its own, or that there is no other namespace.
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

/// Leaves this network namespace for a new one.
fn another() -> io::Result<OwnedFd> {
    namespace::leave(Between { network: true, ..Between::default() })
        .context(|| "enter a new network namespace")?;
    File::open("/proc/self/ns/net").map(OwnedFd::from).context(|| "open /proc/self/ns/net")
}

fn settle(address: Ipv4Addr) -> io::Result<()> {
    virtual_cable::set_up(LOOPBACK)?;
    virtual_cable::give_address(END, address, NETWORK_BITS)?;
    virtual_cable::set_up(END)
}

fn join(network: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: only changes which namespace this thread uses.
    check(unsafe { libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop).context(|| "setns")
}
