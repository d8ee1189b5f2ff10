//! Figures of one case, computed from all of its measured trials.

use crate::{
    BatchFigures, Capacity, ComparableInterval, Cpu, EnvironmentFigures, ExchangeFigures, InFlightFigures,
    Ratio, ReachMedians, Shares, SizeClassTimes, StallFigures,
    consistent::fits_together,
    count::{CountRow, total},
    law::Breach,
    sound::{SoundCase, no_trial},
    trials::MeasuredTrial,
};
use furlong_model::{
    AdapterFacts, Case, CountMethod, DecidingFigure, Depth, Family, Measurement, Placement, ProgramFacts,
    Role, RunHeader, TimerLateness, WarmUp,
};
use furlong_stats::{DistributionShape, SortedMap, are_apart, median, tidy};
use serde::Serialize;
use std::collections::BTreeMap;

/// Case that was measured, verified and found consistent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The case.
    #[serde(flatten)]
    pub case: Case,
    /// Always `measured`. A case without a speed is in the list of skipped cases.
    pub status: RowStatus,
    /// Family of the mechanism, if the reader of the run knows it.
    pub family: Option<Family>,
    /// Name of its group in the ranking.
    pub group: String,
    /// Place in the group by the time that decides, from 1. Benchmarks share a place if all of them tie with each other. `None` if
    /// fewer than three trials leave it open.
    pub rank: Option<usize>,
    /// Benchmarks of the group that tie with it: the interval of their ratio contains 1.
    pub tied_with: Vec<String>,
    /// Interval for comparisons; `None` for fewer than three trials.
    pub comparable: Option<ComparableInterval>,
    /// Ratio of its time to that of the first in its group; `None` for the first, and if fewer than three trials leave it open.
    pub vs_first: Option<Ratio>,
    /// Number of measured trials.
    pub trials: usize,
    /// Number of failed trials, none of them because of a corrupted message.
    pub failed_trials: usize,
    /// Figures per exchange: a round trip, or one message one way.
    #[serde(flatten)]
    pub exchange: ExchangeFigures,
    /// Whether its trials, and the round trips in them, are of one kind.
    pub shape: DistributionShape,
    /// Times until the first receiver and until half of the receivers had a message; `None` with one receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<ReachMedians>,
    /// Times of the messages of each size; empty if all messages have the same size.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub size_classes: Vec<SizeClassTimes>,
    /// Shares of several pairs in the whole; `None` with one pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<Shares>,
    /// Throughput of the other receivers while one slept; `None` if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalled: Option<StallFigures>,
    /// Highest rate at which it keeps an objective, for tables with one line per benchmark; JSON has it in [`crate::Summary`].
    /// `None` if none was searched.
    #[serde(skip)]
    pub capacity: Option<Box<Capacity>>,
    /// Messages per call of the sender and the receiver; `None` if each message has its own call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches: Option<[BatchFigures; 2]>,
    /// Share of messages that receivers lost, over all receivers, from 0 to 1; `None` if no message can be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_share: Option<f64>,
    /// Messages that were sent again per answered message, because they or their answers were lost; `None` if the mechanism
    /// itself retransmits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_again_share: Option<f64>,
    /// Share of messages that were sent later than they were due, from 0 to 1; `None` without due times.
    pub late_sends_share: Option<f64>,
    /// Lateness due to the sender's own timer. Such messages are timed from their send. `None` if every message is timed
    /// from its due time, or without due times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_late: Option<TimerLate>,
    /// Messages in flight, if they were sent when they were due, whether or not others were in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<InFlightFigures>,
    /// Method of counting system calls; `None` without a counted pass.
    pub count_method: Option<CountMethod>,
    /// Whether messages were checked byte by byte in every trial and both roles counted the same number. Always false for
    /// unmodified programs.
    pub verified: bool,
    /// Effective values of settings that the kernel limits, by name. If trials differ, the smallest value.
    pub effective: BTreeMap<String, u64>,
    /// Messages that the link held in each direction without a receiver. If trials differ, the smallest number. `None` in
    /// older runs, which did not record it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<[Depth; 2]>,
    /// Program that carries the messages, if it is not furlong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<AdapterFacts>,
    /// Warm-up of the program that carries the messages, if it compiles while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<RowWarmUp>,
    /// Timed programs, if they are unmodified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramFacts>,
    /// CPU time of processes that are neither role, by name, in nanoseconds per exchange.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub others_cpu_ns: BTreeMap<String, f64>,
    /// CPUs of the roles, the initiator first, with the kernel's numbers.
    pub processors: Vec<usize>,
    /// Trials on a single CPU: own programs used only one, or both roles ended on one chosen by the scheduler. `None` for
    /// pinned roles.
    pub trials_on_one_processor: Option<usize>,
    /// Quotas and neighbours; `None` if none was requested, not even their absence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentFigures>,
}

