//! Effects of conditions: each benchmark under one condition, compared with the same benchmark without it.

use crate::compare::by_margin;
use crate::{Change, Ratio, Row, RunFacts, SkippedCase, Summary};
use furlong_model::{Case, Conditions, RequestedCondition, RequestedConditions, Scheduling, named_enum};
use furlong_stats::{sort_by, trials_of_comparison};
use serde::Serialize;

/// Version of [`TuningResult`] as JSON. It changes if a field changes its meaning or is removed.
pub const TUNING_SCHEMA: u32 = 1;

/// Largest effect that counts as a tie, as a factor less 1: that of `furlong compare`. A smaller one is not worth a setting.
const MARGIN: f64 = 0.05;

/// Effects of conditions in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TuningResult {
    /// [`TUNING_SCHEMA`].
    pub schema: u32,
    /// Facts about the run.
    #[serde(flatten)]
    pub run: RunFacts,
    /// Largest effect that counts as a tie, as a factor less 1.
    pub margin: f64,
    /// Benchmarks without a condition, each with the effects of all conditions.
    pub benchmarks: Vec<TunedBenchmark>,
    /// Conditions that are impossible here, and other cases without a speed.
    pub skipped: Vec<SkippedCase>,
}

/// Benchmark without a condition, and the effects of conditions on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TunedBenchmark {
    /// Name of the benchmark.
    pub row: String,
    /// Title of its group.
    pub title: String,
    /// Case without a condition.
    #[serde(flatten)]
    pub case: Case,
    /// Median of an exchange, in nanoseconds.
    pub ns: f64,
    /// CPU time of both roles per exchange, in nanoseconds.
    pub cpu_ns: f64,
    /// Trials of the benchmark.
    pub trials: usize,
    /// Trials with which the intervals of all effects together hold in 95 % of runs. With fewer, every effect is a tie.
    pub needed_trials: usize,
    /// Effects, the lowest time first.
    pub effects: Vec<TunedCondition>,
}

named_enum! {
    /// Verdict on the effect of a condition.
    Effect {
        /// The whole interval of the ratio is below 1 by more than the margin.
        Faster = "faster",
        /// The interval of the ratio reaches the margin around 1, or there are too few trials.
        Tie = "tie",
        /// The whole interval of the ratio is above 1 by more than the margin.
        Slower = "slower",
    }
}

/// Effect of one condition on a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TunedCondition {
    /// Option with its value, as in `sched fifo:50`.
    pub condition: String,
    /// Whether the condition is inherited anyway, so that a difference is chance.
    pub is_placebo: bool,
    /// Verdict.
    pub effect: Effect,
    /// Ratio of the time under the condition to the time without it.
    pub ratio: Ratio,
    /// Median of an exchange under the condition, in nanoseconds.
    pub ns: f64,
    /// CPU time of both roles per exchange under the condition, in nanoseconds.
    pub cpu_ns: f64,
    /// How to make the condition permanent; empty for a placebo.
    pub permanent: String,
}

impl TuningResult {
    /// Compares each benchmark under a condition with the same benchmark without it.
    pub fn of(summary: &Summary, inherited: &Conditions) -> TuningResult {
        let is_plain = |row: &&Row| row.case == without(&row.case);
        let benchmark = |plain: &Row| {
            let title = summary.groups.iter().find(|group| group.name == plain.group);
            let varied =
                summary.rows.iter().filter(|row| row.case != plain.case && without(&row.case) == plain.case);
            let compared = summary.rows.iter().filter(|row| row.group == plain.group).count();
            let needed_trials = trials_of_comparison(compared) as usize;
            let is_enough = |row: &Row| row.trials >= needed_trials && plain.trials >= needed_trials;
            let of_row = |row| TunedCondition::of(row, plain, inherited, is_enough(row));
            let mut effects: Vec<_> = varied.filter_map(of_row).collect();
            sort_by(&mut effects, |one, other| one.ratio.times.total_cmp(&other.ratio.times));
            TunedBenchmark {
                row: plain.case.row(),
                title: title.map(|group| group.title.clone()).unwrap_or_default(),
                case: plain.case.clone(),
                ns: plain.exchange.deciding().ns,
                cpu_ns: plain.exchange.cpu_ns.all(),
                trials: plain.trials,
                needed_trials,
                effects,
            }
        };
        TuningResult {
            schema: TUNING_SCHEMA,
            run: summary.run.clone(),
            margin: MARGIN,
            benchmarks: summary.rows.iter().filter(is_plain).map(benchmark).collect(),
            skipped: summary.skipped.clone(),
        }
    }

