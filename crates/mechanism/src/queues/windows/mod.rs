//! Queues of messages that Windows has.

pub(crate) mod mailslot;
pub(crate) mod window_message;
