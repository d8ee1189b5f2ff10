//! Sockets of Linux's that keep messages apart.

pub(crate) mod scm_rights;
pub(crate) mod unix_dgram;
mod unix_limits;
pub(crate) mod unix_seqpacket;
