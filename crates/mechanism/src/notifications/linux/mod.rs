//! Notifications of Linux.

pub(crate) mod eventfd;
pub(crate) mod eventfd_semaphore;
pub(crate) mod futex;
pub(crate) mod io_uring_msg_ring;
pub(crate) mod posix_semaphore;
pub(crate) mod signal;
pub(crate) mod signalfd;
pub(crate) mod sysv_semaphore;
