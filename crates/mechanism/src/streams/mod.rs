//! Streams of bytes: order is kept, boundaries between messages are not.

#[cfg(target_os = "linux")]
pub(crate) mod byte_stream;
#[cfg(target_os = "linux")]
pub(crate) mod linux;
pub(crate) mod tcp;
#[cfg(windows)]
pub(crate) mod windows;
