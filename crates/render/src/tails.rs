//! Charts of latency distributions: the share of round trips that take at least a given time, down to the rarest
//! latencies with enough samples.

use super::style::Charts;
use furlong_analysis::text::plain;
use furlong_analysis::{DecodedRun, Group, PayloadKind, Row, Tail, Unit, size_tails, tails};
use furlong_chart::{Axis, Chart, Kind, Look, Measure, Point, Series, Side, percentile};
use furlong_model::format_bytes;

/// Number of benchmarks in a group for which tails are charted. A user who asked for a few benchmarks wants the
/// details, while a long ranking is read in its table.
const ROWS: std::ops::RangeInclusive<usize> = 2..=5;

/// Maximum number of groups that have charts. With more, as in a sweep over sizes, charts would bury the tables.
const MOST_GROUPS: usize = 2;

/// Maximum number of benchmarks with a mix of sizes for which sizes are charted, because each has its own chart.
const MOST_BY_SIZE: usize = 2;

/// Returns one chart for each group, if the chart shows more than the percentiles in the table.
pub(crate) fn charts(run: &DecodedRun, when: Charts) -> Vec<Chart> {
    let summary = &run.summary;
    let carries_something = |group: &&Group| group.carries != PayloadKind::Nothing;
    let groups = || summary.groups.iter().filter(carries_something);
    match when {
        Charts::Never => Vec::new(),
        Charts::Always => {
            let all = groups().filter_map(|group| chart(run, group, 1));
            all.chain(groups().flat_map(|group| size_charts(run, group, usize::MAX))).collect()
        }
        Charts::Auto if groups().count() > MOST_GROUPS => Vec::new(),
        Charts::Auto => {
            let few = |group: &&Group| ROWS.contains(&summary.rows_of(group).count());
            // A chart that lacks a row of its table would need a reason for each.
            let all = |group| chart(run, group, summary.rows_of(group).count());
            let sizes = groups().flat_map(|group| size_charts(run, group, MOST_BY_SIZE));
            groups().filter(few).filter_map(all).chain(sizes).collect()
        }
    }
}

/// Returns the chart of a group; `None` if fewer than `fewest` of its benchmarks have a tail.
fn chart(run: &DecodedRun, group: &Group, fewest: usize) -> Option<Chart> {
    let tails = tails(run, group);
    if tails.len() < fewest {
        return None;
    }
    let unit = run.summary.rows_of(group).next().map_or(Unit::RoundTrip, |row| row.exchange.unit);
    tail_chart(&group.name, unit, &plain(&group.title), tails)
}

/// Returns a chart of the sizes of a mix for each benchmark, or for none if the group has more than `most`.
fn size_charts(run: &DecodedRun, group: &Group, most: usize) -> Vec<Chart> {
    let rows: Vec<_> = run.summary.rows_of(group).filter(|row| !row.size_classes.is_empty()).collect();
    let chart = |row: &&Row| {
        let (tails, name) = (size_tails(run, row), row.case.row());
        let id = format!("sizes-{}-{name}", group.name);
        let title = format!("{}, by size", plain(&name));
        (tails.len() > 1).then(|| tail_chart(&id, row.exchange.unit, &title, tails))?
    };
    if rows.len() > most { Vec::new() } else { rows.iter().filter_map(chart).collect() }
}

fn tail_chart(id: &str, unit: Unit, title: &str, tails: Vec<Tail>) -> Option<Chart> {
    Chart {
        id: format!("tails-{id}"),
        title: format!("Share of {}s that take at least this long: {title}", unit.word()),
        says: String::new(),
        notes: Vec::new(),
        x: Axis::log("", Measure::Time),
        y: Axis::log("", Measure::Beyond),
        kind: Kind::Lines { marks: false, value: Side::X, columns: Vec::new() },
        series: tails.into_iter().map(curve).collect(),
        guides: Vec::new(),
    }
    .drawable()
}

