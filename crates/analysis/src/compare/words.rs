//! What a comparison says, in sentences.

use super::{Cause, Change, ComparedRow, NamedRun};
use crate::{
    Level,
    text::{listed, plain},
};
use furlong_model::{Case, format_ns};
use furlong_stats::median;

/// Rows that are named one by one.
const NAMED: usize = 4;
/// Fewest rows that can move together.
const FEWEST_TOGETHER: usize = 5;
/// The part of all rows that moved the same way, if they moved together.
const MOST: f64 = 0.8;

/// The first of `cases`, and how many more there are.
pub(super) fn cases<'a>(cases: impl Iterator<Item = &'a Case>) -> String {
    listed(&cases.map(|case| plain(&case.to_string())).collect::<Vec<_>>(), NAMED)
}

/// What two runs say.
pub(super) fn conclude(
    baseline: NamedRun,
    new: NamedRun,
    rows: &[ComparedRow],
    causes: &[Cause],
    margin: f64,
) -> Vec<String> {
    if rows.iter().all(|row| row.identical) {
        return vec![copies(baseline, new, rows)];
    }
    let mut sentences = vec![counts(baseline, new, rows, margin)];
    sentences.extend(doubts(baseline));
    sentences.extend(doubts(new));
    sentences.extend([Change::Worse, Change::Better].into_iter().filter_map(|change| changed(rows, change)));
    sentences.extend(power(rows));
    sentences.extend(together(rows, margin));
    sentences.extend(causes.iter().map(because));
    sentences
}

fn copies(baseline: NamedRun, new: NamedRun, rows: &[ComparedRow]) -> String {
    let (old, new) = (plain(baseline.name), plain(new.name));
    let of = if rows.len() == 1 { "one row".to_owned() } else { format!("all {} rows", rows.len()) };
    format!("{new} and {old} hold the very same trials of {of}: they are copies of one run.")
}

fn counts(baseline: NamedRun, new: NamedRun, rows: &[ComparedRow], margin: f64) -> String {
    let (old, new) = (plain(baseline.name), plain(new.name));
    let count = |change: Change| rows.iter().filter(|row| row.verdict == change).count();
    let parts: Vec<_> = Change::ALL
        .iter()
        .map(|change| (count(*change), change.name()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let have = if rows.len() == 1 {
        "The row that both have".to_owned()
    } else {
        format!("Of {} rows that both have", rows.len())
    };
    format!("{have}, {new} against {old}, with a margin of {}: {}.", percent(margin), parts.join(", "))
}

/// A share as it was typed: `5 %`, `2.5 %`.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// What the run itself takes from its figures.
fn doubts(side: NamedRun) -> Option<String> {
    let name = plain(side.name);
    let noise = &side.run.summary.run.noise;
    let because = noise.reasons.first().map(|reason| format!(" ({})", plain(reason))).unwrap_or_default();
    match noise.level {
        Level::Quiet => None,
        Level::Noisy => Some(format!(
            "The machine was noisy during {name}{because}: ratios may be off by more than their intervals say."
        )),
        Level::Unreliable => Some(format!(
            "The machine was UNRELIABLE during {name}{because}: no comparison with it is possible. Measure it again."
        )),
    }
}

fn changed(rows: &[ComparedRow], change: Change) -> Option<String> {
    let of_change: Vec<_> = rows.iter().filter(|row| row.verdict == change).collect();
    let named = |row: &&ComparedRow| {
        let ends = row.ci95.map(|[low, high]| format!(", {low:.2} to {high:.2}")).unwrap_or_default();
        format!("{} ({:.2} times as long{ends})", plain(&row.case.to_string()), row.ratio)
    };
    let names: Vec<_> = of_change.iter().map(named).collect();
    let title = crate::text::capital(change.name());
    (!names.is_empty()).then(|| format!("{title}: {}.", listed(&names, NAMED)))
}

/// What the rows could have shown whose intervals are too wide, and what would narrow them; `None` where none is.
fn power(rows: &[ComparedRow]) -> Option<String> {
    /// More trials than anybody makes.
    const MOST: f64 = 300.0;
    let is_wide = |row: &&ComparedRow| {
        let most = row.baseline_trials.max(row.new_trials) as f64;
        row.verdict == Change::Inconclusive && row.trials_for_same.is_some_and(|trials| trials > most)
    };
    let wide: Vec<&ComparedRow> = rows.iter().filter(is_wide).collect();
    let of = |figure: fn(&ComparedRow) -> Option<f64>| {
        median(&wide.iter().filter_map(|row| figure(row)).collect::<Vec<_>>())
    };
    let (change, trials) = (of(|row| row.detectable_change)?, of(|row| row.trials_for_same)?);
    let found = format!(
        "Inconclusive rows would have shown a change of about {:.0} % or more (the median row, in 80 of 100 such \
         comparisons)",
        change * 100.0
    );
    Some(match trials {
        trials if trials > MOST => {
            format!(
                "{found}; for a change of the margin the machine must be quieter: no number of trials will do."
            )
        }
        trials => {
            format!("{found}; with about {trials} trials a run, runs without a change would read the same.")
        }
    })
}

/// That nearly all rows moved the same way, which no single mechanism does.
fn together(rows: &[ComparedRow], margin: f64) -> Option<String> {
    let ratios: Vec<f64> = rows.iter().map(|row| row.ratio).collect();
    let middle = median(&ratios).filter(|_| rows.len() >= FEWEST_TOGETHER)?;
    let slower = ratios.iter().filter(|ratio| **ratio > 1.0).count();
    let faster = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    let (count, word) = if middle > 1.0 { (slower, "longer") } else { (faster, "less time") };
    let far = middle.max(1.0 / middle) > 1.0 + margin;
    (far && count as f64 >= MOST * rows.len() as f64).then(|| {
        format!(
            "{count} of {} rows take {word}, {middle:.2} times as long in the median: look for what they share before \
             you look at one mechanism.",
            rows.len()
        )
    })
}

fn because(cause: &Cause) -> String {
    let signed = |ns: f64| format!("{}{}", if ns > 0.0 { "+" } else { "" }, format_ns(ns));
    let named: Vec<_> = cause
        .rows
        .iter()
        .map(|share| {
            format!(
                "{} of {} in {} ({} x {} then, {} x {} now)",
                signed(share.part_ns),
                signed(share.change_ns),
                plain(&share.case.to_string()),
                times(share.count_then),
                format_ns(share.cost_then_ns),
                times(share.count_now),
                format_ns(share.cost_now_ns),
            )
        })
        .collect();
    format!("What {} cost accounts for {}.", plain(&cause.cost), listed(&named, NAMED))
}

/// A count with two decimals at most.
fn times(count: f64) -> String {
    ((count * 100.0).round() / 100.0).to_string()
}

/// What no comparison of two runs can tell; nothing where there is nothing to tell.
pub(super) fn caveat(rows: &[ComparedRow]) -> Option<String> {
    let text = "This compares runs. All that changed between them is in the ratios: what you changed, and also load, \
                heat, and the cores that a host gave. Measure each side again, in turn, before you trust a difference.";
    rows.iter().any(|row| !row.identical).then(|| text.to_owned())
}
