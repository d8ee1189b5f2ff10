//! Comparison of groups of runs, benchmark by benchmark. The baseline is the group of the oldest run.
//!
//! Hosts that are in both groups are compared with themselves, which removes the differences between hosts. With too few
//! such hosts, the medians over the hosts of the groups are compared. Intervals are corrected for all benchmarks of all
//! groups (Bonferroni). A benchmark is better or worse only if the whole interval of the ratio is beyond the margin. For
//! medians over hosts, the interval of the ratio follows from both of their intervals.
//!
//! If all runs are of one host, the run is the unit. Each run has one value, and the rank-sum test and its interval compare
//! the runs as `compare` compares trials. The interval then contains differences between runs of one side (load,
//! temperature, cores).

use super::by::FleetBy;
use super::host::Fleet;
use super::run::FleetRun;
use crate::compare::by_margin;
use crate::{Change, Level};
use furlong_model::{Case, Unit};
use furlong_stats::{
    SortedMap, holm, median, median_interval_with, outwards, rank_sum_chance, shift_interval, sort_by, tidy,
};
use serde::Serialize;

/// Probability that a benchmark of equal groups reads better or worse.
const ALPHA: f64 = 0.05;

/// Group of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FleetGroup {
    /// Kernel or label; `None` for runs without a label.
    pub name: Option<String>,
    /// Number of runs.
    pub runs: usize,
    /// Number of hosts.
    pub hosts: usize,
    /// Number of runs on an unreliable machine.
    pub unreliable: usize,
    /// Number of runs on a noisy machine.
    pub noisy: usize,
}

/// Change of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetChange {
    /// Group that is compared with the first.
    pub group: Option<String>,
    /// Case of the benchmark.
    #[serde(flatten)]
    pub case: Case,
    /// Unit of one exchange.
    pub unit: Unit,
    /// Verdict on the change.
    pub verdict: Change,
    /// Ratio of the times to the first group.
    pub ratio: f64,
    /// Simultaneous 95 % confidence interval of the ratio for all benchmarks; `None` with too few hosts.
    pub interval: Option<[f64; 2]>,
    /// Median over the hosts of the first group, in nanoseconds.
    pub baseline_ns: f64,
    /// Median over the hosts of this group, in nanoseconds.
    pub new_ns: f64,
    /// Number of hosts in the first group.
    pub baseline_hosts: usize,
    /// Number of hosts in this group.
    pub new_hosts: usize,
    /// Number of hosts that are in both groups, if each was compared with itself.
    pub paired_hosts: Option<usize>,
    /// Number of runs in the first group and in this one, if all are of one host and the run is the unit.
    pub runs: Option<[usize; 2]>,
    /// P-value corrected for all benchmarks; `None` if hosts are the unit.
    pub p_adjusted: Option<f64>,
    /// Reason for an inconclusive verdict; `None` for any other verdict.
    #[serde(rename = "reason_data")]
    pub reason: Option<FleetInconclusive>,
}

/// Reason for an inconclusive verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FleetInconclusive {
    /// There are too few hosts for an interval after the correction for the number of benchmarks.
    TooFewHosts {
        /// Required number of hosts in both groups.
        needed: usize,
    },
    /// There are too few runs of one host for an interval or, after the correction, for a verdict.
    TooFewRuns {
        /// Required number of runs in both groups.
        needed: usize,
    },
    /// The machine was unreliable during more than half of the runs of only one group, so the load may be the difference.
    Unreliable {
        /// Numbers of unreliable runs in the first group and in this group.
        runs: [usize; 2],
    },
    /// The interval contains a limit of the margin.
    Wide,
}

