//! Queues of messages that Windows has.

pub(crate) mod mailslot;
