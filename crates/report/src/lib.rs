//! A report of saved runs: one page that needs nothing but itself, Markdown, and pictures of its charts.
//!
//! It measures nothing. What it says is made first, as a document (`furlong_render::document`), and every chart in it
//! as plain values computed by `furlong-analysis` ([`Chart`]). The page is a back end of that document: it draws charts as
//! SVG and writes their figures down as tables, and a script lets a reader point at them, zoom, and switch series off.
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
pub use page::{PageError, Served, fleet_page};
pub use report::{Picture, Report};
