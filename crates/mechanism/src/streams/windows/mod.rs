//! Streams of bytes that Windows has, and pipes that keep messages apart.

pub(crate) mod anonymous_pipe;
pub(crate) mod named_pipe;
mod pipe_stream;
pub(crate) mod socket_stream;
