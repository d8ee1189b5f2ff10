//! Message queues of Windows.

pub(crate) mod mailslot;
pub(crate) mod window_message;
