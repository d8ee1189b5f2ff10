//! The figure that decides over many sizes: a line a row then, a line now, a column a size.

use super::{
    figures::{now_of, then_of},
    sheet::Sheet,
};
use furlong_analysis::text::plain;
use furlong_analysis::{Replay, ReplayRow};
use furlong_model::format_bytes;

/// The best of a line.
const BEST: &str = "*";

/// Returns a table of all benchmarks at all sizes.
pub(crate) fn matrix(replay: &Replay) -> Sheet {
    let sizes = &replay.measure.sizes_bytes;
    let first: Vec<_> = sizes.first().map(|size| replay.rows_of(*size).collect()).unwrap_or_default();
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for row in first {
        let alike: Vec<_> = replay.rows.iter().filter(|other| other.mechanism == row.mechanism).collect();
        lines.extend(then_line(replay, &alike));
        lines.extend(now_line(replay, &alike));
    }
    Sheet {
        title: format!("{} at each size: published, then measured below it", replay.measure.order_by.label()),
        keys: vec!["row"],
        figures: sizes.iter().map(|size| format_bytes(*size)).collect(),
        rows: lines.into_iter().map(|(name, cells)| [name].into_iter().chain(cells).collect()).collect(),
        note: format!("{BEST} is the best of a line. Indented lines and added benchmarks are measured now."),
    }
}

/// Returns the published line of a benchmark; `None` without a figure.
fn then_line(replay: &Replay, rows: &[&ReplayRow]) -> Option<(String, Vec<String>)> {
    let figure = replay.measure.order_by;
    let name = plain(&rows.first()?.mechanism);
    let is_there = rows.iter().any(|row| row.published.contains_key(&figure));
    is_there.then(|| {
        let best = best_of(replay, |best| best.then.clone(), rows);
        let cells = rows.iter().map(|row| marked(then_of(row, figure), best.contains(&row.size_bytes)));
        (name, cells.collect())
    })
}

/// Returns the measured line of a benchmark; `None` if nothing was measured.
fn now_line(replay: &Replay, rows: &[&ReplayRow]) -> Option<(String, Vec<String>)> {
    let figure = replay.measure.order_by;
    let name = plain(rows.first()?.row.as_deref()?);
    rows.iter().find(|row| row.measured.contains_key(&figure))?;
    let best = best_of(replay, |best| best.now.iter().map(|now| now.size_bytes).collect(), rows);
    let cells = rows.iter().map(|row| marked(now_of(row, figure), best.contains(&row.size_bytes)));
    let is_published = rows.iter().any(|row| row.published.contains_key(&figure));
    let indent = if is_published { "  " } else { "" };
    Some((format!("{indent}{name}"), cells.collect()))
}

fn best_of(
    replay: &Replay,
    sizes: impl Fn(&furlong_analysis::BestSize) -> Vec<usize>,
    rows: &[&ReplayRow],
) -> Vec<usize> {
    let best = replay.best_sizes.iter().find(|best| rows.iter().any(|row| row.mechanism == best.mechanism));
    best.map(sizes).unwrap_or_default()
}

fn marked(cell: String, best: bool) -> String {
    // A space keeps the figures of a column in line.
    if best { cell + BEST } else { cell + " " }
}
