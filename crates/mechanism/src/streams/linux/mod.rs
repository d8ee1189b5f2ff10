//! Streams of bytes that Linux has.

pub(crate) mod fifo;
pub(crate) mod pipe;
pub(crate) mod socketpair;
pub(crate) mod unix_stream;
pub(crate) mod vmsplice;
