//! Linux sockets that keep message boundaries.

pub(crate) mod scm_rights;
mod two_sockets;
pub(crate) mod udp_multicast;
pub(crate) mod unix_dgram;
pub(crate) mod unix_dgram_to_all;
mod unix_limits;
pub(crate) mod unix_seqpacket;
