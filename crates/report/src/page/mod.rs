//! The page: one file of HTML with its style, its script, its charts and its figures, which asks nobody for anything.
//!
//! The template escapes every text. What it must not escape is made here: pictures, whose package escapes their words,
//! and charts in JSON, in which nothing can end a script.

use crate::chart::Chart;
use crate::facts::{self, Fact};
use crate::interactive;
use crate::part::{Missing, Part, Section};
use crate::report::{Compared, Report};
use crate::rows;
use crate::script;
use crate::still::{self, Paper, StillError};
use crate::table::Table;
use crate::words::{count, fitness};
use furlong_analysis::{Level, render};
use minijinja::{Environment, value::Serde};
use serde::Serialize;

/// Anchors that the template has itself.
pub const IDS: [&str; 7] = ["top", "verdict", "contents", "compared", "theme", "chart-script", "main"];

/// The name of the template: its ending turns escaping on.
const NAME: &str = "page.html";
const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A chart cannot be drawn.
    #[error(transparent)]
    Still(#[from] StillError),
    /// The page cannot be put together.
    #[error("cannot put the page together: {0:#}")]
    Template(#[from] minijinja::Error),
}

#[derive(Serialize)]
struct Page<'a> {
    title: String,
    version: &'a str,
    style: &'a str,
    script: &'a str,
    chart_script: Option<&'a str>,
    parts: Vec<PartView<'a>>,
    compared: Option<ComparedView<'a>>,
    not_compared: &'a [String],
}

#[derive(Serialize)]
struct PartView<'a> {
    id: &'a str,
    name: &'a str,
    level: &'static str,
    fitness: &'static str,
    reasons: Vec<String>,
    verdict: &'a [String],
    experiment: Option<ExperimentView>,
    date: String,
    machine_line: String,
    machine: Vec<Fact>,
    method: Vec<Fact>,
    sections: Vec<SectionView<'a>>,
    floor: Option<String>,
    rows_title: String,
    rows: Option<Table>,
    footnotes: Vec<String>,
    skipped: Option<Table>,
    missing: &'a [Missing],
}

#[derive(Serialize)]
struct ExperimentView {
    title: String,
    by: String,
    faults: Vec<String>,
}

#[derive(Serialize)]
struct SectionView<'a> {
    id: &'a str,
    title: &'a str,
    text: &'a [String],
    charts: Vec<ChartView<'a>>,
    tables: Vec<TitledTable<'a>>,
}

#[derive(Serialize)]
struct TitledTable<'a> {
    title: &'a str,
    table: &'a Table,
}

#[derive(Serialize)]
struct ComparedView<'a> {
    baseline: String,
    verdict: Vec<String>,
    charts: Vec<ChartView<'a>>,
    differences: Option<&'a Table>,
}

#[derive(Serialize)]
struct ChartView<'a> {
    id: &'a str,
    title: &'a str,
    says: &'a str,
    notes: &'a [String],
    /// Markup.
    svg: String,
    /// JSON in which nothing can end a script.
    json: String,
    table: Table,
}

/// The page of a report.
///
/// # Errors
/// What the packages that draw and write it say.
pub fn html(report: &Report) -> Result<String, PageError> {
    let mut environment = Environment::new();
    environment.add_template(NAME, TEMPLATE)?;
    let page = Page {
        title: report.title(),
        version: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        script: SCRIPT,
        chart_script: script::packed(),
        parts: report.parts.iter().map(part).collect::<Result<_, _>>()?,
        compared: report.compared.as_ref().map(compared).transpose()?,
        not_compared: &report.not_compared,
    };
    // The package takes the last line's end away.
    Ok(environment.get_template(NAME)?.render(minijinja::Value::from(Serde(&page)))? + "\n")
}

fn part(part: &Part) -> Result<PartView<'_>, StillError> {
    let summary = &part.summary;
    let noise = &summary.run.noise;
    let rows = rows::measured(summary);
    let skipped = rows::skipped(&summary.skipped);
    let level = match noise.level {
        Level::Quiet => "quiet",
        Level::Noisy => "noisy",
        Level::Unreliable => "unreliable",
    };
    let experiment = part.replay.as_ref().map(|replay| {
        let year = replay.year.map(|year| year.to_string());
        let said = [replay.author.clone(), year, replay.source.clone()];
        ExperimentView {
            title: render::plain(&replay.title),
            by: said.into_iter().flatten().map(|text| render::plain(&text)).collect::<Vec<_>>().join(", "),
            faults: replay.faults.iter().map(|fault| render::plain_sentence(fault)).collect(),
        }
    });
    Ok(PartView {
        id: &part.id,
        name: &part.name,
        level,
        fitness: fitness(noise.level),
        reasons: render::noise(noise),
        verdict: &part.verdict,
        experiment,
        date: facts::date(summary.run.started_unix_s),
        machine_line: render::machine(&summary.run.machine, &summary.run.harness),
        machine: facts::machine(&summary.run.machine),
        method: facts::method(summary),
        sections: part.sections.iter().map(section).collect::<Result<_, _>>()?,
        floor: render::floor(summary),
        rows_title: count(rows.lines.len(), "row"),
        rows: (!rows.lines.is_empty()).then_some(rows),
        footnotes: render::footnotes(summary),
        skipped: (!skipped.lines.is_empty()).then_some(skipped),
        missing: &part.missing,
    })
}

fn section(section: &Section) -> Result<SectionView<'_>, StillError> {
    Ok(SectionView {
        id: &section.id,
        title: section.title,
        text: &section.text,
        charts: section.charts.iter().map(chart).collect::<Result<_, _>>()?,
        tables: section.tables.iter().map(|(title, table)| TitledTable { title, table }).collect(),
    })
}

fn compared(compared: &Compared) -> Result<ComparedView<'_>, StillError> {
    let comparison = &compared.comparison;
    Ok(ComparedView {
        baseline: render::plain(&comparison.baseline),
        verdict: comparison.verdict.iter().map(|sentence| render::plain_sentence(sentence)).collect(),
        charts: compared.charts.iter().map(chart).collect::<Result<_, _>>()?,
        differences: compared.differences.as_ref(),
    })
}

fn chart(chart: &Chart) -> Result<ChartView<'_>, StillError> {
    Ok(ChartView {
        id: &chart.id,
        title: &chart.title,
        says: &chart.says,
        notes: &chart.notes,
        svg: still::svg(chart, Paper::Page)?,
        json: interactive::json(chart).replace('<', "\\u003c"),
        table: chart.table(),
    })
}
