//! A virtual Ethernet pair, created through messages to the kernel (rtnetlink), so that no program for it is needed.
//!
//! The formats are those of `linux/rtnetlink.h`, `linux/if_link.h` and `linux/veth.h`.

use crate::error::Context;
use crate::linux::socket::{open, receive_message, send};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Index of the loopback device, in every network namespace.
pub const LOOPBACK: i32 = 1;
/// Index of either end of the pair, each in a separate namespace whose only other device is the loopback.
pub const END: i32 = 2;

const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const ERROR: u16 = 2;
/// Flags of a request that is to be acknowledged.
const REQUEST: u16 = 1 | 4;
/// Flags of a request that creates an object which must not exist.
const CREATE: u16 = REQUEST | 0x400 | 0x200;

const NAME: u16 = 3;
const MASTER: u16 = 10;
const LINK_INFORMATION: u16 = 18;
const NAMESPACE: u16 = 28;
const KIND: u16 = 1;
const DATA: u16 = 2;
const PEER: u16 = 1;
const ADDRESS: u16 = 1;
const LOCAL: u16 = 2;

/// Size of the header of a message, in bytes.
const HEADER_BYTES: usize = 16;

/// Creates a pair of ends with these names and indexes: one here, and one in the namespace of this descriptor. Neither namespace may
/// have a device with this index.
///
/// # Errors
/// Returns an error without the right, or if the kernel has no such devices.
pub fn make(
    (name, index): (&str, i32),
    there: BorrowedFd<'_>,
    (name_there, index_there): (&str, i32),
) -> io::Result<()> {
    let namespace = there.as_raw_fd().to_ne_bytes();
    let peer =
        [device(index_there, false), attribute(NAME, &text(name_there)), attribute(NAMESPACE, &namespace)];
    let data = attribute(DATA, &attribute(PEER, &peer.concat()));
    let information = attribute(LINK_INFORMATION, &[attribute(KIND, &text("veth")), data].concat());
    let message = [device(index, false), attribute(NAME, &text(name)), information].concat();
    ask(NEW_LINK, CREATE, &message).context(|| "make a virtual Ethernet pair")
}

/// Creates a bridge with this index here.
///
/// # Errors
/// Returns an error without the right, or if the kernel has no bridges.
pub fn make_bridge(index: i32) -> io::Result<()> {
    let information = attribute(LINK_INFORMATION, &attribute(KIND, &text("bridge")));
    let message = [device(index, false), attribute(NAME, &text("bridge")), information].concat();
    ask(NEW_LINK, CREATE, &message).context(|| "make a bridge (kernel option CONFIG_BRIDGE)")
}

/// Makes a device of this namespace a port of a bridge.
///
/// # Errors
/// Returns an error without the right, or without one of the devices.
pub fn plug_in(index: i32, bridge: i32) -> io::Result<()> {
    let message = [device(index, false), attribute(MASTER, &bridge.to_ne_bytes())].concat();
    ask(NEW_LINK, REQUEST, &message).context(|| "add a port to a bridge")
}

/// Enables a device of this namespace.
///
/// # Errors
/// Returns an error without the right, or without the device.
pub fn set_up(number: i32) -> io::Result<()> {
    ask(NEW_LINK, REQUEST, &device(number, true)).context(|| "bring a network device up")
}

/// Assigns an address to a device of this namespace, in a network with a prefix of `bits` bits.
///
/// # Errors
/// Returns an error without the right, or without the device.
pub fn give_address(number: i32, address: Ipv4Addr, bits: u8) -> io::Result<()> {
    let family = libc::AF_INET as u8;
    let mut message = vec![family, bits, 0, 0];
    message.extend(number.to_ne_bytes());
    message.extend(attribute(LOCAL, &address.octets()));
    message.extend(attribute(ADDRESS, &address.octets()));
    ask(NEW_ADDRESS, CREATE, &message).context(|| "give a network device an address")
}

/// Returns the description of a device by its index; `up` enables it, otherwise its state does not change.
fn device(number: i32, up: bool) -> Vec<u8> {
    let flags = if up { libc::IFF_UP as u32 } else { 0 };
    let mut message = vec![0; 4];
    message.extend(number.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message
}

fn text(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0]].concat()
}

/// Returns an attribute of a message: length, kind, value, and zeroes up to a multiple of four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len();
    let mut bytes = Vec::with_capacity(length.next_multiple_of(4));
    bytes.extend((length as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(length.next_multiple_of(4), 0);
    bytes
}

/// Sends a request to the kernel, and receives its answer.
fn ask(what: u16, flags: u16, message: &[u8]) -> io::Result<()> {
    let kernel =
        open(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE).context(|| "socket AF_NETLINK")?;
    let mut bytes = ((HEADER_BYTES + message.len()) as u32).to_ne_bytes().to_vec();
    bytes.extend(what.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend(message);
    send(kernel.as_fd(), &bytes)?;
    let mut answer = [0; 1024];
    let length = receive_message(kernel.as_fd(), &mut answer)?;
    let (kind, error) =
        (answer.get(4..6), answer[..length.min(answer.len())].get(HEADER_BYTES..HEADER_BYTES + 4));
    match (kind, error) {
        (Some(kind), Some(error)) if kind == ERROR.to_ne_bytes() => {
            match i32::from_ne_bytes([error[0], error[1], error[2], error[3]]) {
                0 => Ok(()),
                number => Err(io::Error::from_raw_os_error(-number)),
            }
        }
        _ => Err(io::Error::other("the kernel's answer is not understood")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_and_say_how_long_they_are_without_that() {
        let bytes = attribute(NAME, &text("near"));
        assert_eq!(bytes.len(), 12);
        assert_eq!(u16::from_ne_bytes([bytes[0], bytes[1]]), 9);
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error_of_the_kernel() {
        let error = set_up(i32::MAX).unwrap_err().to_string();
        let told = ["No such device", "Operation not permitted"];
        assert!(told.iter().any(|told| error.contains(told)), "{error}");
    }
}
