//! The contents of charts as plain values. Terminal output, SVG pictures, HTML pages and tables are drawn from them.
//!
//! Layer 1: this crate knows units, but neither colours nor pixels.
#![forbid(unsafe_code)]

mod axis;
mod chart;
mod looks;
mod ticks;

pub use axis::{Axis, Measure, percentile};
pub use chart::{Chart, Guide, Kind, MOST_BRIGHT, Point, Series, Side};
pub use looks::Look;
pub use ticks::{Tick, without_zeros};
