//! Safe wrappers of the operating system's facilities, one facility a file.
//!
//! Floor 1, and the only crate with `unsafe`. A wrapper adds no policy: it makes one call, retries it when a
//! signal interrupts it, and turns its failure into an [`std::io::Error`]. What runs inside the measured loop
//! is `#[inline]`, allocates nothing and makes exactly the call that its name says.

#[cfg(not(target_os = "linux"))]
compile_error!("furlong measures Linux so far; Windows comes later");

pub mod access;
pub mod affinity;
pub mod available_memory;
pub mod clock;
pub mod counter;
pub mod cpu;
pub mod descriptor;
pub mod driver;
pub mod error;
pub mod eventfd;
pub mod facts;
pub mod fifo;
pub mod file_system;
pub mod futex;
pub mod identity;
pub mod limits;
pub mod load;
pub mod loop_device;
pub mod memory;
pub mod mount;
pub mod namespace;
pub mod noted_signal;
mod perf_event;
pub mod pipe;
pub mod posix_queue;
pub mod posix_semaphore;
pub mod posix_spawn;
pub mod process;
pub mod readiness;
pub mod remote_memory;
pub mod segment;
pub mod shared_place;
pub mod signal;
pub mod socket;
pub mod system_call;
pub mod sysv_queue;
pub mod sysv_segment;
pub mod sysv_semaphore;
pub mod terminal;
#[cfg(test)]
mod test_child;
pub mod tracefs;
pub mod tracer;
pub mod usage;
pub mod zram;

pub use error::Context;
