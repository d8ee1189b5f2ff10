//! The experiments that can be replayed.

use super::document::{Fact, Section};
use super::style::Style;
use super::terminal::terminal;
use furlong_analysis::text::plain;
use furlong_model::{Experiment, Work};

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
    Section::titled(plain(&experiment.name))
        .paragraph(format!("{}{by}", plain(&experiment.title)))
        .facts(facts.into_iter().flatten().chain([Fact::new(what, rows.join(", "))]))
}
