//! The supervisor and the role processes.
//!
//! Layer 4. The supervisor creates a link, starts two processes and watches them. It never touches the data path. The
//! processes run the loops of `furlong-loops`, which are the same code for every mechanism.
#![forbid(unsafe_code)]
// Adapters, handovers and resources that outlive processes need Linux. Their shared code is compiled on every system.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

pub mod adapter;
pub mod bare_pair;
#[cfg(target_os = "linux")]
pub mod boundary;
mod child;
mod child_process;
pub mod control;
mod costs;
#[cfg(target_os = "linux")]
pub mod count;
pub mod cpu_pairs;
mod deadline;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod handover;
#[cfg(target_os = "linux")]
mod huge_pages;
mod janitor;
#[cfg(target_os = "linux")]
pub mod kernel_settings;
pub mod leftovers;
#[cfg(target_os = "linux")]
mod link_child;
mod link_conditions;
pub mod meaning;
#[cfg(target_os = "linux")]
pub mod message_trace;
pub mod noise;
pub mod not_measured;
#[cfg(target_os = "linux")]
mod own_programs;
mod parties;
pub mod peer;
mod persistent;
mod phases;
pub mod placement;
pub mod plan;
mod probe;
pub mod process_start;
pub mod registry;
mod replay;
mod role;
#[cfg(target_os = "linux")]
pub mod role_boundary;
#[cfg(target_os = "linux")]
mod role_threads;
pub mod run;
pub mod session;
mod shared_end;
mod started_program;
mod subsystem;
mod surroundings;
mod survived;
mod tally;
mod timed;
pub mod trial;
#[cfg(target_os = "linux")]
mod two_networks;
mod verification;
mod watch;

pub use child::main as child_main;
pub use child_process::{CHILD_VERB, ChildProgram, requested_child};
#[cfg(not(target_os = "linux"))]
use elsewhere::own_programs;
#[cfg(not(target_os = "linux"))]
use elsewhere::two_networks;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{boundary, count, message_trace, role_boundary};
pub use own_programs::OwnPrograms;
pub use registry::{MechanismEntry, registry};
pub use verification::verified_bursts;
