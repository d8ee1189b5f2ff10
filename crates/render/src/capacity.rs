//! The highest rates at which benchmarks keep an objective.

use crate::document::{Column, Document, Row, Section, Table, drawn};
use furlong_analysis::text::{format_per_second, plain};
use furlong_analysis::{Capacity, HighestRate, Summary, describe_placement};
use furlong_chart::{Axis, Chart, Guide, Kind, Measure, Point, Series};
use furlong_model::{Arrival, Case, ConditionKind, SizeMix, format_bytes, format_ns};

/// Benchmarks whose highest rate is marked: more marks hide the points.
const MARKED: usize = 2;

/// Returns the ranking by the highest rate, in place of a table per rate. `head` is above it, and `charts` and `rest` below.
pub(crate) fn document(summary: &Summary, head: Section, charts: Vec<Chart>, rest: Section) -> Document {
    [head, table(summary)].into_iter().chain(drawn(charts)).chain([rest]).collect()
}

/// Returns the ranking by the highest rate.
pub fn table(summary: &Summary) -> Section {
    let capacities = &summary.capacities;
    let mut rank = 0;
    let ties = capacities.iter().filter(|one| one.is_tied_with_first).count();
    let rows = capacities.iter().enumerate().map(|(place, one)| {
        if !one.is_tied_with_first || place == 0 {
            rank = place + 1;
        }
        let rate = one.highest_rate();
        let share = |rate: f64| format!("{:.0} %", rate / one.closed_loop_per_second * 100.0);
        let trials: usize = one.points.iter().map(|point| point.trials).sum();
        let name = name(capacities, one);
        Row::neutral([
            match rate.low {
                None => "–".to_owned(),
                Some(_) if one.is_tied_with_first && ties > 1 => format!("={rank}"),
                Some(_) => rank.to_string(),
            },
            name,
            estimate(&rate),
            interval(&rate),
            format_per_second(one.closed_loop_per_second),
            rate.per_second.map_or_else(|| "–".to_owned(), share),
            trials.to_string(),
        ])
    });
    let rows: Vec<Row> = rows.collect();
    let columns = [
        Column::figures("#"),
        Column::words("row"),
        Column::figures("highest rate"),
        Column::figures("95 % interval"),
        Column::figures("closed loop"),
        Column::figures("share"),
        Column::figures("trials"),
    ];
    let is_never_kept = capacities.iter().all(|one| one.highest_rate().low.is_none());
    Section::titled(title(capacities))
        .paragraph_if(is_never_kept.then(|| never_kept(capacities)).flatten())
        .table(Table::new(columns, rows))
        .paragraph_if(limited_by_rate(capacities))
        .paragraph_if((ties > 1).then_some("=1: the interval overlaps with that of the first."))
        .paragraph(
            "A trial keeps the objective if this percentile of its messages does, each \
             timed from when it was due, and if 95 % of the rate was carried. ?: too few trials, a longer --within gives more. share: \
             highest rate relative to the rate in a closed loop.",
        )
}

/// Names the lowest rate that was tried.
fn never_kept(capacities: &[Capacity]) -> Option<String> {
    let tried = capacities.iter().flat_map(|one| &one.points).map(|point| point.asked_per_second);
    let lowest = format_per_second(tried.reduce(f64::min)?);
    Some(format!(
        "No benchmark kept the objective at the rates that were tried, from {lowest} on: the machine delays messages for longer, or the \
         limit is below the latency. A longer --within tries lower rates, if there are any."
    ))
}

/// Names the benchmarks whose percentile was below the limit at all rates.
fn limited_by_rate(capacities: &[Capacity]) -> Option<String> {
    let limited = capacities.iter().filter(|one| one.is_limited_by_rate());
    let names: Vec<_> = limited.map(|one| name(capacities, one)).collect();
    (!names.is_empty()).then(|| {
        format!("Limited by the rate that could be carried, and not by the objective: {}.", names.join(", "))
    })
}

/// Returns the mix of sizes that all benchmarks have.
fn common_mix(capacities: &[Capacity]) -> Option<&SizeMix> {
    let mix = capacities.first()?.case.conditions.size_mix();
    mix.filter(|_| capacities.iter().all(|one| one.case.conditions.size_mix() == mix))
}

