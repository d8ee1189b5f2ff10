//! `furlong export`: exports saved runs for other programs, without measuring.

use crate::arguments::{ExportFormat, ExportOptions};
use crate::delivery::deliver;
use crate::saved;
use furlong_analysis::DecodedRun;
use furlong_console::exit::{Outcome, Usage};
use furlong_render as render;
use furlong_render::NamedSummary;
use std::io::{IsTerminal, stdout};

/// Exports the named runs.
pub fn export(asked: &ExportOptions) -> anyhow::Result<Outcome> {
    if asked.format == ExportFormat::Parquet && asked.output.is_none() && stdout().is_terminal() {
        let why =
            "is binary, but stdout is a terminal: specify a file with -o, or pipe the output into a program";
        return Err(Usage(format!("--format parquet {why}")).into());
    }
    let found = saved::find_or_last(&asked.runs)?;
    let summaries = saved::read_each(&found, |run| DecodedRun::of(&run).summary)?;
    let named: Vec<_> = summaries.iter().map(|(name, summary)| NamedSummary { name, summary }).collect();
    let result = match asked.format {
        ExportFormat::Csv => render::export_csv(&named).into_bytes(),
        ExportFormat::Json => render::export_json(&named).into_bytes(),
        ExportFormat::Markdown => render::export_markdown(&named).into_bytes(),
        ExportFormat::Openmetrics => render::export_openmetrics(&named).into_bytes(),
        ExportFormat::Parquet => {
            render::export_parquet(&named).map_err(|why| Usage(format!("--format parquet: {why}")))?
        }
    };
    deliver(&result, asked.output.as_deref())?;
    Ok(Outcome::Done)
}
