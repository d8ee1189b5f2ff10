//! The experiments that can be replayed.

use super::style::{Paint, Style};
use furlong_analysis::text::{plain, wrap};
use furlong_model::{Experiment, Work};

/// A paragraph for each: its name, what it asks, who published it, and what it compares.
pub fn experiments(experiments: &[Experiment], style: Style) -> String {
    experiments.iter().map(|experiment| paragraph(experiment, style)).collect::<Vec<_>>().join("\n")
}

fn paragraph(experiment: &Experiment, style: Style) -> String {
    let year = experiment.year.map(|year| year.to_string());
    let by: Vec<&str> = [experiment.author.as_deref(), year.as_deref()].into_iter().flatten().collect();
    let by = if by.is_empty() { String::new() } else { format!(" ({})", by.join(", ")) };
    let rows: Vec<_> = experiment.rows.iter().map(|row| plain(&row.name)).collect();
    let what = match experiment.measure.work {
        Work::Exchange(_) => "Compares",
        Work::Handover { .. } => "Accessor a region over through",
    };
    let mut text = format!("{}\n", style.paint(Paint::Bold, &plain(&experiment.name)));
    let lines = [
        Some(format!("{}{by}", plain(&experiment.title))),
        experiment.source.as_ref().map(|source| format!("Published: {}", plain(source))),
        experiment.machine.as_ref().map(|machine| format!("Then: {}", plain(machine))),
        Some(format!("{what}: {}", rows.join(", "))),
    ];
    for line in lines.into_iter().flatten() {
        text += &format!("  {}\n", wrap(&line, style.width.saturating_sub(2), 4));
    }
    text
}
