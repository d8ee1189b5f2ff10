//! Doorbells of Linux.

mod condition_variable;
mod driver;
mod eventfd;
mod fcntl_lock;
mod flock;
mod futex;
mod inotify;
mod posix_semaphore;
mod signal;
mod sysv_semaphore;

pub use condition_variable::ConditionVariable;
pub use driver::DriverBell;
pub use eventfd::Eventfd;
pub use fcntl_lock::FcntlLock;
pub use flock::Flock;
pub use futex::Futex;
pub use inotify::Inotify;
pub use posix_semaphore::PosixSemaphore;
pub use signal::Signal;
pub use sysv_semaphore::SysvSemaphore;