/// Messages that the sender's timer delayed, although none was in flight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimerLate {
    /// Share of all messages, from 0 to 1.
    pub share: f64,
    /// Delay in nanoseconds: the median over trials of the mean.
    pub mean_ns: f64,
    /// Longest delay in nanoseconds.
    pub longest_ns: f64,
}

impl TimerLate {
    /// Returns `None` unless every trial has separate figures for messages that the timer delayed.
    fn of(trials: &[&Measurement]) -> Option<TimerLate> {
        let late: Vec<TimerLateness> = trials.iter().map(|trial| trial.timer_late).collect::<Option<_>>()?;
        let sends: f64 = late.iter().map(|late| late.sends as f64).sum();
        let all: f64 = trials.iter().map(|trial| trial.round_trips as f64).sum();
        let means = late.iter().filter(|late| late.sends > 0);
        let means: Vec<f64> = means.map(|late| late.total_ns as f64 / late.sends as f64).collect();
        Some(TimerLate {
            share: tidy(sends / all),
            mean_ns: tidy(median(&means).unwrap_or_default()),
            longest_ns: late.iter().map(|late| late.longest_ns as f64).fold(0.0, f64::max),
        })
    }
}

/// Warm-ups of the trials of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RowWarmUp {
    /// Median duration, in nanoseconds.
    pub median_ns: f64,
    /// Longest duration, in nanoseconds.
    pub longest_ns: f64,
    /// Mean time of an exchange in the first 50 ms, as a multiple of that at the end: the median over trials.
    pub first_ratio: f64,
    /// Trials whose pace was not steady at the end.
    pub unsteady_trials: usize,
}

impl RowWarmUp {
    fn of(trials: &[&Measurement]) -> Option<RowWarmUp> {
        let compiles = trials[0].adapter.as_ref()?.compiles_while_running;
        let all: Vec<_> =
            trials.iter().filter_map(|trial| trial.warm_up.as_deref()).filter(|_| compiles).collect();
        let of_each = |figure: fn(&WarmUp) -> f64| all.iter().copied().map(figure).collect::<Vec<_>>();
        let elapsed_ns = of_each(|warm_up| warm_up.elapsed_ns as f64);
        Some(RowWarmUp {
            median_ns: tidy(median(&elapsed_ns)?),
            longest_ns: tidy(elapsed_ns.into_iter().fold(0.0, f64::max)),
            first_ratio: tidy(median(&of_each(|warm_up| warm_up.first_ns / warm_up.last_ns.max(1.0)))?),
            unsteady_trials: all.iter().filter(|warm_up| !warm_up.is_steady).count(),
        })
    }
}

/// Status of a benchmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowStatus {
    /// It was measured, and no check failed.
    #[default]
    Measured,
}

impl Row {
    /// Computes the figures of `trials` (at least one), or the reason against showing them.
    pub(crate) fn measure(
        header: &RunHeader,
        case: &Case,
        family: Option<Family>,
        trials: &[&MeasuredTrial],
    ) -> Result<Self, Breach> {
        SoundCase::of(header, case, family, trials)?.row(header)
    }
}

