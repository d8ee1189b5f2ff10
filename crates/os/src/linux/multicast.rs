//! UDP datagrams that several sockets of this machine receive.

use crate::error::{Context, check};
use crate::linux::socket::{open, set_option};
use crate::socket::drop_received;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// Returns a socket that sends to a group over the loopback interface, and `receivers` sockets that each receive all of its
/// datagrams, and no others.
///
/// # Errors
/// Returns an error if there is no loopback interface, or it does not support multicast.
pub fn group(receivers: usize) -> io::Result<(OwnedFd, Vec<OwnedFd>)> {
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).context(|| "bind a UDP port of 127.0.0.1")?;
    let from = sender.local_addr()?;
    // An administratively scoped address (RFC 2365), derived from the port, which no other socket has.
    let [high, low] = from.port().to_be_bytes();
    let group = Ipv4Addr::new(239, 255, high, low);
    let of_group = |_| member(group, from).context(|| format!("join {group} on the loopback interface"));
    let members = (0..receivers).map(of_group).collect::<io::Result<_>>()?;
    let loopback = libc::in_addr { s_addr: u32::from(Ipv4Addr::LOCALHOST).to_be() };
    set_option(&sender, libc::IPPROTO_IP, libc::IP_MULTICAST_IF, &loopback)?;
    sender.connect((group, from.port()))?;
    Ok((sender.into(), members))
}

/// Sends a datagram to a group with one member, and waits until it has arrived.
///
/// # Errors
/// Returns the errors of [`group`], or an error if no datagram arrives.
pub fn try_it() -> io::Result<()> {
    let (sender, mut members) = group(1)?;
    let member = UdpSocket::from(members.remove(0));
    member.set_read_timeout(Some(Duration::from_secs(1)))?;
    UdpSocket::from(sender).send(&[1])?;
    member.recv(&mut [0]).map(drop)
}

/// Returns a socket that receives the datagrams that `from` sends to the group.
fn member(group: Ipv4Addr, from: SocketAddr) -> io::Result<OwnedFd> {
    let socket = open(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let (yes, no): (libc::c_int, libc::c_int) = (1, 0);
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &yes)?;
    // Without this, a socket receives datagrams of every group that any socket of the machine has joined.
    set_option(&socket, libc::IPPROTO_IP, libc::IP_MULTICAST_ALL, &no)?;
    // SAFETY: zeroes are a valid sockaddr_in.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as libc::sa_family_t;
    address.sin_port = from.port().to_be();
    address.sin_addr.s_addr = u32::from(group).to_be();
    let length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of the address.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    let socket = UdpSocket::from(socket);
    socket.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST)?;
    socket.connect(from)?;
    // Datagrams that others sent to the group before `connect` are still queued.
    drop_received(&socket)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::socket::{receive_message, send};
    use furlong_testing::skip;
    use std::os::fd::AsFd;

    #[test]
    fn each_member_receives_what_is_sent_to_its_group_alone() {
        let Ok((sender, members)) = group(3) else { skip!("needs multicast on the loopback device") };
        let (other, others) = group(1).unwrap();
        send(other.as_fd(), b"to others").unwrap();
        send(sender.as_fd(), b"to all").unwrap();
        let mut buffer = [0; 16];
        for (member, text) in
            members.iter().map(|member| (member, &b"to all"[..])).chain([(&others[0], &b"to others"[..])])
        {
            let length = receive_message(member.as_fd(), &mut buffer).unwrap();
            assert_eq!(&buffer[..length], text);
        }
    }
}
