//! What several of Linux's mechanisms share.

pub(crate) mod driver_channel;