impl SoundCase<'_> {
    /// Computes all figures, or returns the broken law.
    pub(crate) fn row(self, header: &RunHeader) -> Result<Row, Breach> {
        let cpu_ci95 = self.interval(header, &Cpu::per_trial(self.case, &self.trials));
        let environment = EnvironmentFigures::of(self.case, self.deciding, &self.trials);
        let SoundCase { case, family, trials, times, median_ci95, deciding, reached, failed_trials, .. } =
            self;
        let mut exchange = ExchangeFigures::of(case, &trials, &times).ok_or_else(no_trial)?;
        exchange.ns.median_ci95 = median_ci95;
        exchange.mean = (case.deciding_figure() != DecidingFigure::Median).then_some(deciding);
        exchange.cpu_ns.ci95 = cpu_ci95;
        let row = Row {
            case: case.clone(),
            status: RowStatus::Measured,
            family,
            group: String::new(),
            rank: None,
            tied_with: Vec::new(),
            comparable: None,
            vs_first: None,
            trials: trials.len(),
            failed_trials,
            shape: DistributionShape::of(
                &times,
                exchange.per_sample,
                header.harness.clock_step_ns,
                header.seed,
            ),
            exchange,
            reached,
            size_classes: SizeClassTimes::of(&trials)?,
            shares: Shares::of(&trials),
            stalled: StallFigures::of(&trials),
            capacity: None,
            batches: BatchFigures::of(&trials),
            lost_share: lost_share(&trials),
            sent_again_share: sent_again_share(&trials),
            late_sends_share: late_sends_share(case, &trials),
            timer_late: TimerLate::of(&trials),
            in_flight: InFlightFigures::of(&trials),
            count_method: None,
            // The checks reject all other trials.
            verified: trials.iter().all(|trial| trial.programs.is_none()),
            effective: smallest_effective(&trials),
            depth: smallest_depth(&trials),
            adapter: trials[0].adapter.clone(),
            warm_up: RowWarmUp::of(&trials),
            programs: trials[0].programs.clone(),
            others_cpu_ns: others_cpu_ns(&trials),
            processors: trials[0].roles.iter().map(|role| role.processor).collect(),
            trials_on_one_processor: trials_on_one_processor(case, &trials),
            environment,
        };
        fits_together(header, case, &row.exchange, &trials)?;
        // The header does not contain the CPUs of the other host.
        let cpus = if case.placement == Placement::OtherHost { 0 } else { header.machine.processors.len() };
        let all_busy_ns = cpus as f64 * 1e9 / row.exchange.per_second;
        Ok(Row {
            exchange: ExchangeFigures { cpu_ns: row.exchange.cpu_ns.up_to(all_busy_ns), ..row.exchange },
            ..row
        })
    }
}

impl Row {
    /// Adds the results of its counted pass.
    pub(crate) fn counted(self, count: CountRow) -> Self {
        Row {
            exchange: ExchangeFigures {
                system_calls: count.figures.system_calls_per_round_trip,
                ..self.exchange
            },
            count_method: Some(count.counting.method),
            ..self
        }
    }

    /// Returns the system calls of both roles per round trip; `None` if they were not counted.
    pub fn system_calls(&self) -> Option<f64> {
        self.exchange.system_calls.as_ref().map(total)
    }

    /// Returns the CPU time over both roles, user and kernel, in nanoseconds per round trip.
    pub fn cpu_ns(&self) -> f64 {
        self.exchange.cpu_ns.all()
    }

    /// Returns the average number of CPUs that the two roles keep busy.
    pub fn processors_busy(&self) -> f64 {
        self.cpu_ns() * self.exchange.per_second / 1e9
    }

    /// Whether it runs a program with its own loop, instead of furlong's.
    pub(crate) fn has_own_loop(&self) -> bool {
        self.family == Some(Family::Adapter) || self.is_of_programs()
    }

    /// Whether it runs own programs, whose messages are unknown.
    pub(crate) fn is_of_programs(&self) -> bool {
        self.programs.is_some()
    }

    /// Whether the intervals of both are known and do not overlap, which makes one of them faster.
    pub fn differs_from(&self, other: &Row) -> bool {
        are_apart(self.exchange.deciding().ci95, other.exchange.deciding().ci95)
    }
}

/// Returns the share of lost messages among the lost and received ones.
fn lost_share(trials: &[&Measurement]) -> Option<f64> {
    let lost: u64 = trials.iter().map(|trial| trial.lost).sum::<Option<u64>>()?;
    let receivers = trials.iter().flat_map(|trial| &trial.roles);
    let got = receivers.filter(|tally| tally.party.role == Role::Responder).map(|tally| tally.round_trips);
    Some(tidy(lost as f64 / (lost + got.sum::<u64>()).max(1) as f64))
}

/// Returns the messages that were sent again, over all trials, per answered message.
fn sent_again_share(trials: &[&Measurement]) -> Option<f64> {
    let again: u64 = trials.iter().map(|trial| trial.sent_again).sum::<Option<u64>>()?;
    let answered: u64 = trials.iter().map(|trial| trial.round_trips).sum();
    Some(tidy(again as f64 / answered.max(1) as f64))
}

/// Returns the share of late messages. Only a message with a due time can be late.
fn late_sends_share(case: &Case, trials: &[&Measurement]) -> Option<f64> {
    let sends: f64 = trials.iter().map(|trial| trial.round_trips as f64).sum();
    let late: f64 = trials.iter().map(|trial| trial.late_sends as f64).sum();
    (case.arrival.interval_ns().is_some() && sends > 0.0).then(|| tidy(late / sends))
}

