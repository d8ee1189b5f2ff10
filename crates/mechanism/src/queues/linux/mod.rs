//! Message queues of Linux.

pub(crate) mod driver_message;
pub(crate) mod posix_mq;
pub(crate) mod sysv_mq;
