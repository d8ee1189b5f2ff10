//! The supervisor's watch over the processes of a running trial.
//!
//! It sleeps while they work. It wakes when a process reports or dies, when the run is requested to end, or when nothing has happened
//! for too long.

mod carrier;
mod observer;
mod quiet;
mod role_process;
mod roles;

pub(crate) use carrier::{Carrier, LatestEnd, supervise};
#[cfg(target_os = "linux")]
pub(crate) use carrier::{OTHER_REPORT, ProcessEvent, in_ms};
pub(crate) use observer::NoObserver;
pub use observer::Observer;
#[cfg(target_os = "linux")]
pub(crate) use quiet::{ObservedProcesses, Silence};
pub(crate) use role_process::{RoleProcess, early_end};
pub(crate) use roles::Watch;
#[cfg(target_os = "linux")]
pub(crate) use roles::paused_failure;
