//! The page: one file of HTML with its style, its script, its charts and its figures, which asks nobody for anything.
//!
//! The template escapes every text. What it must not escape is made here: pictures, whose package escapes their words.

use crate::facts::{self, Fact};
use crate::figures;
use crate::part::{Missing, Part, Section};
use crate::report::{Compared, Report};
use crate::rows;
use crate::svg::{self, Paper};
use crate::table::Table;
use furlong_analysis::Level;
use furlong_chart::{Chart, Side, Tick};
use furlong_render as render;
use furlong_render::words::{count, fitness};
use minijinja::{Environment, value::Serde};
use serde::Serialize;

pub mod list;

/// Where a page is served: beside it is the list of all runs.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Served<'a> {
    /// The address of that list.
    pub list: &'a str,
    /// The runs of the page that are still being measured.
    pub under_way: &'a [&'a str],
}

/// The name of the template: its ending turns escaping on.
const NAME: &str = "page.html";
const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 2] = [include_str!("page.js"), include_str!("charts.js")];

/// A page that could not be put together.
#[derive(Debug, thiserror::Error)]
#[error("cannot put the page together: {0:#}")]
pub struct PageError(#[from] minijinja::Error);

#[derive(Serialize)]
struct Page<'a> {
    title: String,
    version: &'a str,
    style: &'a str,
    scripts: [&'a str; 2],
    parts: Vec<PartView<'a>>,
    served: Option<Served<'a>>,
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
    /// Markup, for a wide window and for a phone.
    wide: String,
    narrow: String,
    x_ticks: String,
    y_ticks: String,
    table: Table,
}

impl Report {
    /// One page of HTML that needs nothing but itself.
    ///
    /// # Errors
    /// What the package that puts it together says; no record is the cause.
    pub fn html(&self) -> Result<String, PageError> {
        self.page(None)
    }

    /// The same as one of several pages that are served.
    ///
    /// # Errors
    /// As [`Report::html`].
    pub fn served_html(&self, served: Served) -> Result<String, PageError> {
        self.page(Some(served))
    }

    fn page(&self, served: Option<Served>) -> Result<String, PageError> {
        let page = Page {
            title: self.title(),
            version: env!("CARGO_PKG_VERSION"),
            style: STYLE,
            scripts: SCRIPTS,
            parts: self.parts.iter().map(part).collect(),
            served,
            compared: self.compared.as_ref().map(compared),
            not_compared: &self.not_compared,
        };
        filled_in(NAME, TEMPLATE, &page)
    }
}

/// A page from its template.
fn filled_in(name: &str, template: &str, page: &impl Serialize) -> Result<String, PageError> {
    let mut environment = Environment::new();
    // The one that is used of fifty, which take a third of the package's time to compile.
    environment.add_filter("length", |value: minijinja::Value| value.len());
    environment.add_template(name, template)?;
    // The package takes the last line's end away.
    Ok(environment.get_template(name)?.render(minijinja::Value::from(Serde(page)))? + "\n")
}

fn part(part: &Part) -> PartView<'_> {
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
    PartView {
        id: &part.id,
        name: &part.name,
        level,
        fitness: fitness(noise.level),
        reasons: render::noise(noise),
        verdict: &part.verdict,
        experiment,
        date: render::date(summary.run.started_unix_s),
        machine_line: render::machine(&summary.run.machine, &summary.run.harness),
        machine: facts::machine(&summary.run.machine),
        method: facts::method(summary),
        sections: part.sections.iter().map(section).collect(),
        floor: render::floor(summary),
        rows_title: count(rows.lines.len(), "row"),
        rows: (!rows.lines.is_empty()).then_some(rows),
        footnotes: render::footnotes(summary),
        skipped: (!skipped.lines.is_empty()).then_some(skipped),
        missing: &part.missing,
    }
}

fn section(section: &Section) -> SectionView<'_> {
    SectionView {
        id: &section.id,
        title: section.title,
        text: &section.text,
        charts: section.charts.iter().map(chart).collect(),
        tables: section.tables.iter().map(|(title, table)| TitledTable { title, table }).collect(),
    }
}

fn compared(compared: &Compared) -> ComparedView<'_> {
    let comparison = &compared.comparison;
    ComparedView {
        baseline: render::plain(&comparison.baseline),
        verdict: render::comparison_verdict(comparison),
        charts: compared.charts.iter().map(chart).collect(),
        differences: compared.differences.as_ref(),
    }
}

fn chart(chart: &Chart) -> ChartView<'_> {
    ChartView {
        id: &chart.id,
        title: &chart.title,
        says: &chart.says,
        notes: &chart.notes,
        wide: svg::svg(chart, Paper::Wide),
        narrow: svg::svg(chart, Paper::Narrow),
        x_ticks: ticks(chart, Side::X),
        y_ticks: ticks(chart, Side::Y),
        table: figures::table(chart),
    }
}

/// The ticks of an axis for the script, a line each: the share of the axis at which it stands, the sets that it is in,
/// and its label.
fn ticks(chart: &Chart, side: Side) -> String {
    let (axis, ends) = (chart.axis(side), chart.extent(side));
    let [low, high] = ends.map(|end| axis.place(end));
    let line = |(tick, sets): (Tick, u32)| {
        let share = (axis.place(tick.value) - low) / (high - low);
        format!("{share:.4} {sets} {}", tick.label)
    };
    axis.ticks_to_zoom(ends).into_iter().map(line).collect::<Vec<_>>().join("\n")
}
