//! Sockets that keep message boundaries.

mod between_hosts;
pub(crate) mod datagram;
#[cfg(target_os = "linux")]
pub(crate) mod linux;
pub(crate) mod udp;
