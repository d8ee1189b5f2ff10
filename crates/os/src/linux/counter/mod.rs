//! Counters of a running process: its system calls, and hardware events of the CPU.

mod activity_trace;
mod hardware_counter;
mod perf_event;
mod ring;
mod system_call_log;

pub use activity_trace::{ActivityTrace, SchedulingEvent, TRACE_REMEDY, TraceEvent, TraceRecord};
pub use hardware_counter::{HardwareCounter, open_hardware};
pub use system_call_log::{DrainResult, SystemCallLog};
