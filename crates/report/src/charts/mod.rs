//! Charts that only the report shows, one file per kind. Each file turns computed results into the description of a
//! chart and a sentence that summarizes it.

pub mod cost_parts;
pub mod cpu_and_latency;
pub mod distribution;
pub mod forest;
pub mod predicted;
pub mod then_and_now;
