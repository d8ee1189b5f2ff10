//! The table of a recommendation: the benchmarks that were measured under the workload, with the figure that orders
//! them.

use super::super::document::{Block, Column, Fact, Row, Table};
use super::super::figures::UNKNOWN;
use super::RecommendationDetail;
use super::answer::{factor, share};
use super::workload::limit;
use furlong_analysis::text::{format_ratio, plain, times_between};
use furlong_analysis::{RankedBenchmark, Recommendation, places};
use furlong_model::{Objective, display_width, format_ns};
use furlong_stats::trials_of_comparison;

/// Lines for the workload, the figures of the choice and the benchmarks of the table together, of 25.
const LINES: usize = 13;

/// Returns the number of benchmarks in the table next to these paragraphs and facts, which a terminal of 100 columns
/// wraps.
pub(crate) fn rows_beside(paragraphs: &[String], facts: &[Fact]) -> usize {
    let lines = |text: &str, width: usize| display_width(text).div_ceil(width);
    let paragraphs = paragraphs.iter().map(|text| lines(text, 96));
    let facts = facts.iter().map(|fact| lines(&fact.value, 84));
    LINES.saturating_sub(paragraphs.chain(facts).sum()).clamp(2, 6)
}

/// Returns the title above the table.
pub(crate) fn title(recommendation: &Recommendation) -> String {
    match recommendation.workload.interval_ns {
        Some(ns) if recommendation.workload.objective != Objective::Throughput => {
            format!("Measured under this workload, one every {}", format_ns(ns as f64))
        }
        _ => "Measured under this workload, back to back".to_owned(),
    }
}

/// Returns the table with at most `most` benchmarks, one of which is the choice; `None` if nothing was measured.
pub(crate) fn measured(
    recommendation: &Recommendation,
    detail: RecommendationDetail,
    most: usize,
) -> Option<Table> {
    let ranked = &recommendation.ranked;
    ranked.first()?;
    let objective = recommendation.workload.objective;
    let is_of_cpu = objective == Objective::Cpu;
    let effort = Column::figures("effort");
    // The effort determines the order if the objective is the least integration effort.
    let effort = if objective == Objective::Simplicity { effort } else { effort.expendable(2) };
    let has_slo = recommendation.workload.slo.is_some();
    let places = places(ranked, objective);
    let columns = detail
        .why
        .then(|| Column::figures("#"))
        .into_iter()
        .chain([
            Column::words("benchmark"),
            Column::figures(if is_of_cpu { "CPU time" } else { "median" }),
            Column::figures("interval").expendable(1),
            Column::figures(if is_of_cpu { "median" } else { "p99" }),
            Column::figures("CPU"),
        ])
        .chain(has_slo.then(|| Column::figures("SLO")))
        .chain([effort, Column::figures("ratio").expendable(3)]);
    let unknown = || UNKNOWN.to_owned();
    let line = |index: usize| {
        let (row, place) = (&ranked[index], places[index]);
        let is_shared = places.iter().filter(|other| **other == place).count() > 1;
        let place = format!("{}{place}", if is_shared { "=" } else { "" });
        let meets = match row.meets() {
            false => "no",
            true if row.may_miss() => UNKNOWN,
            true => "yes",
        };
        let is_tied = recommendation.ties.contains(&row.name());
        let ratio = match index {
            0 => "1.00x".to_owned(),
            // A ratio without an interval is no evidence of a difference.
            _ if row.times_interval.is_none() => unknown(),
            _ if detail.why && is_tied => format!("~ {}", factor(row.times, row.times_interval)),
            _ if detail.why => factor(row.times, row.times_interval),
            _ if is_tied => "tie".to_owned(),
            _ => format!("{}x", format_ratio(row.times)),
        };
        let cells = detail
            .why
            .then_some(place)
            .into_iter()
            .chain([
                plain(&row.name()),
                format_ns(row.figure),
                row.figure_ci95.map_or_else(unknown, times_between),
                if is_of_cpu { Some(row.p50_ns) } else { row.p99_ns }.map_or_else(unknown, format_ns),
                share(row.cpu_share),
            ])
            .chain(has_slo.then(|| meets.to_owned()))
            .chain([row.effort.to_string(), ratio]);
        Row::neutral(cells)
    };
    let is_cut = ranked.len() > most.saturating_add(1);
    let mut shown: Vec<usize> = (0..if is_cut { most } else { ranked.len() }).collect();
    let is_choice =
        |row: &RankedBenchmark| recommendation.choice.as_ref().is_some_and(|own| own.name() == row.name());
    let choice = ranked.iter().position(is_choice).filter(|choice| !shown.contains(choice));
    if let Some((choice, last)) = choice.zip(shown.last_mut()) {
        *last = choice;
    }
    let notes = is_cut.then(|| format!("... {} more: --all", ranked.len() - shown.len()));
    let rows = shown.into_iter().map(line).collect();
    Some(Table { notes: notes.into_iter().collect(), ..Table::new(columns.collect::<Vec<_>>(), rows) })
}

