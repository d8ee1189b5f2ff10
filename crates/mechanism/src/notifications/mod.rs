//! Mechanisms that wake another process and carry at most a few bytes.

#[cfg(target_os = "linux")]
pub(crate) mod linux;
#[cfg(windows)]
pub(crate) mod windows;
