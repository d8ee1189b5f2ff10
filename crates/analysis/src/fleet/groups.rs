//! Groups of runs beside each other: each against that of the oldest run, row by row.
//!
//! Hosts that are in both groups are compared with themselves, which takes out what hosts differ in; else the medians over the
//! hosts of the groups are compared. Intervals are corrected for all rows of all groups (Bonferroni), and a row is better or
//! worse only if all of the ratio's interval is beyond the margin: of medians over hosts, if their intervals are so far apart.
//!
//! If all runs are of one host, the run is the unit: one value of each run, by the rank-sum test and its interval, as two runs
//! are compared by their trials. Differences between runs of one side (load, heat, cores) are then in the interval.

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

/// The chance that a row of equal groups reads better or worse.
const ALPHA: f64 = 0.05;

/// Runs that were put together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FleetGroup {
    /// The kernel or the label; `None` for runs without a label.
    pub name: Option<String>,
    /// How many runs.
    pub runs: usize,
    /// Of how many hosts.
    pub hosts: usize,
    /// Runs on an unreliable machine.
    pub unreliable: usize,
    /// Runs on a noisy machine.
    pub noisy: usize,
}

/// What became of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetChange {
    /// The group that is compared with the first.
    pub group: Option<String>,
    /// What was measured.
    #[serde(flatten)]
    pub case: Case,
    /// What one exchange is.
    pub unit: Unit,
    /// What became of it.
    pub verdict: Change,
    /// How many times as long as in the first group it takes.
    pub ratio: f64,
    /// The interval of that ratio, in which all rows are with 95 %; `None` where there are too few hosts for one.
    pub interval: Option<[f64; 2]>,
    /// The median over the hosts of the first group, in nanoseconds.
    pub baseline_ns: f64,
    /// The median over the hosts of this one.
    pub new_ns: f64,
    /// Hosts of the first group.
    pub baseline_hosts: usize,
    /// Hosts of this one.
    pub new_hosts: usize,
    /// Hosts that are in both, where each was compared with itself.
    pub paired_hosts: Option<usize>,
    /// Runs of the first group and of this one, if all are of one host and the run is the unit.
    pub runs: Option<[usize; 2]>,
    /// How often chance alone parts such runs as far, corrected for all rows; `None` if hosts are the unit.
    pub p_adjusted: Option<f64>,
    /// Why it is inconclusive; `None` for any other verdict.
    #[serde(rename = "reason_data")]
    pub reason: Option<FleetInconclusive>,
}

/// Why of a row it cannot be said what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FleetInconclusive {
    /// Too few hosts for an interval that holds for so many rows.
    TooFewHosts {
        /// So many are needed, in both groups.
        needed: usize,
    },
    /// Too few runs of one host for an interval, or for a verdict on one of that many rows.
    TooFewRuns {
        /// Number that is needed in both groups.
        needed: usize,
    },
    /// The machine was unreliable during more than half of the runs of one group and not of the other, so the load may be the
    /// difference.
    Unreliable {
        /// Numbers of unreliable runs of the first group and of this group.
        runs: [usize; 2],
    },
    /// The interval reaches beyond the margin, or only just into it.
    Wide,
}

/// The groups, that of the oldest run first, and the rows of each but the first.
pub(super) fn compare_groups(
    runs: &[FleetRun],
    by: FleetBy,
    margin: f64,
) -> (Vec<FleetGroup>, Vec<FleetChange>) {
    // Runs come in the order in which they were measured.
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
        unreliable: of_level(runs, Level::Unreliable),
        noisy: of_level(runs, Level::Noisy),
    };
    let groups = fleets.iter().zip(&members).map(group).collect();
    if let [first, rest @ ..] = runs
        && rest.iter().all(|run| run.host == first.host)
    {
        return (groups, of_one_host(&members, margin));
    }
    let Some(((_, baseline), others)) = fleets.split_first() else { return (groups, Vec::new()) };
    let pairs: Vec<Pair> =
        others.iter().flat_map(|(name, fleet)| Pair::all(*name, baseline, fleet)).collect();
    let asked = Asked { margin, tested: pairs.len() };
    let mut changes: Vec<(usize, FleetChange)> = pairs
        .iter()
        .filter_map(|pair| {
            Some((others.iter().position(|(name, ..)| *name == pair.group)?, asked.judge(pair)?))
        })
        .collect();
    in_order(&mut changes);
    (groups, changes.into_iter().map(|(_, change)| change).collect())
}

fn of_level(runs: &[&FleetRun], level: Level) -> usize {
    runs.iter().filter(|run| run.level == level).count()
}

/// Sorts by group, the worse rows first.
fn in_order(changes: &mut [(usize, FleetChange)]) {
    sort_by(changes, |(at, a), (other, b)| {
        at.cmp(other)
            .then(a.verdict.cmp(&b.verdict))
            .then(b.ratio.total_cmp(&a.ratio))
            .then(a.case.cmp(&b.case))
    });
}

/// The rows of each group of runs of one host against the first group: one value of each run.
fn of_one_host(members: &[(Option<&str>, Vec<&FleetRun>)], margin: f64) -> Vec<FleetChange> {
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
            // The ratio of the medians may lie outside if the groups differ in more than a factor.
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
    let unreliable = |runs: &[&FleetRun]| of_level(runs, Level::Unreliable);
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

/// Returns the number of runs in each group with which the rank-sum test can find a difference in one of that many rows.
fn runs_needed(rows: usize) -> usize {
    // The smallest chance with n and n runs is 2 in as many ways as n of 2 n can be chosen.
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

/// A row of two groups: the logarithms of its times by host.
struct Pair<'a> {
    group: Option<&'a str>,
    case: &'a Case,
    unit: Unit,
    then: SortedMap<&'a str, f64>,
    now: SortedMap<&'a str, f64>,
}

impl<'a> Pair<'a> {
    /// Of the rows that both have.
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

/// What verdicts rest on.
struct Asked {
    margin: f64,
    tested: usize,
}

impl Asked {
    fn confidence(&self) -> f64 {
        1.0 - ALPHA / self.tested.max(1) as f64
    }

    /// Hosts of which the whole range covers the median so surely.
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
