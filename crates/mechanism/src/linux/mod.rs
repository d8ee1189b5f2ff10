//! Code that several Linux mechanisms share.

pub(crate) mod datagram_batches;
pub(crate) mod driver_channel;
pub(crate) mod one_to_all;
pub(crate) mod zero_copy;