/// Returns the groups, that of the oldest run first, and the changes of all groups except the first.
pub(super) fn compare_groups(
    runs: &[FleetRun],
    by: FleetBy,
    margin: f64,
) -> (Vec<FleetGroup>, Vec<FleetChange>) {
    // The runs are in the order in which they were measured.
    let mut members: Vec<(Option<&str>, Vec<&FleetRun>)> = Vec::new();
    for run in runs {
        let name = match by {
            FleetBy::Kernel => Some(run.kernel.as_str()),
            FleetBy::Host | FleetBy::Label | FleetBy::Pairs => run.label.as_deref(),
        };
        match members.iter_mut().find(|(other, _)| *other == name) {
            Some((_, members)) => members.push(run),
            None => members.push((name, vec![run])),
        }
    }
    let fleets: Vec<_> =
        members.iter().map(|(name, runs)| (*name, Fleet::of(runs.iter().copied()))).collect();
    let group = |((name, fleet), (_, runs)): (&(Option<&str>, Fleet), &(_, Vec<&FleetRun>))| FleetGroup {
        name: name.map(str::to_owned),
        runs: runs.len(),
        hosts: fleet.hosts.len(),
        unreliable: runs_at_level(runs, Level::Unreliable),
        noisy: runs_at_level(runs, Level::Noisy),
    };
    let groups = fleets.iter().zip(&members).map(group).collect();
    if let [first, rest @ ..] = runs
        && rest.iter().all(|run| run.host == first.host)
    {
        return (groups, host_changes(&members, margin));
    }
    let Some(((_, baseline), others)) = fleets.split_first() else { return (groups, Vec::new()) };
    let pairs: Vec<Pair> =
        others.iter().flat_map(|(name, fleet)| Pair::all(*name, baseline, fleet)).collect();
    let asked = VerdictParameters { margin, tested: pairs.len() };
    let mut changes: Vec<(usize, FleetChange)> = pairs
        .iter()
        .filter_map(|pair| {
            Some((others.iter().position(|(name, ..)| *name == pair.group)?, asked.judge(pair)?))
        })
        .collect();
    in_order(&mut changes);
    (groups, changes.into_iter().map(|(_, change)| change).collect())
}

fn runs_at_level(runs: &[&FleetRun], level: Level) -> usize {
    runs.iter().filter(|run| run.level == level).count()
}

/// Sorts by group, with the worse benchmarks first.
fn in_order(changes: &mut [(usize, FleetChange)]) {
    sort_by(changes, |(at, a), (other, b)| {
        at.cmp(other)
            .then(a.verdict.cmp(&b.verdict))
            .then(b.ratio.total_cmp(&a.ratio))
            .then(a.case.cmp(&b.case))
    });
}

/// Compares each group of runs of one host with the first group. Each run has one value.
fn host_changes(members: &[(Option<&str>, Vec<&FleetRun>)], margin: f64) -> Vec<FleetChange> {
    let Some(((_, baseline), others)) = members.split_first() else { return Vec::new() };
    let values = |runs: &[&FleetRun], case: &Case| -> Vec<f64> {
        let of_run =
            |run: &&FleetRun| run.rows.iter().find(|(other, ..)| other == case).map(|(_, _, ns)| ns.ln());
        runs.iter().filter_map(of_run).collect()
    };
    let rows = baseline.iter().flat_map(|run| &run.rows);
    let rows: SortedMap<&Case, Unit> = rows.map(|(case, unit, _)| (case, *unit)).collect();
    let mut changes: Vec<(usize, FleetChange)> = Vec::new();
    for (at, (group, runs)) in others.iter().enumerate() {
        for (case, unit) in rows.iter() {
            let (then, now) = (values(baseline, case), values(runs, case));
            let (Some(before), Some(after)) = (median(&then), median(&now)) else { continue };
            let longer = after - before;
            // The ratio of the medians may be outside the interval if the groups differ by more than a factor.
            let interval = shift_interval(&then, &now).map(|[low, high]| [low.min(longer), high.max(longer)]);
            let change = FleetChange {
                group: group.map(str::to_owned),
                case: (*case).clone(),
                unit: *unit,
                verdict: Change::Inconclusive,
                ratio: tidy(longer.exp()),
                interval: interval.map(|ends| outwards(ends.map(f64::exp))),
                baseline_ns: tidy(before.exp()),
                new_ns: tidy(after.exp()),
                baseline_hosts: 1,
                new_hosts: 1,
                paired_hosts: None,
                runs: Some([then.len(), now.len()]),
                p_adjusted: rank_sum_chance(&then, &now).filter(|_| interval.is_some()),
                reason: None,
            };
            changes.push((at, change));
        }
    }
    let unreliable = |runs: &[&FleetRun]| runs_at_level(runs, Level::Unreliable);
    let differ = |runs: &[&FleetRun]| {
        let sides = [baseline.as_slice(), runs];
        let [then, now] = sides.map(|side| 2 * unreliable(side) > side.len());
        (then != now).then(|| FleetInconclusive::Unreliable { runs: sides.map(unreliable) })
    };
    let chances: Vec<f64> = changes.iter().filter_map(|(_, change)| change.p_adjusted).collect();
    let tested = changes.iter_mut().filter(|(_, change)| change.p_adjusted.is_some());
    tested.zip(holm(&chances)).for_each(|((_, change), raised)| change.p_adjusted = Some(tidy(raised)));
    let needed = runs_needed(changes.len());
    for (at, change) in &mut changes {
        match differ(&others[*at].1).map_or_else(|| verdict_of_runs(change, margin, needed), Err) {
            Ok(verdict) => change.verdict = verdict,
            Err(reason) => change.reason = Some(reason),
        }
    }
    in_order(&mut changes);
    changes.into_iter().map(|(_, change)| change).collect()
}

