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

mod advice;
mod checks;
mod compare;
mod costs;
mod count;
mod curve;
mod declared;
#[cfg(test)]
mod draws;
mod exchange;
mod experiment;
mod explain;
mod findings;
#[cfg(test)]
mod fixture;
mod histogram;
mod law;
mod left_out;
mod little;
#[cfg(test)]
mod made;
mod mixture;
mod modes;
mod noise;
mod rank_sum;
mod ranking;
mod recommend;
mod reference;
mod renamed_keys;
pub mod render;
mod replay;
mod row;
mod run;
mod run_facts;
mod self_check;
mod shape;
mod skipped;
pub mod statistics;
mod store;
mod summary;
mod tail;
mod terms;

pub use advice::Advice;
pub use compare::{
    COMPARISON_SCHEMA, Cause, Change, ComparedRow, ComparedRun, Comparison, Difference, Incomparable,
    NamedRun, OnlyIn, Share, compare,
};
pub use costs::{CONTEXT_SWITCH, COSTS_SCHEMA, CostEstimate, Costs, WAKE_UP};
pub use count::{COUNT_SCHEMA, CountRow, CountSummary, Counting, Figures, RoleFigures};
pub use declared::undeclared_calls;
pub use exchange::{Cpu, ExchangeFigures, PageFaults, Switches, Times, Unit};
pub use experiment::{ExperimentError, published, read_experiment};
pub use explain::{Agreement, EXPLANATION_SCHEMA, Explained, Explanation, Unmodelled, explain};
pub use histogram::{Distribution, HistogramError};
pub use law::Law;
pub use mixture::Mixture;
pub use noise::{CoreToCore, Level, Verdict};
pub use ranking::{Carries, Group, describe_placement};
pub use recommend::{
    Alternative, Budget, BudgetKind, Eliminated, Offer, RECOMMENDATION_SCHEMA, Ranked, Recommendation,
    Sensitivity, SloVerdict, finalists, recommend, shortlist, surroundings,
};
pub use replay::{
    BestNow, BestSize, ClaimStatus, ClaimVerdict, Durations, Measured, Pairs, REPLAY_SCHEMA, Replay,
    ReplayRow, ReplayStart, ReplayStatus, replay,
};
pub use row::{Row, RowStatus};
pub use run::{Problem, Run};
pub use run_facts::RunFacts;
pub use self_check::{CheckedRow, CopyFigures, SelfCheck, Unjudged, self_check};
pub use shape::DistributionShape;
pub use skipped::{Skipped, SkippedStatus};
pub use store::ReadError;
pub use summary::{SUMMARY_SCHEMA, Summary, summarise};
pub use tail::{FEWEST_BEYOND, Tail, tails};
pub use terms::{Part, Term};
