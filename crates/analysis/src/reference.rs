//! Rows that carry nothing and make the same calls wherever their roles run: what they take longer between two
//! processes than in one is waiting alone.

use crate::{
    DecodedRun, Row,
    checks::on_two_processors,
    count::{count_of, system_calls},
};
use furlong_model::{Case, Family, Placement, WaitKind};
use furlong_stats::{bootstrap_interval, median, sort_by, tidy};

/// How far the calls of a row may be from those in one process, as a share: a few are repeated.
const CALLS_APART: f64 = 0.02;
/// Fewest switches of a role that waits, in a round trip over both roles. With fewer, most waits found what they
/// waited for, and the row tells little about the others.
const FEWEST_SWITCHES: f64 = 1.0;

/// What the roles of a reference row wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// For the processor that both share: each switch of either is one.
    OneCore,
    /// To be woken on a processor of their own: each switch to wait is one.
    TwoCores,
}

/// Nanoseconds of one switch or wake-up, from reference rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReferenceFigure {
    /// The median over the rows.
    pub ns: f64,
    /// Its 95 % interval; `None` where a row has fewer than three trials.
    pub ci95: Option<[f64; 2]>,
    /// What the rows say by themselves, the least and the most.
    pub spread: [f64; 2],
    /// The rows, `mechanism/wait`.
    pub from: Vec<String>,
}

/// One row between two processes and in one.
struct Reference<'a> {
    row: &'a Row,
    /// Switches, or wake-ups, in a round trip.
    switches: f64,
    /// Medians of the trials in nanoseconds, between two processes and in one.
    medians: [Vec<f64>; 2],
}

impl Reference<'_> {
    /// (median between two processes - median in one) / switches.
    fn ns(&self, between: &[f64], within: &[f64]) -> f64 {
        let [between, within] = [between, within].map(|medians| median(medians).unwrap_or_default());
        (between - within) / self.switches
    }
}

impl ReferenceFigure {
    /// From all reference rows but those of the mechanism `excluded`; `None` if there is none, or if
    /// between two processes nothing takes longer.
    pub(crate) fn of(run: &DecodedRun, waiting: Waiting, excluded: Option<&str>) -> Option<Self> {
        let mut references: Vec<_> = run
            .summary
            .rows
            .iter()
            .filter(|row| excluded != Some(row.case.mechanism.as_str()))
            .filter_map(|row| reference(run, row, waiting))
            .collect();
        sort_by(&mut references, |a, b| a.row.case.cmp(&b.row.case));
        let samples: Vec<_> = references.iter().flat_map(|row| &row.medians).map(Vec::as_slice).collect();
        let estimates: Vec<_> =
            references.iter().map(|row| row.ns(&row.medians[0], &row.medians[1])).collect();
        let ns = median(&estimates).filter(|ns| *ns > 0.0)?;
        let statistic = |drawn: &[Vec<f64>]| {
            let estimates =
                references.iter().zip(drawn.chunks_exact(2)).map(|(row, drawn)| row.ns(&drawn[0], &drawn[1]));
            median(&estimates.collect::<Vec<_>>()).unwrap_or_default()
        };
        let ends = estimates.iter().fold([ns, ns], |[least, most], one| [least.min(*one), most.max(*one)]);
        Some(ReferenceFigure {
            ns: tidy(ns),
            ci95: bootstrap_interval(&samples, statistic, run.records.header.seed).map(|ends| ends.map(tidy)),
            spread: ends.map(tidy),
            from: references.iter().map(|reference| reference.row.case.row()).collect(),
        })
    }
}

/// `row` as a reference, if it is one.
fn reference<'a>(run: &DecodedRun, row: &'a Row, waiting: Waiting) -> Option<Reference<'a>> {
    let case = &row.case;
    let carries_nothing = row.family == Some(Family::Notification);
    let sleeps =
        case.wait.kind() == WaitKind::Sleeping && case.arrival.is_closed_loop() && case.window.get() == 1;
    let twin = Case { placement: Placement::OneProcess, ..case.clone() };
    let has_twin = run.summary.rows.iter().any(|other| other.case == twin);
    let switches = row.exchange.switches;
    let (is_there, switches) = match waiting {
        Waiting::OneCore => {
            let on_one_core =
                case.placement != Placement::OneProcess && case.placement.has_two_processors() == Some(false);
            (on_one_core, switches.voluntary + switches.involuntary)
        }
        Waiting::TwoCores => (on_two_processors(case.placement), switches.voluntary),
    };
    let is_one = carries_nothing && sleeps && has_twin && is_there && switches >= FEWEST_SWITCHES;
    (is_one && calls_are_alike(run, case, &twin)).then(|| Reference {
        row,
        switches,
        medians: [run.medians_ns(case), run.medians_ns(&twin)],
    })
}

/// Where waiting needs calls of its own, those would be counted as a part of the switch.
fn calls_are_alike(run: &DecodedRun, case: &Case, twin: &Case) -> bool {
    let calls = |case: &Case| count_of(run.records, case).and_then(system_calls);
    calls(case).zip(calls(twin)).is_some_and(|(case, twin)| (case - twin).abs() <= CALLS_APART * twin)
}
