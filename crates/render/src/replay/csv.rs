//! Replays as CSV: a line for each figure of each benchmark.

use super::super::csv::{sheet, words};
use furlong_analysis::{Replay, ReplayRow};
use furlong_model::Figure;

/// Name of a column and the function that fills its cells, which are empty without a value.
type Column = (&'static str, fn(&Replay, &ReplayRow, Option<Figure>) -> String);

/// All columns; the name of a figure ends with its unit.
const COLUMNS: [Column; 16] = [
    ("experiment", |replay, _, _| words(&replay.experiment)),
    ("mechanism", |_, row, _| words(&row.mechanism)),
    ("row", |_, row, _| row.row.as_deref().map(words).unwrap_or_default()),
    ("size_bytes", |_, row, _| row.size_bytes.to_string()),
    ("carried_bytes", |_, row, _| row.carried_bytes.to_string()),
    ("status", |_, row, _| row.status.name().to_owned()),
    ("trials", |_, row, _| row.trials.to_string()),
    ("verified", |_, row, _| row.verified.to_string()),
    ("figure", |_, _, figure| figure.map(|figure| figure.to_string()).unwrap_or_default()),
    ("published", |_, row, figure| number(figure.and_then(|figure| row.published.get(&figure).copied()))),
    ("measured", |_, row, figure| {
        number(figure.and_then(|figure| row.measured.get(&figure)).map(|measured| measured.value))
    }),
    ("ci95_low", |_, row, figure| end(row, figure, 0)),
    ("ci95_high", |_, row, figure| end(row, figure, 1)),
    ("ratio_then", |replay, row, figure| number(row.ratio_then.filter(|_| decides(replay, figure)))),
    ("ratio_now", |replay, row, figure| number(row.ratio_now.filter(|_| decides(replay, figure)))),
    ("reason", |_, row, _| row.reason.as_deref().map(words).unwrap_or_default()),
];

/// Returns a header, then for each benchmark a line per published or measured figure, or a line without a figure.
pub fn replay_csv(replays: &[Replay]) -> String {
    let header = COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let rows = replays.iter().flat_map(|replay| replay.rows.iter().map(move |row| (replay, row)));
    let lines = rows.flat_map(|(replay, row)| {
        figures(replay, row)
            .into_iter()
            .map(move |figure| COLUMNS.iter().map(|(_, cell)| cell(replay, row, figure)).collect())
    });
    sheet([header].into_iter().chain(lines))
}

fn figures(replay: &Replay, row: &ReplayRow) -> Vec<Option<Figure>> {
    let has = |figure: &&Figure| row.published.contains_key(figure) || row.measured.contains_key(figure);
    let figures: Vec<_> = replay.figures.iter().filter(has).copied().map(Some).collect();
    if figures.is_empty() { vec![None] } else { figures }
}

fn number(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn end(row: &ReplayRow, figure: Option<Figure>, at: usize) -> String {
    number(figure.and_then(|figure| row.measured.get(&figure)?.ci95).map(|ends| ends[at]))
}

/// Ratios are of the figure that decides.
fn decides(replay: &Replay, figure: Option<Figure>) -> bool {
    figure == Some(replay.measure.order_by)
}
