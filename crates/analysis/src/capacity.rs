//! The highest rate at which a benchmark keeps an objective, from trials at several rates.

use crate::Run;
use crate::exchange::per_second;
use crate::trials::{MeasuredTrial, Trials};
use furlong_model::{Arrival, Case, Slo};
use furlong_stats::{Mixture, Threshold, median, sort_by, tidy};
use serde::Serialize;

/// Lowest rate that is considered, per second, unless a percentile needs more messages.
const LOWEST: f64 = 10.0;

/// Ratio of the ends of an interval from which on its trials do not determine a rate.
const VAGUE: f64 = 4.0;

/// Highest rate that is considered, as a multiple of the rate without a pace.
const HIGHEST: f64 = 1.5;

/// Two rates that differ by less are one, so that their trials are of one case.
const STEP: f64 = 1.01;

/// Ratio of the rates that are tried first, from the closed loop down, until the objective is kept at one.
const RUNG: f64 = 2.0;

/// Minimum share of the requested rate that a trial must carry.
const CARRIES: f64 = 0.95;

/// The highest rate at which a benchmark keeps an objective.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Capacity {
    /// Parameters of the benchmark, in a closed loop.
    #[serde(flatten)]
    pub case: Case,
    /// The objective.
    pub objective: Slo,
    /// The pace of one of its trials, which shows the distribution of due times.
    pub offered: Arrival,
    /// Whether its interval overlaps with that of the highest rate.
    pub is_tied_with_first: bool,
    /// Messages per second; the median of the estimate.
    pub per_second: f64,
    /// 95 % credible interval of the rate.
    pub interval: [f64; 2],
    /// End of the range of rates that the interval includes, if the objective was kept at all rates, or at none.
    pub edge: Option<Edge>,
    /// Messages per second in a closed loop.
    pub closed_loop_per_second: f64,
    /// Rates at which trials were measured.
    pub points: Vec<CapacityPoint>,
}

/// The part of a highest rate that its trials determine, per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct HighestRate {
    /// Estimate; `None` if an end is missing, or if the ends are far apart.
    pub per_second: Option<f64>,
    /// Lower end of the 95 % interval; `None` if the objective was kept at no rate.
    pub low: Option<f64>,
    /// Upper end; `None` if the objective was kept at all rates.
    pub high: Option<f64>,
}

/// An end of the range of rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edge {
    /// The objective was kept in no trial, or in none at the lowest rates.
    Lowest,
    /// The objective was kept in all trials, or in all at the highest rates.
    Highest,
}

/// Trials at one rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapacityPoint {
    /// Requested messages per second.
    pub asked_per_second: f64,
    /// Median of the trials' percentiles, in nanoseconds.
    pub percentile_ns: f64,
    /// Number of trials.
    pub trials: usize,
    /// Number of trials that kept the objective.
    pub kept: usize,
}

/// A search for the highest rate of a benchmark.
pub struct CapacitySearch {
    case: Case,
    slo: Slo,
    range: [f64; 2],
    threshold: Threshold,
    closed_loop_per_second: f64,
    offered: Arrival,
    points: Vec<CapacityPoint>,
}

impl CapacitySearch {
    /// Returns the searches of a run: one for each benchmark that was measured in a closed loop.
    pub(crate) fn all(trials: &Trials, slo: Slo) -> Vec<CapacitySearch> {
        trials.by_case().filter_map(|(case, _)| CapacitySearch::of(case, trials, slo)).collect()
    }

    pub(crate) fn of(case: &Case, trials: &Trials, slo: Slo) -> Option<CapacitySearch> {
        if !case.arrival.is_closed_loop() {
            return None;
        }
        let timed = trials.measured(case).filter(|trial| is_timed(trial)).map(|trial| trial.record);
        let closed_loop_per_second = per_second(timed)?;
        // In a second, the longest trial, one message must be beyond the percentile.
        let lowest = LOWEST.max(1.0 / (1.0 - slo.quantile));
        let range = [lowest, (closed_loop_per_second * HIGHEST).max(2.0 * lowest)];
        let mut search = CapacitySearch {
            case: case.clone(),
            slo,
            range,
            threshold: Threshold::new(range[0], range[1]),
            closed_loop_per_second,
            offered: Arrival::ClosedLoop,
            points: Vec::new(),
        };
        for (other, _) in trials.by_case() {
            if let Some(interval_ns) = other.arrival.interval_ns()
                && (Case { arrival: Arrival::ClosedLoop, ..other.clone() }) == *case
            {
                search.add(1e9 / interval_ns as f64, other.arrival, trials.measured(other));
            }
        }
        Some(search.estimated())
    }