fn curve(tail: Tail) -> Series {
    // Points are named at the median and at each decade below it, where curves differ.
    const NAMED: [f64; 5] = [0.5, 0.1, 0.01, 1e-3, 1e-4];
    let last = tail.points.len().saturating_sub(1);
    let named: Vec<usize> = NAMED
        .iter()
        .map(|share| tail.points.partition_point(|(_, other)| other >= share))
        .filter(|beyond| (1..=last).contains(beyond))
        .map(|beyond| beyond - 1)
        .chain([last])
        .collect();
    let point = |(number, (ns, share)): (usize, &(f64, f64))| {
        let label = if named.contains(&number) { percentile(*share) } else { String::new() };
        Point::new(label, *ns, *share)
    };
    let points = tail.points.iter().enumerate().map(point).collect();
    let name = tail.size_bytes.map_or_else(|| tail.case.row(), format_bytes);
    Series { name, look: Look::Muted, points }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table_of_run;
    use crate::{Style, document, terminal::terminal};
    use furlong_analysis::Run;
    use furlong_fixture as fixture;
    use furlong_model::{
        Capabilities, ConditionKind, Placement, Record, RequestedConditions, SizeClass, Trial, Wait,
    };

    /// Returns a run with benchmarks of these names at each of `sizes`.
    fn run(names: &[&str], sizes: &[usize]) -> Run {
        let rows = names.iter().flat_map(|name| sizes.iter().map(move |size| (*name, *size)));
        let trials = rows.zip(1..).flat_map(|((name, size_bytes), factor)| {
            let mut case = fixture::case(name, Wait::Block, Placement::OtherCore);
            case.size_bytes = size_bytes;
            (0..3).map(move |number| {
                let measured = fixture::measurement(&case, f64::from(4_000 * factor + number), 0);
                let outcome = furlong_model::Outcome::Measured(measured);
                Record::Trial(Trial {
                    case: case.clone(),
                    family: fixture::family(&case.mechanism),
                    number,
                    at_ns: None,
                    outcome,
                })
            })
        });
        Run::from_records([Record::Run(fixture::header())].into_iter().chain(trials)).unwrap()
    }

    fn drawn(run: &Run, charts: Charts) -> String {
        terminal(&document::drawn(super::charts(&DecodedRun::of(run), charts)).collect(), Style::default())
    }

    #[test]
    fn two_rows_beside_their_table() {
        let run = run(&["pipe", "posix-mq"], &[128]);
        insta::assert_snapshot!(table_of_run(&DecodedRun::of(&run), Style::default()));
    }

    #[test]
    fn many_rows_many_groups_and_single_rows_have_none_unless_wanted() {
        let six = ["pipe", "fifo", "tcp", "udp", "posix-mq", "sysv-mq"];
        for (names, sizes) in [(&six[..], &[128][..]), (&six[..1], &[128]), (&six[..2], &[64, 128, 256])] {
            let run = run(names, sizes);
            assert_eq!(
                [drawn(&run, Charts::Auto), drawn(&run, Charts::Never)],
                ["", ""],
                "{names:?} {sizes:?}"
            );
            assert_eq!(drawn(&run, Charts::Always).matches("Share of round trips").count(), sizes.len());
        }
        assert_eq!(
            drawn(&run(&six[..5], &[128, 256]), Charts::Auto).matches("Share of round trips").count(),
            2
        );
    }

    #[test]
    fn sizes_of_a_mix_have_a_chart_per_row() {
        let mix = ConditionKind::find("sizes").unwrap().read("64:1,4KiB:1").unwrap();
        let conditions = RequestedConditions::combinations(&[vec![mix]], &Capabilities::DEFAULT).remove(0);
        let mixed = |names: &[&str]| {
            let mut run = run(names, &[4096]);
            for trial in &mut run.trials {
                trial.case.conditions = conditions.clone();
                if let furlong_model::Outcome::Measured(measured) = &mut trial.outcome {
                    let class = |size_bytes| SizeClass { size_bytes, histogram: measured.histogram.clone() };
                    measured.size_classes = [64, 4096].map(class).into();
                }
            }
            drawn(&run, Charts::Auto)
        };
        let text = mixed(&["pipe", "tcp"]);
        assert_eq!(text.matches(", by size").count(), 2, "{text}");
        assert_eq!(text.matches("a 64B, b 4KiB").count(), 2, "{text}");
        assert!(!mixed(&["pipe", "tcp", "udp"]).contains(", by size"), "three charts would bury the tables");
    }

    #[test]
    fn a_row_without_a_tail_leaves_its_group_without_a_chart() {
        let mut run = run(&["pipe", "posix-mq"], &[128]);
        for trial in &mut run.trials {
            if let furlong_model::Outcome::Measured(measured) = &mut trial.outcome
                && trial.case.mechanism == "pipe"
            {
                measured.round_trips_per_sample = 2;
                measured.elapsed_ns *= 2;
                measured.round_trips *= 2;
            }
        }
        assert_eq!(drawn(&run, Charts::Auto), "");
        let wanted = drawn(&run, Charts::Always);
        assert!(wanted.contains("a posix-mq/block\n") && !wanted.contains("pipe"), "{wanted}");
    }
}
