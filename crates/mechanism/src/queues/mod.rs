//! Queues of messages in the kernel.

pub(crate) mod linux;