    /// Estimates the highest rate from the trials at all points.
    fn estimated(mut self) -> CapacitySearch {
        sort_by(&mut self.points, |a, b| a.asked_per_second.total_cmp(&b.asked_per_second));
        for &CapacityPoint { asked_per_second, trials, kept, .. } in &self.points {
            (0..trials).for_each(|trial| self.threshold.add(asked_per_second, trial < kept));
        }
        self
    }

    fn add<'a>(
        &mut self,
        asked_per_second: f64,
        arrival: Arrival,
        trials: impl Iterator<Item = &'a MeasuredTrial<'a>>,
    ) {
        self.offered = self.offered.max(arrival);
        let (mut percentiles, mut kept) = (Vec::new(), 0);
        for trial in trials.filter(|trial| is_timed(trial)) {
            let Some(times) =
                trial.times.as_ref().ok().and_then(|times| Mixture::of(std::slice::from_ref(times)))
            else {
                continue;
            };
            let Some(carried) = per_second([trial.record].into_iter()) else { continue };
            let percentile_ns = times.quantile_ns(self.slo.quantile);
            let sampled = 1.0 - arrival.mean_error(trial.record.round_trips as f64);
            let is_kept =
                percentile_ns < self.slo.limit_ns as f64 && carried >= CARRIES * sampled * asked_per_second;
            kept += usize::from(is_kept);
            percentiles.push(percentile_ns);
        }
        if let Some(percentile_ns) = median(&percentiles) {
            self.points.push(CapacityPoint {
                asked_per_second: tidy(asked_per_second),
                percentile_ns: tidy(percentile_ns),
                trials: percentiles.len(),
                kept,
            });
        }
    }

    /// Returns the benchmark, in a closed loop.
    pub fn case(&self) -> &Case {
        &self.case
    }

    /// Returns the rate of the next trial per second. Rates are the powers of one factor.
    ///
    /// The first ones go down from the closed loop until the objective is kept. A search from the middle would take delays at low
    /// rates, between whose messages CPUs sleep, for a limit.
    pub fn next_per_second(&self) -> f64 {
        let is_kept = self.points.iter().any(|point| 2 * point.kept > point.trials);
        let lowest =
            self.points.first().map_or(RUNG * self.closed_loop_per_second, |point| point.asked_per_second);
        let rung = lowest / RUNG;
        let next = if !is_kept && rung > self.range[0] { rung } else { self.threshold.next() };
        STEP.powf((next.ln() / STEP.ln()).round())
    }

    /// Returns the ratio of the ends of the interval.
    pub fn spread(&self) -> f64 {
        let (_, [low, high]) = self.threshold.estimate();
        high / low
    }

    pub(crate) fn result(self) -> Capacity {
        let (per_second, interval) = self.threshold.estimate();
        let kept: usize = self.points.iter().map(|point| point.kept).sum();
        let trials: usize = self.points.iter().map(|point| point.trials).sum();
        let edge = if kept == 0 || interval[0] <= self.range[0] * STEP {
            Some(Edge::Lowest)
        } else if kept == trials || interval[1] >= self.range[1] / STEP {
            Some(Edge::Highest)
        } else {
            None
        };
        Capacity {
            case: self.case,
            objective: self.slo,
            offered: self.offered,
            is_tied_with_first: false,
            per_second: tidy(per_second),
            interval: interval.map(tidy),
            edge,
            closed_loop_per_second: tidy(self.closed_loop_per_second),
            points: self.points,
        }
    }
}

/// Returns the searches of a run that finds the highest rates; empty for any other run.
pub fn capacity_searches(run: &Run) -> Vec<CapacitySearch> {
    run.header.find_rate.map_or_else(Vec::new, |slo| CapacitySearch::all(&Trials::decode(&run.trials), slo))
}

/// Returns the search for the highest rate of one benchmark; `None` unless it was measured in a closed loop.
pub fn capacity_search(run: &Run, case: &Case, slo: Slo) -> Option<CapacitySearch> {
    CapacitySearch::of(case, &Trials::decode(&run.trials), slo)
}

