//! The highest rates of two runs, and the sentences about them.

use super::super::document::{Column, Row, Section, Table, Tone};
use super::prose::NAMED;
use crate::capacity::{estimate, interval};
use furlong_analysis::text::{capital, listed, plain};
use furlong_analysis::{Change, ComparedCapacity, ComparedRun, Comparison};
use furlong_model::format_ns;

/// Returns the table of the highest rates; empty without any.
pub(super) fn section(comparison: &Comparison, run: &ComparedRun) -> Section {
    let all: Vec<_> = comparison.capacities_of(&run.name).collect();
    let Some(first) = all.first() else { return Section::default() };
    let columns = [
        Column::words("verdict"),
        Column::words("row"),
        Column::figures("then"),
        Column::figures("95 %"),
        Column::figures("now"),
        Column::figures("95 %"),
        Column::figures("ratio"),
        Column::figures("95 %"),
    ];
    let title = title(first);
    let table = Table::new(columns, all.into_iter().map(line).collect());
    Section::titled(title).table(table).footnotes(vec![
        "ratio: rate relative to the baseline, below 1 is worse; tie: the interval of the ratio contains 1."
            .to_owned(),
    ])
}

fn line(one: &ComparedCapacity) -> Row {
    let tone = match one.verdict {
        Change::Worse => Tone::Bad,
        Change::Better => Tone::Good,
        Change::Inconclusive | Change::Same => Tone::Neutral,
    };
    let ends = one.ci95.map(|[low, high]| format!("{low:.2} to {high:.2}"));
    let cells = [
        verdict(one).to_owned(),
        plain(&one.case.row()),
        estimate(&one.baseline),
        interval(&one.baseline),
        estimate(&one.new),
        interval(&one.new),
        one.ratio.map_or_else(|| "?".to_owned(), |ratio| format!("{ratio:.2}x")),
        ends.unwrap_or_else(|| "?".to_owned()),
    ];
    Row { tone, ..Row::neutral(cells) }
}

fn title(one: &ComparedCapacity) -> String {
    let limit = format_ns(one.objective.limit_ns as f64);
    format!("Highest rate with {} below {limit}", one.objective.percentile())
}

/// Returns the word for the verdict.
pub(super) fn verdict(one: &ComparedCapacity) -> &'static str {
    if one.verdict == Change::Inconclusive && one.tied { "tie" } else { one.verdict.name() }
}

/// Returns one sentence per verdict with the highest rates that have it.
pub(super) fn sentences(comparison: &Comparison, run: &ComparedRun) -> Vec<String> {
    let all: Vec<_> = comparison.capacities_of(&run.name).collect();
    let sentence = |word: &str| {
        let named = all.iter().filter(|one| verdict(one) == word).map(|one| change(one));
        let named: Vec<_> = named.collect();
        let title = title(all.first()?);
        let word = capital(word);
        (!named.is_empty()).then(|| format!("{word}, h{}: {}.", &title[1..], listed(&named, NAMED)))
    };
    ["worse", "better", "same", "tie", "inconclusive"].into_iter().filter_map(sentence).collect()
}

/// Describes the rates of both runs and their ratio.
pub(super) fn change(one: &ComparedCapacity) -> String {
    let rate = [&one.baseline, &one.new].map(|rate| match rate.per_second {
        Some(_) => format!("{} ({})", estimate(rate), interval(rate)),
        None => interval(rate),
    });
    let ratio = one.ratio.zip(one.ci95);
    let ratio =
        ratio.map(|(ratio, [low, high])| format!(", {ratio:.2} times as many ({low:.2} to {high:.2})"));
    let name = plain(&one.case.row());
    format!("{name} {} then, {} now{}", rate[0], rate[1], ratio.unwrap_or_default())
}
