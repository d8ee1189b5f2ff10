//! Byte streams, which keep the order of messages but not the boundaries between them.

mod between_hosts;
#[cfg(target_os = "linux")]
pub(crate) mod byte_stream;
#[cfg(target_os = "linux")]
pub(crate) mod linux;
pub(crate) mod socket_stream;
mod stream;
pub(crate) mod tcp;
pub(crate) mod unix_stream;
#[cfg(windows)]
pub(crate) mod windows;
