//! What a chart shows, as plain values. The terminal, a picture (SVG), a page and a table are all drawn from these.
//!
//! Layer 1: it knows units, and neither colours nor pixels.
#![forbid(unsafe_code)]

mod axis;
mod chart;
mod looks;
mod ticks;

pub use axis::{Axis, Measure, percentile};
pub use chart::{Chart, Guide, Kind, MOST_BRIGHT, Point, Series, Side};
pub use looks::{Look, hollow_look_of, look_of};
pub use ticks::{Tick, without_zeros};
