//! Sockets that keep messages apart.

pub(crate) mod datagram;
#[cfg(target_os = "linux")]
pub(crate) mod linux;
pub(crate) mod udp;
