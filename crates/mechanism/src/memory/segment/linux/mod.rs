//! Shared memory of Linux.

mod anonymous;
mod driver;
mod memfd;
mod posix;
mod sysv;

pub use anonymous::AnonShm;
pub use driver::DriverShm;
pub use memfd::MemfdShm;
pub(crate) use memfd::share_memfd;
pub use posix::PosixShm;
pub use sysv::SysvShm;
