//! What `furlong report` takes.

use super::CompareBy;
use clap::{Args, ValueEnum};
use furlong_model::Percent;
use std::path::PathBuf;

const REPORT_EXAMPLES: &str = "A run is named as for furlong compare; @last if none is. Nothing is measured.

Examples:
  furlong report -o report.html                  the newest run, in one file that needs nothing else
  furlong report before after -o report.html     two runs, and what changed
  furlong report before --format markdown        for a README or a pull request
  furlong report before --format markdown --charts charts -o report.md
                                                 with its charts as pictures (SVG)
  furlong report --by host results -o fleet.html
                                                 many hosts: which stand out, and every row of each

A report shows what a run has figures for: furlong run -s 64..1MiB:x4 gives latency against size, and with -m one-way
throughput; furlong explain --save NAME where the time goes; furlong replay a comparison then and now.";

/// What `furlong report` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportOptions {
    /// Saved runs, the baseline first: names, @last, @last~1, globs such as 'after-*', or paths; with --by also folders, of
    /// which every file that ends in .jsonl is read, with those of folders in them
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Show many runs: every row and cost of each host and those that stand out, or groups of one kernel or label beside the group
    /// of the oldest run
    #[arg(long, value_enum, value_name = "WHAT", requires = "runs", conflicts_with = "charts")]
    pub by: Option<CompareBy>,
    /// File to write; an existing one is replaced. Standard output if not given
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub format: ReportFormat,
    /// Write each chart as a picture (SVG) into this folder too. rsvg-convert makes a PNG of one, and the page has a button for it
    #[arg(long, value_name = "FOLDER")]
    pub charts: Option<PathBuf>,
    /// Where runs are compared: changes of a row up to this count as the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub margin: Percent,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page with charts, style and scripts in it
    Html,
    /// For documents
    Markdown,
}
