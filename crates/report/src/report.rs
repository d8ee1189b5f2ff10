//! A whole report: each run, and a comparison of runs that share benchmarks.

use crate::charts::forest;
use crate::ids::Ids;
use crate::part::Part;
use crate::svg::{self, Paper};
use furlong_analysis::{Comparison, NamedRun, Summary, compare};
use furlong_chart::Chart;
use furlong_render::document::Block;
use furlong_render::words::count;
use furlong_render::{incomparable, listed, plain_sentence};
use std::collections::BTreeSet;

/// Runs that are named one by one.
const NAMED: usize = 4;

/// A report of some runs.
pub struct Report {
    pub(crate) parts: Vec<Part>,
    pub(crate) compared: Option<ComparedRuns>,
    /// Reasons why runs are not compared, one sentence each.
    pub(crate) not_compared: Vec<String>,
}

/// Runs against the first of them.
pub(crate) struct ComparedRuns {
    pub comparison: Comparison,
    pub charts: Vec<Chart>,
}

/// A picture of a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The name of its file, of small letters, digits and hyphens, and its ending.
    pub file: String,
    /// Title of the chart in the picture.
    pub title: String,
    /// The text of the file.
    pub svg: String,
}

impl Report {
    /// Computes the report of `runs`. The first run is the baseline for those that share benchmarks with it. Changes
    /// within `margin` count as equal: 0.05 is 5 %.
    pub fn of(runs: &[NamedRun], margin: f64) -> Report {
        let mut ids = Ids::for_page();
        let names = short_names(runs);
        let named = runs.iter().zip(&names).map(|(run, name)| NamedRun { name, run: run.run });
        let runs = &named.collect::<Vec<_>>()[..];
        let mut noted = BTreeSet::new();
        let parts: Vec<Part> = runs.iter().map(|run| Part::of(*run, &mut ids, &mut noted)).collect();
        let shares = |part: &Part| {
            let first = &parts[0].summary.rows;
            part.summary.rows.iter().any(|row| first.iter().any(|other| other.case == row.case))
        };
        let (with, without): (Vec<_>, Vec<_>) =
            runs.iter().zip(&parts).skip(1).partition(|(_, part)| shares(part));
        let sides: Vec<NamedRun> =
            runs.iter().take(1).chain(with.iter().map(|(run, _)| *run)).copied().collect();
        let others: Vec<String> = without.iter().map(|(_, part)| part.name.clone()).collect();
        let mut not_compared = Vec::new();
        if let Some(first) = parts.first().filter(|_| !others.is_empty()) {
            let (share, are) = if others.len() == 1 { ("shares", "is") } else { ("share", "are") };
            let others = listed(&others, NAMED);
            not_compared.push(format!(
                "{others} {share} no benchmark with {}, and {are} not compared with it.",
                first.name
            ));
        }
        let compared = if sides.len() < 2 {
            None
        } else {
            match compare(&sides, margin) {
                Ok(comparison) => Some(ComparedRuns::of(comparison, &parts[0].summary, &mut ids)),
                Err(why) => {
                    not_compared.push(plain_sentence(&incomparable(&why)));
                    None
                }
            }
        };
        Report { parts, compared, not_compared }
    }

    /// Returns all charts in the order of the page.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        let compared = self.compared.iter().flat_map(|compared| &compared.charts);
        let blocks = self.parts.iter().flat_map(|part| {
            part.result.iter().chain(part.subjects.iter().flat_map(|subject| &subject.blocks))
        });
        compared.chain(blocks.filter_map(|block| match block {
            Block::Chart(chart) => Some(chart),
            _ => None,
        }))
    }

    /// Returns each chart as a picture for a document.
    pub fn pictures(&self) -> Vec<Picture> {
        let picture = |chart: &Chart| Picture {
            file: file_of(chart),
            title: chart.title.clone(),
            svg: svg::svg(chart, Paper::File),
        };
        self.charts().map(picture).collect()
    }

    /// Returns the title.
    pub(crate) fn title(&self) -> String {
        let names: Vec<_> = self.parts.iter().map(|part| part.name.as_str()).collect();
        match names[..] {
            [] => "furlong: no run".to_owned(),
            [one] => format!("furlong: {one}"),
            [first, second] => format!("furlong: {first} and {second}"),
            [first, ..] => format!("furlong: {first} and {}", count(names.len() - 1, "more run")),
        }
    }
}

/// Returns the short names of runs: file names without directory and extension, unless these names collide.
fn short_names(runs: &[NamedRun]) -> Vec<String> {
    let stem = |name: &str| {
        let file = name.rsplit('/').next().unwrap_or(name);
        file.strip_suffix(".jsonl").filter(|stem| !stem.is_empty()).unwrap_or(file).to_owned()
    };
    let stems: Vec<String> = runs.iter().map(|run| stem(run.name)).collect();
    let is_alone = |name: &String| stems.iter().filter(|other| *other == name).count() == 1;
    let named =
        |(run, stem): (&NamedRun, &String)| if is_alone(stem) { stem.clone() } else { run.name.to_owned() };
    runs.iter().zip(&stems).map(named).collect()
}

/// Returns the name of a chart's file.
pub(crate) fn file_of(chart: &Chart) -> String {
    format!("{}.svg", chart.id)
}

impl ComparedRuns {
    fn of(comparison: Comparison, baseline: &Summary, ids: &mut Ids) -> ComparedRuns {
        let mut charts = forest::charts(&comparison, baseline);
        for chart in &mut charts {
            chart.id = ids.give(&chart.id);
        }
        ComparedRuns { charts, comparison }
    }
}
