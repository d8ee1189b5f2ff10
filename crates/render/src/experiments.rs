//! The experiments that can be replayed.

use super::document::{Column, Document, Fact, Layout, Row, Section, Table};
use super::replay::{NONE, context, then};
use super::style::Style;
use super::terminal::terminal;
use furlong_analysis::estimate;
use furlong_analysis::text::plain;
use furlong_model::{Experiment, ExperimentRow, Figure, PublishedFigures, Target, format_bytes};
use furlong_stats::distinct;
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

/// Describes each experiment: its question, its publication, the published figures, and the conclusions.
pub fn experiments(experiments: &[Experiment], style: Style) -> String {
    terminal(&experiments.iter().map(section).collect(), style)
}

fn section(experiment: &Experiment) -> Section {
    let year = experiment.year.map(|year| year.to_string());
    let by: Vec<&str> = [experiment.author.as_deref(), year.as_deref()].into_iter().flatten().collect();
    let by = if by.is_empty() { String::new() } else { format!(" ({})", by.join(", ")) };
    let fact = |name, value: &Option<String>| value.as_deref().map(|value| Fact::new(name, plain(value)));
    let facts = [
        fact("Published", &experiment.source),
        fact("Then", &experiment.machine),
        fact("Measured", &experiment.measure.note),
        fact("Programs", &experiment.programs),
        fact("Not seen", &experiment.unseen),
    ];
    let machines =
        experiment.machines.iter().map(|one| format!("{}: {}", plain(&one.name), plain(&one.text)));
    let machines = machines.map(|text| Fact::new("Then", text));
    let meanings = experiment.meanings.iter().map(|claim| &claim.text);
    let claims = experiment.claims.iter().map(|claim| &claim.text).chain(meanings);
    let claims = claims.map(|text| Fact::new("Claims", plain(text)));
    let faults = experiment.faults.iter().map(|text| Fact::new("Fault", plain(text)));
    let others = experiment.context.iter().map(|text| Fact::new("Published", context(text)));
    Section::titled(plain(&experiment.name))
        .paragraph(format!("{}{by}", plain(&experiment.title)))
        .facts(facts.into_iter().flatten().chain(machines))
        .table(published(experiment))
        .facts(claims.chain(faults).chain(others))
        .facts([Fact::new("Takes", format!("about {}", about(estimate(experiment))))])
}

/// Returns the table of the published figures, with a line per benchmark, size and machine.
fn published(experiment: &Experiment) -> Table {
    let all = experiment.rows.iter().flat_map(|row| &row.published);
    let figures: Vec<Figure> = distinct(all.flat_map(|published| published.figures.keys().copied()));
    let line = |row: &ExperimentRow, published: Option<&PublishedFigures>| {
        let target = row.target.as_ref().map_or_else(|| NONE.to_owned(), Target::name);
        let machine = |of: &PublishedFigures| of.machine.as_ref().map(|name| format!(", {}", plain(name)));
        let size = published.map_or_else(
            || NONE.to_owned(),
            |of| format_bytes(of.size_bytes) + &machine(of).unwrap_or_default(),
        );
        let cell = |figure| published?.figures.get(figure).map(|value| then(*value));
        let figures = figures.iter().map(|figure| cell(figure).unwrap_or_else(|| NONE.to_owned()));
        Row::neutral([plain(&row.name), plain(&target), size].into_iter().chain(figures))
    };
    let lines = experiment.rows.iter().flat_map(|row| match row.published.as_slice() {
        [] => vec![line(row, None)],
        several => several.iter().map(|published| line(row, Some(published))).collect(),
    });
    let heads = figures.iter().map(|figure| Column::named(figure.label().to_owned()));
    let columns: Vec<_> =
        ["row", "measured as", "size"].map(Column::words).into_iter().chain(heads).collect();
    Table { layout: Layout::Continue(3), ..Table::new(columns, lines.collect()) }
}

/// Rounds a duration: to 5 s, or from two minutes on to minutes.
fn about(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        seconds if seconds < 117.5 => format!("{:.0} s", (seconds / 5.0).round().max(1.0) * 5.0),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}