    /// Returns the placebos that do not tie, with their benchmarks.
    pub fn failed_placebos(&self) -> impl Iterator<Item = (&TunedBenchmark, &TunedCondition)> {
        let is_failed = |effect: &&TunedCondition| effect.is_placebo && effect.effect != Effect::Tie;
        self.benchmarks.iter().flat_map(move |benchmark| {
            benchmark.effects.iter().filter(is_failed).map(move |effect| (benchmark, effect))
        })
    }
}

impl TunedCondition {
    /// Returns `None` unless the row has exactly one condition.
    fn of(row: &Row, plain: &Row, inherited: &Conditions, is_enough: bool) -> Option<TunedCondition> {
        let has_effect =
            |condition: &&RequestedCondition| !(condition.varies_cpu_time() && condition.is_neutral());
        let conditions: Vec<_> = row.case.conditions.iter().filter(has_effect).collect();
        let [condition] = conditions[..] else { return None };
        let ratio = Ratio::of(row, plain);
        let effect = match ratio.interval.filter(|_| is_enough).map(|ends| by_margin(ends, MARGIN)) {
            Some(Change::Better) => Effect::Faster,
            Some(Change::Worse) => Effect::Slower,
            _ => Effect::Tie,
        };
        let is_placebo = is_inherited(condition, inherited);
        let permanent = if is_placebo { String::new() } else { condition.permanent() };
        let (ns, cpu_ns) = (row.exchange.deciding().ns, row.exchange.cpu_ns.all());
        Some(TunedCondition {
            condition: condition.to_string(),
            is_placebo,
            effect,
            ratio,
            ns,
            cpu_ns,
            permanent,
        })
    }
}

/// Returns the case without conditions, except for the absence of a quota or a neighbour.
fn without(case: &Case) -> Case {
    Case { conditions: RequestedConditions::without_effects(case.conditions.iter()), ..case.clone() }
}

/// Whether the roles inherit this condition anyway.
fn is_inherited(condition: &RequestedCondition, inherited: &Conditions) -> bool {
    match condition {
        RequestedCondition::Scheduling(policy) => Scheduling::inherited(inherited) == Some(*policy),
        RequestedCondition::Nice(nice) => inherited.nice == Some((*nice).into()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DecodedRun;
    use crate::fixture::comparison::{STEADY, TrialBuilder, numbered};
    use furlong_model::ConditionKind;

    fn under(option: &str, value: &str) -> Case {
        let kind = ConditionKind::find(option).unwrap();
        Case { conditions: kind.read(value).unwrap().into(), ..numbered(0) }
    }

    #[test]
    fn effects_are_relative_to_no_condition() {
        let rows = [
            (numbered(0), 5e4),
            (under("sched", "other"), 5e4),
            (under("sched", "fifo:50"), 2e4),
            (under("nice", "19"), 9e4),
        ];
        let inherited = Conditions { policy: Some("other".to_owned()), ..Conditions::default() };
        let tuned = |rows: &[(Case, f64)]| {
            let run = TrialBuilder::default().run(rows, &STEADY);
            TuningResult::of(&DecodedRun::of(&run).summary, &inherited)
        };
        let tuning = tuned(&rows);
        let [benchmark] = &tuning.benchmarks[..] else { panic!("{tuning:?}") };
        let found: Vec<_> = benchmark
            .effects
            .iter()
            .map(|effect| (&*effect.condition, effect.effect, effect.is_placebo))
            .collect();
        assert_eq!(
            found,
            [
                ("sched fifo:50", Effect::Faster, false),
                ("sched other", Effect::Tie, true),
                ("nice 19", Effect::Slower, false)
            ]
        );
        assert!((0.39..0.41).contains(&benchmark.effects[0].ratio.times), "{benchmark:?}");
        assert_eq!(tuning.failed_placebos().count(), 0);
        // A requested size of the buffer is part of the benchmark.
        let with_buffer = rows.map(|(case, ns)| (Case { buffer_bytes: Some(65_536), ..case }, ns));
        assert_eq!(tuned(&with_buffer).benchmarks[0].effects.len(), 3);
    }
}
