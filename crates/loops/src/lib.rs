//! The measured loops, and all other code that runs during a measurement.
//!
//! Layer 3. This crate compiles the loops for each mechanism at `opt-level` 3 in the profiles `release` and `dist`.
//! `furlong-bench`, which plans, starts and supervises trials, is compiled at the level of the profile: 0 in `release`,
//! `z` (size) in `dist`.
#![forbid(unsafe_code)]

pub mod again;
pub mod batches;
mod between_attempts;
mod both_ends;
pub mod built_in;
pub mod channel;
pub mod control_page;
pub mod counted;
pub mod fan_out;
pub mod in_batches;
pub mod message_loop;
pub mod messages;
pub mod neighbour_work;
pub mod one_way;
pub mod open_loop;
pub mod paced_work;
pub mod pair_end;
pub(crate) mod random;
#[cfg(target_os = "linux")]
pub mod ready;
pub mod recorder;
pub mod region_bytes;
pub mod replay;
pub mod role_error;
pub mod round_trip;
pub mod schedule;
pub mod service;
pub mod shared_end;
pub mod short_lived;
pub mod single_costs;
pub mod size_sequence;
pub mod stamp;
pub mod steady;
mod two_mechanisms;
mod waiting;
pub mod window;
