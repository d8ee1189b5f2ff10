//! A report of saved runs: one page that needs nothing but itself, Markdown, and pictures of its charts.
//!
//! It measures nothing. Every chart is described first, as plain values computed by `furlong-analysis` ([`Chart`]),
//! and then drawn in each form: interactive by plotly.js, still by plotters, and as a table.
//!
//! ```no_run
//! use furlong_analysis::Run;
//! use furlong_report::{NamedRun, Report};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let run = Run::read("run.jsonl")?;
//! let report = Report::of(&[NamedRun { name: "before", run: &run }], 0.05);
//! std::fs::write("report.html", report.html()?)?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod axis;
mod chart;
mod charts;
mod facts;
mod ids;
mod interactive;
mod markdown;
mod page;
mod palette;
mod part;
mod report;
mod rows;
mod script;
mod still;
mod table;
mod words;

pub use axis::{Axis, Measure};
pub use chart::{Chart, Guide, Kind, Look, Point, Series, Side};
pub use furlong_analysis::NamedRun;
pub use page::PageError;
pub use report::{Picture, Report};
pub use still::StillError;
pub use table::{Cell, Head, Table};

use still::cut as still_cut;
