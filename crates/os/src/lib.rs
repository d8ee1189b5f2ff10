//! Safe wrappers of the operating system's facilities, one facility a file.
//!
//! Floor 1, and the only crate with `unsafe`. A wrapper adds no policy: it makes one call, retries it when a
//! signal interrupts it, and turns its failure into an [`std::io::Error`]. What runs inside the measured loop
//! is `#[inline]`, allocates nothing and makes exactly the call that its name says.

#[cfg(not(target_os = "linux"))]
compile_error!("furlong measures Linux so far; Windows comes later");

pub mod clock;
pub mod cpu;
pub mod error;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod shared_place;
pub mod usage;

pub use error::Context;
#[cfg(target_os = "linux")]
pub use linux::{
    access, affinity, available_memory, counter, descriptor, driver, eventfd, facts, fifo, file_system,
    futex, identity, limits, load, loop_device, memory, mount, namespace, noted_signal, pipe, posix_queue,
    posix_semaphore, posix_spawn, process, readiness, remote_memory, segment, signal, socket, system_call,
    sysv_queue, sysv_segment, sysv_semaphore, terminal, tracefs, tracer, zram,
};
