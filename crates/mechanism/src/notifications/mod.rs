//! What wakes another process and carries next to nothing.

pub(crate) mod linux;
