//! The experiments that can be replayed.

use super::document::{Column, Document, Fact, Layout, Row, Section, Table};
use super::style::Style;
use super::terminal::terminal;
use furlong_analysis::estimate;
use furlong_analysis::text::plain;
use furlong_model::{Experiment, Work};
use std::time::Duration;

/// Lists the experiments, one line each: the question, the year, the numbers of benchmarks and claims, and about how long a
/// replay takes.
pub fn experiment_list(experiments: &[Experiment], style: Style) -> String {
    let columns = vec![
        Column::words("experiment"),
        Column::words("question"),
        Column::named("year".to_owned()),
        Column::named("benchmarks".to_owned()),
        Column::named("claims".to_owned()),
        Column::named("takes".to_owned()),
    ];
    let row = |experiment: &Experiment| {
        let measured = experiment.rows.iter().filter(|row| row.target.is_some()).count();
        let year = experiment.year.map_or_else(|| "–".to_owned(), |year| year.to_string());
        Row::neutral(vec![
            plain(&experiment.name),
            plain(&experiment.title),
            year,
            (measured * experiment.measure.sizes_bytes.len()).to_string(),
            (experiment.claims.len() + experiment.meanings.len()).to_string(),
            about(estimate(experiment)),
        ])
    };
    let rows = experiments.iter().map(row).collect();
    let all: Duration = experiments.iter().map(estimate).sum();
    let note = format!(
        "All {} take about {}. furlong replay --list NAME describes one.",
        experiments.len(),
        about(all)
    );
    let table = Table { layout: Layout::Continue(2), notes: vec![note], ..Table::new(columns, rows) };
    terminal(&[Section::default().table(table)].into_iter().collect::<Document>(), style)
}

/// Describes each experiment: its name, its question, its publication, and the mechanisms it compares.
pub fn experiments(experiments: &[Experiment], style: Style) -> String {
    terminal(&experiments.iter().map(section).collect(), style)
}

fn section(experiment: &Experiment) -> Section {
    let year = experiment.year.map(|year| year.to_string());
    let by: Vec<&str> = [experiment.author.as_deref(), year.as_deref()].into_iter().flatten().collect();
    let by = if by.is_empty() { String::new() } else { format!(" ({})", by.join(", ")) };
    let rows: Vec<_> = experiment.rows.iter().map(|row| plain(&row.name)).collect();
    let what = match experiment.measure.work {
        Work::Exchange(_) => "Compares",
        Work::Handover { .. } => "Transfers data in bulk through",
    };
    let fact = |name, value: &Option<String>| value.as_deref().map(|value| Fact::new(name, plain(value)));
    let facts = [fact("Published", &experiment.source), fact("Then", &experiment.machine)];
    let meanings = experiment.meanings.iter().map(|claim| &claim.text);
    let claims = experiment.claims.iter().map(|claim| &claim.text).chain(meanings);
    let claims = claims.map(|text| Fact::new("Claims", plain(text)));
    Section::titled(plain(&experiment.name))
        .paragraph(format!("{}{by}", plain(&experiment.title)))
        .facts(facts.into_iter().flatten().chain([Fact::new(what, rows.join(", "))]).chain(claims))
        .facts([Fact::new("Takes", format!("about {}", about(estimate(experiment))))])
}

/// Rounds a duration: to 5 s, or from two minutes on to minutes.
fn about(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        seconds if seconds < 117.5 => format!("{:.0} s", (seconds / 5.0).round().max(1.0) * 5.0),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}
