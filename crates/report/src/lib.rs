//! A report of saved runs: one self-contained page, Markdown, and pictures of its charts.
//!
//! This crate measures nothing. The content is first built as a document (`furlong_render::document`), with every
//! chart as plain values computed by `furlong-analysis` ([`Chart`]). The page is a back end of that document: it
//! draws charts as SVG and lists their figures in tables. A script adds tooltips, zoom, and a switch for each series.
//!
//! ```no_run
//! use furlong_analysis::{DecodedRun, Run};
//! use furlong_report::{NamedRun, Report};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let run = Run::read("run.jsonl")?;
//! let report = Report::of(&[NamedRun { name: "before", run: &DecodedRun::of(&run) }], 0.05);
//! std::fs::write("report.html", report.html()?)?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod charts;
mod documents;
mod facts;
mod figures;
mod ids;
mod markdown;
mod page;
mod palette;
mod part;
mod report;
mod rows;
mod svg;

pub use furlong_analysis::NamedRun;
pub use furlong_chart::{Axis, Chart, Guide, Kind, Look, Measure, Point, Series, Side};
pub use page::list::{RunList, run_list};
pub use page::{PageError, ServedPage, atlas_page, fleet_page};
pub use report::{Picture, Report};
pub use svg::{heat_map, picture};