/// Returns the CPU time of other processes: the median over trials.
fn others_cpu_ns(trials: &[&Measurement]) -> BTreeMap<String, f64> {
    let mut used: SortedMap<String, Vec<f64>> = SortedMap::default();
    for (index, trial) in trials.iter().enumerate() {
        for other in &trial.others {
            let each = used.or_insert(other.name.clone(), vec![0.0; trials.len()]);
            each[index] += (other.user_ns as f64 + other.system_ns as f64) / trial.round_trips as f64;
        }
    }
    used.into_iter().filter_map(|(name, each)| Some((name, tidy(median(&each)?)))).collect()
}

fn trials_on_one_processor(case: &Case, trials: &[&Measurement]) -> Option<usize> {
    if trials.iter().all(|trial| !trial.ran_on.is_empty()) {
        return Some(trials.iter().filter(|trial| trial.ran_on.len() == 1).count());
    }
    let is_one =
        |trial: &&&Measurement| trial.roles.windows(2).all(|pair| pair[0].processor == pair[1].processor);
    // One program may consist of several processes.
    let is_known = trials[0].programs.is_none() || trials[0].roles.len() > 1;
    let is_seen = case.placement == Placement::Free && is_known;
    is_seen.then(|| trials.iter().filter(is_one).count())
}

/// Returns the smallest depth; `None` unless every trial has one.
fn smallest_depth(trials: &[&Measurement]) -> Option<[Depth; 2]> {
    let depths: Vec<_> = trials.iter().map(|trial| trial.depth).collect::<Option<_>>()?;
    depths
        .into_iter()
        .reduce(|[there, back], [other_there, other_back]| [there.min(other_there), back.min(other_back)])
}