/// Returns whether a trial has a rate. A damaged record may have none.
fn is_timed(trial: &MeasuredTrial<'_>) -> bool {
    trial.record.elapsed_ns > 0 && trial.record.round_trips > 0
}

impl Capacity {
    /// Returns the part of the rate that its trials determine.
    pub fn highest_rate(&self) -> HighestRate {
        let [low, high] = self.interval;
        match self.edge {
            _ if self.points.is_empty() => HighestRate::default(),
            Some(Edge::Lowest) => HighestRate { high: Some(high), ..HighestRate::default() },
            Some(Edge::Highest) => HighestRate { low: Some(low), ..HighestRate::default() },
            None => HighestRate {
                per_second: (high <= VAGUE * low).then_some(self.per_second),
                low: Some(low),
                high: Some(high),
            },
        }
    }

    /// Returns whether the objective failed only because messages were not carried at the requested rate.
    pub fn is_limited_by_rate(&self) -> bool {
        let is_missed = |point: &CapacityPoint| point.kept < point.trials;
        let is_below = |point: &CapacityPoint| point.percentile_ns < self.objective.limit_ns as f64;
        self.points.iter().any(is_missed) && self.points.iter().all(is_below)
    }

    /// Returns the capacities of a run, the highest first; empty if no objective was requested.
    pub(crate) fn all(run: &Run, trials: &Trials) -> Vec<Capacity> {
        let is_valid = |slo: &Slo| (0.5..1.0).contains(&slo.quantile) && slo.limit_ns > 0;
        let Some(slo) = run.header.find_rate.filter(is_valid) else { return Vec::new() };
        let mut all: Vec<_> =
            CapacitySearch::all(trials, slo).into_iter().map(CapacitySearch::result).collect();
        sort_by(&mut all, |a, b| b.per_second.total_cmp(&a.per_second));
        let first = all.first().map_or(0.0, |first| first.interval[0]);
        for capacity in &mut all {
            capacity.is_tied_with_first = capacity.interval[1] >= first;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::{Placement, Wait};

    /// Searches with simulated trials, each at one rate, which keeps the objective inside of `kept`.
    fn found(kept: [f64; 2], trials: usize) -> Capacity {
        let closed_loop_per_second = 400_000.0;
        let range = [100.0, closed_loop_per_second * HIGHEST];
        let mut points: Vec<CapacityPoint> = Vec::new();
        let search = |points: &[CapacityPoint]| {
            let search = CapacitySearch {
                case: Case::round_trip("pipe", Wait::Block, 64, Placement::SameCore),
                slo: Slo { quantile: 0.99, limit_ns: 200_000 },
                range,
                threshold: Threshold::new(range[0], range[1]),
                closed_loop_per_second,
                offered: Arrival::Poisson(1),
                points: points.to_vec(),
            };
            search.estimated()
        };
        for _ in 0..trials {
            let asked_per_second = search(&points).next_per_second();
            let is_kept = (kept[0]..kept[1]).contains(&asked_per_second);
            match points.iter_mut().find(|point| point.asked_per_second == asked_per_second) {
                Some(point) => {
                    (point.trials, point.kept) = (point.trials + 1, point.kept + usize::from(is_kept))
                }
                None => points.push(CapacityPoint {
                    asked_per_second,
                    percentile_ns: 1e5,
                    trials: 1,
                    kept: usize::from(is_kept),
                }),
            }
        }
        search(&points).result()
    }

    #[test]
    fn delays_at_low_rates_do_not_limit_the_highest_rate() {
        let capacity = found([60_000.0, 190_000.0], 30);
        let rate = capacity.highest_rate().per_second.expect("a rate");
        assert!((rate / 190e3 - 1.0).abs() < 2.0 * (STEP - 1.0), "{capacity:#?}");
    }

    #[test]
    fn the_ends_of_the_range_are_found() {
        for (kept, edge) in [([0.0, 50.0], Edge::Lowest), ([0.0, 1e9], Edge::Highest)] {
            assert_eq!(found(kept, 40).edge, Some(edge), "{kept:?}");
        }
        let everywhere = found([0.0, 1234.0], 40);
        assert!(everywhere.interval[0] < 1234.0 && 1234.0 < everywhere.interval[1], "{everywhere:#?}");
    }
}
