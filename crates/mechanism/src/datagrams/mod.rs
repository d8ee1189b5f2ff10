//! Sockets that keep messages apart.

pub(crate) mod datagram;
pub(crate) mod linux;
pub(crate) mod udp;
