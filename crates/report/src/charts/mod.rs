//! The charts of a report alone, one file a kind: each turns what was computed into the description of a chart, and says in
//! a sentence what it shows.

pub mod cost_parts;
pub mod cpu_and_latency;
pub mod distribution;
pub mod forest;
pub mod predicted;
pub mod then_and_now;
