//! The supervisor, the role processes, and the one measured loop.
//!
//! Floor 3. The supervisor makes a link, starts two processes and watches them; it never touches the data
//! path. The processes run the loops in [`round_trip`] and [`one_way`], which are the same code for every mechanism.
#![forbid(unsafe_code)]
// Adapters, handovers and what outlives processes are Linux's; what they share with others is compiled everywhere.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

pub mod adapter;
pub mod bare_pair;
mod both_ends;
#[cfg(target_os = "linux")]
pub mod boundary;
mod channel;
mod child;
mod child_process;
pub mod control;
mod control_page;
mod costs;
#[cfg(target_os = "linux")]
pub mod count;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod fan_out;
pub mod handover;
mod janitor;
pub mod leftovers;
#[cfg(target_os = "linux")]
mod link_child;
mod message_loop;
mod messages;
pub mod noise;
pub mod not_measured;
mod one_way;
#[cfg(target_os = "linux")]
mod own_programs;
mod parties;
mod persistent;
pub mod placement;
pub mod plan;
mod probe;
pub mod process_start;
mod recorder;
pub mod registry;
mod role;
mod role_error;
mod round_trip;
pub mod run;
mod schedule;
pub mod session;
mod short_lived;
mod stamp;
mod started_program;
mod steady;
mod tally;
mod timed;
pub mod trial;
mod two_mechanisms;
mod verification;
mod waiting;
mod watch;
mod window;

pub use child::main as child_main;
pub use child_process::{CHILD_VERB, ChildProgram, requested_child};
#[cfg(not(target_os = "linux"))]
use elsewhere::own_programs;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{boundary, count};
pub use own_programs::OwnPrograms;
pub use registry::{MechanismEntry, registry};
