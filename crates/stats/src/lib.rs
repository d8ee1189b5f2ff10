//! Statistics of plain numbers: medians and their intervals, stored histograms and mixtures of them, the rank-sum test,
//! and whether values are of one kind. It knows no mechanism, case or record.
#![forbid(unsafe_code)]

mod comparison;
#[cfg(test)]
mod comparison_simulated;
mod curve;
mod deviation;
mod fairness;
#[cfg(test)]
mod fixture;
mod histogram;
mod median;
mod mixture;
mod modes;
mod normal;
mod precision;
mod quotient;
mod rank_sum;
mod rounding;
mod rounds;
mod shape;
mod sort;
mod sorted_map;
mod student;
mod threshold;

pub use comparison::{comparison_intervals, trials_of_comparison};
pub use curve::Curve;
pub use deviation::Deviations;
pub use fairness::jain;
pub use histogram::{
    Distribution, HistogramError, HistogramRange, HistogramRecorder, encode as encode_histogram,
};
pub use median::{
    FEWEST_TRIALS, are_apart, bootstrap_interval, coverage, median, median_interval, median_interval_with,
    uncertainty,
};
pub use mixture::Mixture;
pub use modes::{Modes, two_modes};
pub use precision::{FEWEST_FIRST_TRIALS, FurtherRounds};
pub use quotient::quotient;
pub use rank_sum::{holm, rank_sum_chance, shift_interval};
pub use rounding::{outwards, tidy};
pub use rounds::{PlacedValue, RoundValues, RoundsRow, at_one_pace};
pub use shape::DistributionShape;
pub use sort::{distinct, sort_by, sort_by_key};
pub use sorted_map::SortedMap;
pub use threshold::Threshold;