/// Returns the number of runs in each group with which the rank-sum test can find a difference in one of `rows` benchmarks.
fn runs_needed(rows: usize) -> usize {
    // The smallest p-value with n and n runs is 2 divided by the number of ways to choose n of 2 n.
    let smallest = |runs: usize| (1..=runs).fold(2.0, |chance, at| chance * at as f64 / (runs + at) as f64);
    (4..100).find(|runs| smallest(*runs) * rows.max(1) as f64 <= ALPHA).unwrap_or(100)
}

fn verdict_of_runs(change: &FleetChange, margin: f64, needed: usize) -> Result<Change, FleetInconclusive> {
    let few = FleetInconclusive::TooFewRuns { needed };
    let differs = change.p_adjusted.is_some_and(|p| p < ALPHA);
    match by_margin(change.interval.ok_or(few)?, margin) {
        Change::Inconclusive => Err(FleetInconclusive::Wide),
        Change::Worse | Change::Better if !differs => Err(few),
        change => Ok(change),
    }
}

/// Benchmark of two groups, with the logarithms of its times by host.
struct Pair<'a> {
    group: Option<&'a str>,
    case: &'a Case,
    unit: Unit,
    then: SortedMap<&'a str, f64>,
    now: SortedMap<&'a str, f64>,
}

impl<'a> Pair<'a> {
    /// Returns the benchmarks that both groups have.
    fn all(group: Option<&'a str>, baseline: &Fleet<'a>, new: &Fleet<'a>) -> Vec<Self> {
        let times = |fleet: &Fleet<'a>, number: usize| {
            fleet.row(number).map(|(host, ns)| (fleet.hosts[host].name, ns.ln())).collect()
        };
        let both = baseline.cases.iter().enumerate().filter_map(|(then, (case, unit))| {
            let now = new.cases.binary_search_by(|(other, _)| (*other).cmp(*case)).ok()?;
            Some(Pair { group, case, unit: *unit, then: times(baseline, then), now: times(new, now) })
        });
        both.collect()
    }
}

/// Parameters of the verdicts.
struct VerdictParameters {
    margin: f64,
    tested: usize,
}

impl VerdictParameters {
    fn confidence(&self) -> f64 {
        1.0 - ALPHA / self.tested.max(1) as f64
    }

    /// Returns the number of hosts whose range covers the median at this confidence level.
    fn needed(&self) -> usize {
        (1.0 - (1.0 - self.confidence()).log2()).ceil().max(3.0) as usize
    }

    fn interval(&self, values: &[f64]) -> Option<[f64; 2]> {
        median_interval_with(values, self.confidence()).filter(|_| values.len() >= self.needed())
    }

    fn judge(&self, pair: &Pair) -> Option<FleetChange> {
        let [then, now] =
            [&pair.then, &pair.now].map(|side| side.iter().map(|(_, ns)| *ns).collect::<Vec<f64>>());
        let (before, after) = (median(&then)?, median(&now)?);
        let longer: Vec<f64> =
            pair.now.iter().filter_map(|(host, now)| Some(now - pair.then.get(host)?)).collect();
        let is_paired = longer.len() >= self.needed();
        let middle = if is_paired { median(&longer)? } else { after - before };
        let interval = if is_paired {
            self.interval(&longer)
        } else {
            let ends = self.interval(&then).zip(self.interval(&now));
            ends.map(|(then, now)| [now[0] - then[1], now[1] - then[0]])
        };
        let interval = interval.map(|ends| outwards(ends.map(f64::exp)));
        let verdict = self.verdict(interval);
        Some(FleetChange {
            group: pair.group.map(str::to_owned),
            case: pair.case.clone(),
            unit: pair.unit,
            verdict: verdict.unwrap_or(Change::Inconclusive),
            ratio: tidy(middle.exp()),
            interval,
            baseline_ns: tidy(before.exp()),
            new_ns: tidy(after.exp()),
            baseline_hosts: then.len(),
            new_hosts: now.len(),
            paired_hosts: is_paired.then_some(longer.len()),
            runs: None,
            p_adjusted: None,
            reason: verdict.err(),
        })
    }

    fn verdict(&self, interval: Option<[f64; 2]>) -> Result<Change, FleetInconclusive> {
        let interval = interval.ok_or(FleetInconclusive::TooFewHosts { needed: self.needed() })?;
        match by_margin(interval, self.margin) {
            Change::Inconclusive => Err(FleetInconclusive::Wide),
            change => Ok(change),
        }
    }
}
