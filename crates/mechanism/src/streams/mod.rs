//! Streams of bytes: order is kept, boundaries between messages are not.

pub(crate) mod byte_stream;
pub(crate) mod linux;
pub(crate) mod tcp;
