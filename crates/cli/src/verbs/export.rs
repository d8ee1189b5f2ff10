//! `furlong export`: saved runs for other programs. Nothing is measured.

use crate::arguments::{ExportFormat, ExportOptions};
use crate::{output, saved};
use furlong_analysis::{DecodedRun, Summary};
use furlong_console::exit::Outcome;
use furlong_render as render;
use furlong_render::NamedSummary;

/// Exports what was asked for.
pub fn export(asked: &ExportOptions) -> anyhow::Result<Outcome> {
    let found = saved::find_or_last(&asked.runs)?;
    let summaries: Vec<(&str, Summary)> = found
        .iter()
        .map(|run| Ok((run.name.as_str(), DecodedRun::of(&run.read()?).summary)))
        .collect::<anyhow::Result<_>>()?;
    let named: Vec<_> = summaries.iter().map(|(name, summary)| NamedSummary { name, summary }).collect();
    let text = match asked.format {
        ExportFormat::Csv => render::export_csv(&named),
        ExportFormat::Json => render::export_json(&named),
        ExportFormat::Markdown => render::export_markdown(&named),
        ExportFormat::Openmetrics => render::export_openmetrics(&named),
    };
    output::deliver(&text, asked.output.as_deref())?;
    Ok(Outcome::Done)
}
