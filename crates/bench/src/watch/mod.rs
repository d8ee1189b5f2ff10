//! The supervisor's watch over the processes of a running trial.
//!
//! It sleeps while they work. It wakes when a process reports or dies, when the run is requested to end, or when nothing has happened
//! for too long.

mod carrier;
mod observer;
mod quiet;
mod role_process;
mod roles;

pub(crate) use carrier::{Carrier, LatestEnd, OTHER_REPORT, ProcessEvent, in_ms, supervise};
pub(crate) use observer::NoObserver;
pub use observer::Observer;
pub(crate) use quiet::{ObservedProcesses, Silence};
pub(crate) use role_process::{RoleProcess, early_end};
pub(crate) use roles::{Watch, paused_failure};
