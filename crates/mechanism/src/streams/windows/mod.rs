//! Byte streams of Windows, and pipes that keep message boundaries.

pub(crate) mod anonymous_pipe;
pub(crate) mod named_pipe;
mod pipe_stream;
pub(crate) mod socket_stream;
