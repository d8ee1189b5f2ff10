//! Options of `furlong report`.

use super::CompareBy;
use clap::{Args, ValueEnum};
use furlong_model::Percent;
use std::path::PathBuf;

const REPORT_EXAMPLES: &str = "A run is named as for furlong compare [default: @last]. Nothing is measured.

Examples:
  furlong report -o report.html                  the newest run, as one self-contained page
  furlong report before after -o report.html     two runs, and their differences
  furlong report before --format markdown        for a README or a pull request
  furlong report before --format markdown --charts charts -o report.md
                                                 with charts as SVG files
  furlong report --by host results -o fleet.html
                                                 many hosts: outliers, and every benchmark of each host

The content depends on the run. For example, furlong run -s 64..1MiB:x4 adds latency against size, -m one-way adds throughput,
furlong explain --save NAME adds a breakdown, and furlong replay a comparison then and now.";

/// Options of `furlong report`.
#[derive(Debug, Clone, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportOptions {
    /// Saved runs, the baseline first: names, @last, globs or paths. With --by also directories, of which every .jsonl file is read,
    /// recursively
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Group runs. Each host is compared with all others, and each kernel or label with the group of the
    /// oldest run
    #[arg(long, value_enum, value_name = "WHAT", requires = "runs", conflicts_with = "charts")]
    pub by: Option<CompareBy>,
    /// Write the report to FILE [default: stdout]. An existing file is replaced
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub format: ReportFormat,
    /// Write each chart into DIR too, as SVG. rsvg-convert converts SVG to PNG, and the page has a button for it
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
    /// Treat changes up to PERCENT as the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub margin: Percent,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One self-contained page with charts
    Html,
    /// For documents
    Markdown,
}
