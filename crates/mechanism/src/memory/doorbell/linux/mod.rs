//! Ways to wait and wake that Linux has.

mod driver;
mod eventfd;
mod futex;
mod posix_semaphore;
mod signal;
mod sysv_semaphore;

pub use driver::DriverBell;
pub use eventfd::Eventfd;
pub use futex::Futex;
pub use posix_semaphore::PosixSemaphore;
pub use signal::Signal;
pub use sysv_semaphore::SysvSemaphore;