/// Explains the columns and marks of the table, as far as they are used.
pub(crate) fn legend(recommendation: &Recommendation) -> Vec<Block> {
    let any = |is: fn(&RankedBenchmark) -> bool| recommendation.ranked.iter().any(is);
    let workload = &recommendation.workload;
    let (is_of_cpu, is_by_effort) =
        (workload.objective == Objective::Cpu, workload.objective == Objective::Simplicity);
    let has_ratio = recommendation.ranked.iter().skip(1).any(|row| row.times_interval.is_some());
    let places = places(&recommendation.ranked, workload.objective);
    let shares_place = places.windows(2).any(|pair| pair[0] == pair[1]);
    let has_lone = any(|row| row.figure_ci95.is_none());
    let same_place = match has_lone {
        false if is_by_effort => {
            "= all benchmarks of this place have the same effort and tie with each other."
        }
        false => "= all benchmarks of this place tie with each other.",
        true => "= no two benchmarks of this place are significantly different.",
    };
    let needed = trials_of_comparison(recommendation.ranked.len()) as usize;
    let few = recommendation.ranked.iter().map(|row| row.trials).filter(|trials| *trials < needed).min();
    let few = few.map_or_else(String::new, |trials| format!(" after {needed} trials; some have {trials}"));
    let lone = if has_lone { " –: fewer than three trials." } else { "" };
    let interval =
        format!("interval: of equal benchmarks, all intervals overlap in 95 of 100 runs{few}.{lone}");
    let tie = match recommendation.ties.is_empty() {
        true => "",
        false => " ~: tied with the first, because that interval contains 1.",
    };
    let ratio = format!("ratio: to the first benchmark, with the interval of the ratio.{tie}");
    let meets = workload.slo.map(|slo| {
        format!(
            "SLO: {}; benchmarks that miss it come last. –: too few samples for the percentile.",
            limit(slo)
        )
    });
    let effort = match is_by_effort {
        true => {
            "effort: integration effort, which determines the order, and then the median; 1 is a line or two, 3 a larger piece."
        }
        false => "effort: integration effort; 1 is a line or two, 3 a larger piece.",
    };
    [
        shares_place.then_some(("#", same_place)),
        Some(("interval", interval.as_str())),
        has_ratio.then_some(("ratio", ratio.as_str())),
        (!is_of_cpu && any(|row| row.p99_ns.is_none()))
            .then_some(("p99", "p99: the 99th percentile. –: fewer than 100 samples.")),
        meets.as_deref().map(|meets| ("SLO", meets)),
        is_of_cpu.then_some((
            "CPU time",
            "CPU time: of all processes per message; it determines the order and the ratios.",
        )),
        Some(("effort", effort)),
    ]
    .into_iter()
    .flatten()
    .map(|(column, text)| Block::Legend(vec![column.to_owned()], None, vec![text.to_owned()]))
    .collect()
}
