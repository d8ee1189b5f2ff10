//! Statistics, ranking and rendering of furlong's records, from any machine on any machine.
//!
//! Measuring and judging meet only through records: this crate measures nothing and knows no operating
//! system. A run is read ([`Run::read`]) or built ([`Run::from_records`]), summarised once ([`summarise`]),
//! and everything printed comes from that [`Summary`] ([`render`]).
//!
//! ```no_run
//! use furlong_analysis::{Run, render, summarise};
//! # fn main() -> Result<(), furlong_analysis::ReadError> {
//! let run = Run::read("run.jsonl")?;
//! let summary = summarise(&run);
//! print!("{}", render::table(&summary, render::Style::default()));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod checks;
#[cfg(test)]
mod fixture;
mod histogram;
mod lessons;
mod mixture;
mod noise;
mod ranking;
pub mod render;
mod row;
mod run;
mod skipped;
pub mod statistics;
mod store;
mod summary;

pub use histogram::{Distribution, HistogramError};
pub use mixture::Mixture;
pub use noise::{CoreToCore, Level, Verdict};
pub use ranking::{Carries, Group};
pub use row::{Cpu, PageFaults, Row, RowStatus, Switches, Times};
pub use run::{Problem, Run};
pub use skipped::{Skipped, SkippedStatus};
pub use store::ReadError;
pub use summary::{SUMMARY_SCHEMA, Summary, summarise};