/// Returns the name of the benchmark without the mix of sizes, if that is in the title.
fn name(capacities: &[Capacity], one: &Capacity) -> String {
    let kind = common_mix(capacities).and_then(|_| ConditionKind::find("sizes"));
    let others = kind.and_then(|kind| one.case.conditions.split(kind)).map(|(_, others)| others);
    let conditions = others.unwrap_or_else(|| one.case.conditions.clone());
    plain(&Case { conditions, ..one.case.clone() }.row())
}

/// Formats an estimate.
pub(crate) fn estimate(rate: &HighestRate) -> String {
    let unknown = if rate.low.is_some() && rate.high.is_some() { "?" } else { "–" };
    rate.per_second.map_or_else(|| unknown.to_owned(), format_per_second)
}

/// Formats the interval of an estimate.
pub(crate) fn interval(rate: &HighestRate) -> String {
    match (rate.low.map(format_per_second), rate.high.map(format_per_second)) {
        (Some(low), Some(high)) => format!("{low}-{high}"),
        (Some(low), None) => format!("above {low}"),
        (None, Some(high)) => format!("below {high}"),
        (None, None) => "no trial".to_owned(),
    }
}

/// Returns the objective and the messages.
fn title(capacities: &[Capacity]) -> String {
    let Some(Capacity { case, objective, offered, .. }) = capacities.first() else { return String::new() };
    let limit = format_ns(objective.limit_ns as f64);
    let size = common_mix(capacities).map_or_else(|| format_bytes(case.size_bytes), SizeMix::to_string);
    let process = match offered {
        Arrival::Poisson(_) => "at independent times (Poisson)".to_owned(),
        Arrival::Burst { messages, .. } => format!("in bursts of {messages}"),
        Arrival::OnOff { .. } => "in parts of each period".to_owned(),
        _ => "at fixed times".to_owned(),
    };
    format!(
        "Highest rate with {} below {limit}: {size} {} {process}, {}",
        objective.percentile(),
        case.pattern().facts().messages,
        describe_placement(case.placement)
    )
}

/// Returns the percentile against the rate.
pub fn chart(summary: &Summary) -> Option<Chart> {
    let capacities = &summary.capacities;
    let objective = capacities.first()?.objective;
    let series = capacities.iter().enumerate().map(|(number, one)| {
        let look = Series::look(number, summary.family_of(&one.case.mechanism));
        let points = one.points.iter().map(|point| {
            Point::new(format_per_second(point.asked_per_second), point.asked_per_second, point.percentile_ns)
        });
        Series { name: name(capacities, one), look, points: points.collect() }
    });
    let percentile = objective.percentile();
    let limit = format_ns(objective.limit_ns as f64);
    let mark = |one: &Capacity| {
        Some(Guide::Upright(
            one.highest_rate().per_second?,
            format!("highest rate of {}", name(capacities, one)),
        ))
    };
    Chart {
        id: "capacity".to_owned(),
        title: format!("{percentile} against offered load"),
        says: format!("The objective is {percentile} below {limit}."),
        notes: vec!["A point is the median of the trials at one rate.".to_owned()],
        x: Axis::log("messages sent per second", Measure::Number),
        y: Axis::log(format!("{percentile} (objective: below {limit})"), Measure::Time),
        kind: Kind::Scatter,
        series: series.collect(),
        guides: capacities.iter().filter_map(mark).take(MARKED).collect(),
    }
    .drawable()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, terminal::terminal};
    use furlong_analysis::{DecodedRun, Edge};
    use furlong_fixture::comparison::searched;

    #[test]
    fn rate_is_marked_and_its_absence_is_said() {
        let mut summary = DecodedRun::of(&searched(4000.0)).summary;
        let chart = chart(&summary).unwrap();
        let [Guide::Upright(rate, _)] = chart.guides[..] else { panic!("{chart:?}") };
        assert!((rate / 4000.0 - 1.0).abs() < 0.05, "{chart:?}");
        let text = |summary: &Summary| terminal(&[table(summary)].into_iter().collect(), Style::default());
        assert!(!text(&summary).contains("at any rate"), "{}", text(&summary));
        summary.capacities[0].edge = Some(Edge::Lowest);
        assert!(
            text(&summary).contains("No benchmark kept the objective at the rates that were tried, from "),
            "{}",
            text(&summary)
        );
    }
}
