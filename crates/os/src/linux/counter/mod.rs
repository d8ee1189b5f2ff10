//! Counting what a process does while it runs: its system calls, and what the processor counts by itself.

mod hardware_counter;
mod perf_event;
mod ring;
mod system_call_log;

pub use hardware_counter::{HardwareCounter, open_hardware};
pub use system_call_log::{Drained, SystemCallLog};
