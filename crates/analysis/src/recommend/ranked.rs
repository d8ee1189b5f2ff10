//! Benchmark as a candidate for a workload.

use super::compared::ObjectiveFigure;
use super::integration_costs::effort;
use crate::{DecodedRun, FEWEST_BEYOND, Ratio, Row, ranking};
use furlong_model::{Case, IntegrationCost, Objective, Shortlist, Slo, Wait, Workload, row_name};
use furlong_stats::{sort_by, tidy};
use serde::Serialize;

/// Benchmark with its figures under the workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankedBenchmark {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Wait strategy of the receiver.
    pub wait: Wait,
    /// Median time of a message or a round trip, in nanoseconds.
    pub p50_ns: f64,
    /// Number of trials.
    pub trials: usize,
    /// 95 % confidence interval of the median.
    pub p50_ci95: Option<[f64; 2]>,
    /// 99th percentile in nanoseconds; `None` with too few samples.
    pub p99_ns: Option<f64>,
    /// Number of messages or round trips.
    pub messages: u64,
    /// Measured messages or round trips per second.
    pub per_second: f64,
    /// Bytes per second, if messages go one way or are answers.
    pub bytes_per_second: Option<f64>,
    /// CPU time of both processes, in nanoseconds per message or round trip.
    pub cpu_ns: f64,
    /// CPU usage of all processes at the workload's rate: 2 is two fully used CPUs.
    pub cpu_share: f64,
    /// Objective figure that determines the order, in nanoseconds. Smaller is better. It is the median time, compared as in
    /// any ranking, or the CPU time.
    pub figure: f64,
    /// Comparison interval of the figure, from the rounds in which all benchmarks ran. `None` for fewer than three trials.
    pub figure_ci95: Option<[f64; 2]>,
    /// Ratio of the figure to that of the first benchmark. For an alternative, it is the ratio to the choice.
    pub times: f64,
    /// Smallest and largest ratio that both intervals allow.
    pub times_interval: Option<[f64; 2]>,
    /// Verdict on the SLO.
    pub slo: Option<SloVerdict>,
    /// Integration effort: the sum of the weights.
    pub effort: u32,
    /// Integration tasks.
    pub integration_costs: Vec<IntegrationCost>,
    /// Aspects that the figures omit.
    pub caveats: Vec<String>,
}

/// Verdict on a service level objective.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SloVerdict {
    /// Whether the percentile is below the limit; `None` with too few samples.
    pub holds: Option<bool>,
    /// Percentile of the verdict: that of the objective, or a lower one that exceeds the limit if there are too few
    /// samples.
    pub quantile: f64,
    /// Measured percentile in nanoseconds; `None` if `holds` is `None`.
    pub measured_ns: Option<f64>,
    /// Limit in nanoseconds.
    pub limit_ns: f64,
    /// Whether fewer than [`SloVerdict::needed`] messages were measured.
    pub few: bool,
}

impl SloVerdict {
    /// Returns the fewest messages with which a percentile is judged: ten beyond it.
    pub fn needed(quantile: f64) -> u64 {
        (FEWEST_BEYOND as f64 / (1.0 - quantile) - 1e-6).ceil() as u64
    }
}

impl RankedBenchmark {
    /// Ranks a benchmark of `run`, which excludes the early look; `None` if it is not a candidate.
    pub(super) fn of(
        shortlist: &Shortlist,
        run: &DecodedRun,
        row: &Row,
        ObjectiveFigure { figure, interval }: ObjectiveFigure,
    ) -> Option<RankedBenchmark> {
        let workload = &shortlist.workload;
        let candidate = shortlist.candidate(&row.case.mechanism, row.case.wait)?;
        let trials = || run.measured(&row.case);
        // With several receivers, each receives every message.
        let links = row.case.links().get();
        let messages =
            trials().map(|trial| trial.round_trips).fold(0, u64::saturating_add) / u64::from(links);
        let carried = row.exchange.per_second;
        let asked = workload.per_second().map_or(carried, |rate| rate * f64::from(links));
        Some(RankedBenchmark {
            mechanism: row.case.mechanism.clone(),
            wait: row.case.wait,
            p50_ns: row.exchange.deciding().ns,
            trials: row.trials,
            p50_ci95: row.exchange.deciding().ci95,
            p99_ns: row.exchange.ns.tail()[0],
            messages,
            per_second: carried,
            bytes_per_second: row.exchange.bytes_per_second,
            cpu_ns: row.cpu_ns(),
            cpu_share: tidy(row.cpu_ns() * asked.min(carried) / 1e9),
            figure,
            figure_ci95: interval,
            times: 1.0,
            times_interval: None,
            slo: slo(workload, row, messages),
            effort: effort(&candidate.integration_costs),
            integration_costs: candidate.integration_costs.clone(),
            caveats: candidate.caveats.clone(),
        })
    }

    /// Returns the name of the benchmark: `mechanism/wait`.
    pub fn name(&self) -> String {
        row_name(&self.mechanism, self.wait)
    }

    /// Whether the mechanism and the wait strategy are those of `row`.
    pub(super) fn is(&self, row: &Row) -> bool {
        self.is_of(&row.case)
    }

    /// Whether the mechanism and the wait strategy are those of `case`.
    pub(super) fn is_of(&self, case: &Case) -> bool {
        (&self.mechanism, self.wait) == (&case.mechanism, case.wait)
    }