fn smallest_effective(trials: &[&Measurement]) -> BTreeMap<String, u64> {
    let mut smallest = BTreeMap::new();
    for (name, &value) in trials.iter().flat_map(|trial| &trial.effective) {
        smallest
            .entry(name.clone())
            .and_modify(|least: &mut u64| *least = value.min(*least))
            .or_insert(value);
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Law;
    use crate::fixture::{case, header, measurement};
    use furlong_model::Wait;

    fn measure(change: impl Fn(usize, &mut Measurement)) -> Result<Row, Breach> {
        let case = case("pipe", Wait::Block, Placement::OtherCore);
        let mut trials: Vec<_> = [5000.0, 5200.0, 4900.0].map(|ns| measurement(&case, ns, 0)).into();
        trials.iter_mut().enumerate().for_each(|(index, trial)| change(index, trial));
        let decoded: Vec<_> = (0..)
            .zip(&trials)
            .map(|(number, trial)| MeasuredTrial::decode(&case, number, number as usize, trial))
            .collect();
        Row::measure(&header(), &case, None, &decoded.iter().collect::<Vec<_>>())
    }

    #[test]
    fn figures_come_from_all_trials() {
        let row = measure(|_, _| {}).unwrap();
        let times = row.exchange.ns;
        assert!((times.p50 - 5000.0).abs() < 5.0, "{times:?}");
        let [low, high] = times.median_ci95.unwrap();
        assert!((low - 4900.0).abs() < 5.0 && (high - 5200.0).abs() < 5.0);
        assert!((row.exchange.deciding().uncertainty().unwrap() - 0.04).abs() < 0.002);
        assert!([times.p50, times.p90, times.p99, times.p999, times.max].is_sorted());
        assert!(row.verified && row.trials == 3);
    }

    #[test]
    fn processors_of_own_programs_are_those_that_were_seen() {
        assert_eq!(measure(|_, _| {}).unwrap().trials_on_one_processor, None, "pinned roles");
        let seen = |ran_on: [&[usize]; 3]| {
            measure(|index, trial| trial.ran_on = ran_on[index].to_vec()).unwrap().trials_on_one_processor
        };
        assert_eq!(seen([&[0], &[0, 1], &[1]]), Some(2));
        assert_eq!(seen([&[0], &[0], &[]]), None, "a trial was too short to see where it ran");
    }

    #[test]
    fn warm_up_is_reported_of_programs_that_compile_while_they_run() {
        let row = |compiles_while_running| {
            let facts = AdapterFacts { versions: BTreeMap::new(), does: vec![], compiles_while_running };
            measure(|index, trial| {
                let is_steady = index > 0;
                let elapsed_ns = 1_000_000_000 * (index as u64 + 1);
                let warm_up = WarmUp { elapsed_ns, exchanges: 9, first_ns: 90e3, last_ns: 18e3, is_steady };
                (trial.adapter, trial.warm_up) = (Some(facts.clone()), Some(Box::new(warm_up)));
            })
        };
        let expected = RowWarmUp { median_ns: 2e9, longest_ns: 3e9, first_ratio: 5.0, unsteady_trials: 1 };
        assert_eq!(row(true).unwrap().warm_up, Some(expected));
        assert_eq!(row(false).unwrap().warm_up, None);
    }

    #[test]
    fn what_receivers_lost_is_a_share_of_what_was_sent_to_them() {
        assert_eq!(measure(|_, _| {}).unwrap().lost_share, None);
        let got: u64 =
            measurement(&case("pipe", Wait::Block, Placement::OtherCore), 5000.0, 0).roles[1].round_trips;
        let row = measure(|index, trial| trial.lost = Some(if index == 0 { 3 * got } else { 0 })).unwrap();
        // 3 of 6 in total.
        assert_eq!(row.lost_share, Some(0.5));
    }

    #[test]
    fn what_was_sent_again_is_a_share_of_what_was_answered() {
        assert_eq!(measure(|_, _| {}).unwrap().sent_again_share, None);
        let row = measure(|index, trial| trial.sent_again = Some(trial.round_trips * index as u64)).unwrap();
        assert!((row.sent_again_share.unwrap() - 1.0).abs() < 0.05, "{:?}", row.sent_again_share);
    }

    #[test]
    fn repetitions_widen_the_interval_to_what_all_of_them_say() {
        let case = case("pipe", Wait::Block, Placement::OtherCore);
        let medians = [5000.0, 5100.0, 5050.0, 6000.0, 6100.0, 6050.0];
        let trials = medians.map(|ns| measurement(&case, ns, 0));
        let decoded: Vec<_> = (0..)
            .zip(&trials)
            .map(|(number, trial)| MeasuredTrial::decode(&case, number, number as usize, trial))
            .collect();
        let interval = |across| {
            let header = RunHeader { trials: 3, across, ..header() };
            let row = Row::measure(&header, &case, None, &decoded.iter().collect::<Vec<_>>()).unwrap();
            row.exchange.ns.median_ci95.unwrap().map(|end| (end / 10.0).round() * 10.0)
        };
        assert_eq!(interval(2), [5000.0, 6100.0]);
        let [low, high] = interval(1);
        assert!(low > 5000.0 && high < 6100.0, "one run of six trials reaches less far: {low} {high}");
    }

    #[test]
    fn counts_are_medians_over_trials_of_what_each_role_counted() {
        let row = measure(|index, trial| {
            trial.roles[0].voluntary_switches = [9, 0, 3][index] * trial.roles[0].round_trips;
            trial.roles[1].round_trips *= 2;
            trial.roles[1].involuntary_switches = trial.roles[1].round_trips;
            trial.roles[1].voluntary_switches = 0;
        });
        // 10, 1 and 4. Of these 15, 3 are involuntary.
        let switches = row.unwrap().exchange.switches;
        assert!(
            (switches.all() - 4.0).abs() < 0.01 && (switches.involuntary - 0.8).abs() < 0.01,
            "{switches:?}"
        );
    }

    #[test]
    fn one_bad_trial_fails_the_row_and_is_numbered() {
        let verified = measure(|index, trial| trial.verified_messages *= u64::from(index as u32 != 1));
        assert_eq!(verified.unwrap_err(), Breach::new(Law::Verified, "trial 2: no message was verified"));
        let unreadable = measure(|_, trial| trial.histogram = "?".into());
        let breach = unreadable.unwrap_err();
        assert!(breach.reason.starts_with("trial 1: its histogram cannot be read"), "{breach:?}");
        assert_eq!(breach.law, Law::CompleteRecord);
    }

    #[test]
    fn the_smallest_depth_counts_if_all_trials_say_it() {
        let depths = [[Depth::of(7), Depth::UNBOUNDED], [Depth::of(9), Depth::of(3)], [Depth::UNBOUNDED; 2]];
        let row = measure(|index, trial| trial.depth = Some(depths[index])).unwrap();
        assert_eq!(row.depth, Some([Depth::of(7), Depth::of(3)]));
        assert_eq!(
            measure(|index, trial| trial.depth = Some(depths[index]).filter(|_| index > 0)).unwrap().depth,
            None
        );
    }

    #[test]
    fn the_smallest_effective_value_counts() {
        let row = measure(|index, trial| {
            trial.effective = BTreeMap::from([("pipe-size-bytes".to_owned(), 4096 << index)]);
        });
        assert_eq!(row.unwrap().effective["pipe-size-bytes"], 4096);
    }
}
