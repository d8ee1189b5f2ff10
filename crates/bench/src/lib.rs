//! The supervisor, the role processes, and the one measured loop.
//!
//! Floor 3. The supervisor makes a link, starts two processes and watches them; it never touches the data
//! path. The processes run the loops in [`round_trip`] and [`one_way`], which are the same code for every mechanism.
#![forbid(unsafe_code)]

pub mod bare_pair;
mod both_ends;
pub mod boundary;
mod channel;
pub mod control;
mod control_page;
mod costs;
pub mod count;
pub mod handover;
pub mod leftovers;
mod message_loop;
mod messages;
pub mod noise;
pub mod not_measured;
mod one_way;
mod persistent;
mod pinned;
pub mod placement;
pub mod plan;
pub mod process_start;
mod recorder;
pub mod registry;
mod role;
mod role_error;
mod round_trip;
pub mod run;
mod schedule;
pub mod session;
mod stamp;
mod steady;
mod timed;
pub mod trial;
mod two_mechanisms;
mod verification;
mod waiting;
mod watch;

pub use process_start::{ALIVE_VERB, main as alive_main};
pub use registry::{MechanismEntry, registry};
pub use role::{ROLE_VERB, main as role_main};
