//! `furlong report`: writes saved runs as an HTML page, Markdown or pictures, without measuring.

use crate::arguments::{ReportFormat, ReportOptions};
use crate::delivery::{check_file, protect_run};
use crate::verbs::compare_many::{compared, outcome};
use crate::{output, saved};
use anyhow::Context;
use furlong_analysis::DecodedRun;
use furlong_console::exit::{Outcome, Usage};
use furlong_console::writing;
use furlong_render::{fleet_markdown, plain, shell};
use furlong_report::{NamedRun, Report, fleet_page};
use std::io::{IsTerminal, stdout};
use std::path::Path;

/// Writes the report of the named runs, once all parts of it could be created.
pub fn report(asked: &ReportOptions) -> anyhow::Result<Outcome> {
    check_targets(asked)?;
    if let Some(by) = asked.by {
        let (found, map) = compared(&asked.runs, by, asked.margin)?;
        let text = match asked.format {
            ReportFormat::Html => fleet_page(&found, &map).context("cannot generate the report")?,
            ReportFormat::Markdown => fleet_markdown(&found),
        };
        write(asked, &text)?;
        return Ok(outcome(&found));
    }
    let found = saved::find_or_last(&asked.runs)?;
    check_size(found.len())?;
    let runs = saved::read_each(&found, |run| run)?;
    if runs.iter().all(|(_, run)| run.is_empty()) {
        let names: Vec<_> = runs.iter().map(|(name, _)| plain(name)).collect();
        return Err(Usage(format!(
            "nothing was measured in {}, so there is nothing to report",
            names.join(", ")
        ))
        .into());
    }
    let decoded: Vec<_> = runs.iter().map(|(name, run)| (name, DecodedRun::of(run))).collect();
    let named: Vec<_> = decoded.iter().map(|(name, run)| NamedRun { name, run }).collect();
    let report = Report::of(&named, asked.margin.share());
    let text = match asked.format {
        ReportFormat::Html => report.html().context("cannot generate the report")?,
        ReportFormat::Markdown => {
            report.markdown(asked.charts.as_deref().map(Path::to_string_lossy).as_deref())
        }
    };
    if let Some(folder) = &asked.charts {
        let pictures = report.pictures();
        pictures.iter().try_for_each(|picture| protect_run("--charts", &folder.join(&picture.file)))?;
        for picture in &pictures {
            writing::replace_with_folder(&folder.join(&picture.file), picture.svg.as_bytes())?;
        }
        output::tell(format_args!(
            "{} charts written to {}",
            pictures.len(),
            plain(&folder.to_string_lossy())
        ));
        if let Some(picture) = pictures.first() {
            output::tell(format_args!(
                "to convert a chart to PNG: {}",
                to_pixels(&folder.join(&picture.file))
            ));
        }
    }
    write(asked, &text)?;
    Ok(Outcome::Done)
}

/// Rejects more runs than a browser can show, and announces a page that takes long to create.
fn check_size(runs: usize) -> anyhow::Result<()> {
    const MOST: usize = 1000;
    const MANY: usize = 100;
    const PAGE_KIB: usize = 43;
    let instead = "'furlong report --by host' creates one page for any number of runs";
    if runs > MOST {
        let reason = format!("a page shows at most {MOST} runs, got {runs}: specify fewer; {instead}");
        return Err(Usage(reason).into());
    }
    if runs > MANY {
        let mib = (runs * PAGE_KIB).div_ceil(1024);
        output::tell(format_args!("furlong: a page of {runs} runs has about {mib} MiB; {instead}"));
    }
    Ok(())
}

/// Writes the text to the requested file or to stdout.
fn write(asked: &ReportOptions, text: &str) -> anyhow::Result<()> {
    match &asked.output {
        Some(path) => {
            writing::replace(path, text.as_bytes())?;
            output::tell(format_args!("report written to {}", plain(&path.to_string_lossy())));
        }
        None => output::print(text)?,
    }
    Ok(())
}

/// Returns the command that converts a picture to PNG. A renderer in furlong would add several MB, and programs for
/// it exist.
fn to_pixels(svg: &Path) -> String {
    let [svg, png] =
        [svg.to_owned(), svg.with_extension("png")].map(|path| path.to_string_lossy().into_owned());
    shell(&["rsvg-convert", "-z", "2", &svg, "-o", &png].map(str::to_owned))
}

/// Rejects a file whose extension is that of another format.
fn check_extension(asked: &ReportOptions) -> Result<(), Usage> {
    let valid: &[&str] = match asked.format {
        ReportFormat::Html => &["html", "htm"],
        ReportFormat::Markdown => &["md", "markdown"],
    };
    let Some(extension) = asked.output.as_ref().and_then(|path| path.extension()) else { return Ok(()) };
    let extension = plain(&extension.to_string_lossy());
    if valid.iter().any(|known| extension.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    Err(Usage(format!(
        "--output: .{extension} does not match --format {format}: use .{}, --format html (.html) or --format markdown (.md), or \
         --charts DIR for SVG",
        valid[0],
        format = if valid[0] == "md" { "markdown" } else { "html" },
    )))
}

/// Rejects output targets that could not be written in the end, before any run is read.
fn check_targets(asked: &ReportOptions) -> anyhow::Result<()> {
    let to_terminal = asked.output.is_none() && asked.format == ReportFormat::Html && stdout().is_terminal();
    if to_terminal {
        let reason = "an HTML page cannot be shown in a terminal: specify a file, for example 'furlong report -o report.html', or use \
                      --format markdown";
        return Err(Usage(reason.to_owned()).into());
    }
    asked.output.iter().try_for_each(|path| check_file(path, "report.html"))?;
    check_extension(asked)?;
    if let Some(folder) = asked.charts.as_ref().filter(|folder| folder.exists() && !folder.is_dir()) {
        let reason = format!("--charts {} is not a directory", plain(&folder.to_string_lossy()));
        return Err(Usage(reason).into());
    }
    Ok(())
}