    /// Whether it uses CPU time for most of the time although an exchange needs little of it, as with a kernel thread that
    /// polls.
    pub(super) fn keeps_cpus_busy(&self, workload: &Workload) -> bool {
        /// Minimum ratio of the CPU time of an exchange to its duration that several processes and their wake-ups do not
        /// explain.
        const FAR_MORE: f64 = 8.0;
        let is_busy = |interval_ns: u64| self.cpu_ns > interval_ns as f64 / 2.0;
        workload.interval_ns.is_some_and(is_busy) && self.cpu_ns > FAR_MORE * self.p50_ns
    }

    /// Whether the workload allows its wait strategy, and it keeps no CPU busy without permission.
    pub(super) fn may_be_chosen(&self, workload: &Workload) -> bool {
        workload.admits(self.wait) && (workload.spin || !self.keeps_cpus_busy(workload))
    }

    /// Whether the SLO is met or unknown.
    ///
    /// Too few samples do not exclude a benchmark, because their percentile may be anything.
    pub fn meets(&self) -> bool {
        self.slo.is_none_or(|slo| slo.holds != Some(false))
    }

    /// Whether it is unknown if the SLO holds.
    pub fn may_miss(&self) -> bool {
        self.slo.is_some_and(|slo| slo.holds.is_none())
    }

    /// Returns the benchmark with its `times` relative to another one.
    pub(super) fn compared_with(self, other: &RankedBenchmark) -> RankedBenchmark {
        let Ratio { times, interval } = self.ratio_to(other);
        RankedBenchmark { times, times_interval: interval, ..self }
    }

    /// Whether the interval of the ratio of both figures contains 1.
    pub fn ties_with(&self, other: &RankedBenchmark) -> bool {
        self.ratio_to(other).is_tie()
    }

    /// Whether the interval of the ratio is known and does not contain 1.
    pub fn differs_from(&self, other: &RankedBenchmark) -> bool {
        let ratio = self.ratio_to(other);
        ratio.interval.is_some() && !ratio.is_tie()
    }

    fn ratio_to(&self, other: &RankedBenchmark) -> Ratio {
        let compared =
            |row: &RankedBenchmark| ObjectiveFigure { figure: row.figure, interval: row.figure_ci95 };
        compared(self).ratio_to(&compared(other))
    }
}

fn slo(workload: &Workload, row: &Row, messages: u64) -> Option<SloVerdict> {
    let Slo { quantile, limit_ns } = workload.slo?;
    let limit_ns = limit_ns as f64;
    let measured = |quantile: f64| Some((quantile, row.exchange.ns.percentile(quantile)?));
    let lower = [0.5, 0.9, 0.99].into_iter().filter(|lower| *lower < quantile);
    // Percentiles increase, so a lower percentile beyond the limit decides too.
    let exceeds = |of: &(f64, f64)| of.1 >= limit_ns;
    let few = messages < SloVerdict::needed(quantile);
    let decided = match few {
        true => lower.filter_map(measured).find(exceeds),
        false => measured(quantile),
    };
    Some(SloVerdict {
        holds: decided.map(|(_, ns)| ns < limit_ns),
        quantile: decided.map_or(quantile, |(quantile, _)| quantile),
        measured_ns: decided.map(|(_, ns)| ns),
        limit_ns,
        few,
    })
}

/// Ranks the candidates of a run, the best first.
pub(super) fn all(shortlist: &Shortlist, run: &DecodedRun) -> Vec<RankedBenchmark> {
    let objective = shortlist.workload.objective;
    let rows = run.summary.rows.iter().zip(ObjectiveFigure::all(run, objective));
    let ranked = rows.filter_map(|(row, compared)| RankedBenchmark::of(shortlist, run, row, compared));
    let mut ranked: Vec<RankedBenchmark> = ranked.collect();
    sort(&mut ranked, objective);
    ranked
}

/// Sorts the best first. Benchmarks that meet the SLO precede the others.
fn sort(rows: &mut [RankedBenchmark], objective: Objective) {
    let effort = |row: &RankedBenchmark| if objective == Objective::Simplicity { row.effort } else { 0 };
    sort_by(rows, |a, b| {
        b.meets().cmp(&a.meets()).then(effort(a).cmp(&effort(b))).then(a.figure.total_cmp(&b.figure))
    });
}

/// Returns the places of sorted benchmarks, from 1. In a place, no two benchmarks are significantly different, and all meet
/// the SLO or all miss it. If the objective is the least work, all have the same effort.
pub fn places(sorted: &[RankedBenchmark], objective: Objective) -> Vec<usize> {
    let share_place = |row: &RankedBenchmark, other: &RankedBenchmark| {
        let is_as_simple = objective != Objective::Simplicity || row.effort == other.effort;
        is_as_simple && !row.differs_from(other) && row.meets() == other.meets()
    };
    let ties = |row: &RankedBenchmark| sorted.iter().map(|other| share_place(row, other)).collect();
    ranking::places(&sorted.iter().map(ties).collect::<Vec<_>>())
}

/// Returns the benchmark with the least integration effort among the best and those that tie with it and have its SLO
/// verdict. If efforts are equal, the better benchmark wins.
pub(super) fn choose(sorted: &[RankedBenchmark], objective: Objective) -> Option<&RankedBenchmark> {
    let best = sorted.first()?;
    if objective == Objective::Simplicity {
        return Some(best);
    }
    let ties = sorted.iter().skip(1).filter(|row| row.ties_with(best) && row.meets() == best.meets());
    [best].into_iter().chain(ties).min_by_key(|row| row.effort)
}
