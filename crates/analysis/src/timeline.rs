//! Timeline of the two messages of a round trip: the median of each step from the send call to the return of the receive call.
//!
//! All times are traced times, which the tracing itself lengthens. Nothing is subtracted or scaled.

use crate::message_path::{Interval, Step, round_trips};
use crate::terms::{Part, Term};
use furlong_model::{Case, MessageTrace, Role};
use furlong_stats::{median, sort_by};
use serde::Serialize;
use std::collections::BTreeMap;

/// Share of the messages below which a step outside of the usual path is not reported.
const LEAST_SHARE: f64 = 0.01;

/// Timeline of a round trip of a benchmark. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    /// Case of the benchmark.
    #[serde(flatten)]
    pub case: Case,
    /// Number of complete round trips.
    pub round_trips: usize,
    /// Number of round trips whose events are incomplete.
    pub incomplete: usize,
    /// Share of the complete round trips with the most frequent path, which the steps describe.
    pub share: f64,
    /// Events per round trip.
    pub events: f64,
    /// Number of events that did not fit into the buffer.
    pub lost_events: u64,
    /// The request of the initiator, then the reply.
    pub paths: Vec<MessagePath>,
    /// Sum of the medians of all steps of both paths.
    pub sum_ns: f64,
    /// Median of the round trips with these paths, from the events.
    pub path_ns: f64,
    /// Median of all complete round trips, from the events.
    pub all_ns: f64,
    /// Median round trip by the initiator's clock, in the same trials.
    pub traced_ns: f64,
    /// Median round trip by the initiator's clock in trials without tracing, which alternated with these.
    pub untraced_ns: f64,
    /// Sums of steps with the terms of the cost model; empty if the benchmark is not explained.
    pub model: Vec<ModelledSteps>,
    /// Tracepoints that the kernel lacks.
    pub missing: Vec<String>,
}

/// Most frequent path of the request or of the reply.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessagePath {
    /// Initiator for the request, responder for the reply.
    pub sender: Role,
    /// Steps one after the other.
    pub steps: Vec<TimelineStep>,
    /// Steps of the sender while the receiver is woken on another CPU.
    pub parallel: Vec<TimelineStep>,
    /// Steps that only other paths have, with their shares of all messages of the sender.
    pub others: Vec<TimelineStep>,
}

/// Step of a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineStep {
    /// Part of the path.
    pub step: Step,
    /// Median time since the send call.
    pub start_ns: f64,
    /// Median duration.
    pub ns: f64,
    /// First and third quartile of the duration.
    pub quartiles_ns: [f64; 2],
    /// Share of the messages that have the step.
    pub share: f64,
}

/// Steps that correspond to terms of the cost model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelledSteps {
    /// The largest of these terms.
    pub part: Part,
    /// Sum of the steps.
    pub steps_ns: f64,
    /// Sum of the terms.
    pub model_ns: f64,
}

/// Benchmark without a timeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UntracedRow {
    /// Case of the benchmark.
    #[serde(flatten)]
    pub case: Case,
    /// Reason.
    #[serde(rename = "reason_data")]
    pub reason: NoTimeline,
}

/// Reason why a benchmark has no timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum NoTimeline {
    /// The benchmark makes no system calls, so that the kernel sees no message.
    NoCalls,
    /// The program runs its own loop, whose measured part is not marked.
    OwnLoop,
    /// The calls do not show which message they belong to.
    NoMessages,
    /// The traced trials have no result.
    NotTraced {
        /// Reason in words.
        why: String,
    },
}

impl Timeline {
    /// Computes the timeline of a trace. `terms` explain the same benchmark; without terms, nothing is compared with the model.
    ///
    /// # Errors
    /// Returns the reason if no message is complete.
    pub fn new(case: &Case, trace: MessageTrace, terms: &[Term]) -> Result<Timeline, NoTimeline> {
        let traced: Vec<f64> = trace.trials.iter().map(|trial| trial.round_trip_ns).collect();
        let lost_events = trace.trials.iter().map(|trial| trial.lost).sum();
        let events: usize = trace.trials.iter().map(|trial| trial.events.len()).sum();
        let (mut all, mut incomplete) = (Vec::new(), 0);
        for trial in trace.trials {
            let found = round_trips(trial.events);
            all.extend(found.complete);
            incomplete += found.incomplete;
        }
        let mut by_path: BTreeMap<[Vec<Step>; 2], Vec<&[Vec<Interval>; 2]>> = BTreeMap::new();
        for messages in &all {
            by_path.entry(messages.each_ref().map(|message| path(message))).or_default().push(messages);
        }
        let usual = by_path.into_values().max_by_key(Vec::len).ok_or(NoTimeline::NoMessages)?;
        let paths = [Role::Initiator, Role::Responder].map(|sender| {
            let own = |messages: &[&[Vec<Interval>; 2]], is_parallel| {
                steps(messages.iter().map(|messages| &messages[sender.index()][..]), is_parallel)
            };
            let [steps, mut parallel] = [false, true].map(|is_parallel| own(&usual, is_parallel));
            parallel.retain(|step| step.share >= 0.5);
            let mut others = own(&all.iter().collect::<Vec<_>>(), false);
            let is_usual = |other: &TimelineStep| steps.iter().any(|step| step.step == other.step);
            others.retain(|step| step.share >= LEAST_SHARE && !is_usual(step));
            MessagePath { sender, steps, parallel, others }
        });
        Ok(Timeline {
            case: case.clone(),
            round_trips: all.len(),
            incomplete,
            share: usual.len() as f64 / all.len() as f64,
            events: events as f64 / (all.len() + incomplete) as f64,
            lost_events,
            sum_ns: paths.iter().flat_map(|path| &path.steps).map(|step| step.ns).sum(),
            model: modelled(terms, &paths),
            paths: paths.into(),
            path_ns: median(&usual.iter().copied().map(round_trip_ns).collect::<Vec<_>>())
                .unwrap_or_default(),
            all_ns: median(&all.iter().map(round_trip_ns).collect::<Vec<_>>()).unwrap_or_default(),
            traced_ns: median(&traced).unwrap_or_default(),
            untraced_ns: median(&trace.untraced_ns).unwrap_or_default(),
            missing: trace.missing.iter().map(|name| (*name).to_owned()).collect(),
        })
    }
}

/// Returns the duration of a round trip.
fn round_trip_ns(messages: &[Vec<Interval>; 2]) -> f64 {
    let end_ns =
        |message: &Vec<Interval>| message.iter().map(|interval| interval.end_ns).max().unwrap_or_default();
    messages.iter().map(end_ns).sum::<u64>() as f64
}

/// Returns the different steps on the path of a message, in order.
fn path(message: &[Interval]) -> Vec<Step> {
    let mut path = Vec::new();
    for interval in message.iter().filter(|interval| !interval.is_parallel) {
        if !path.contains(&interval.step) {
            path.push(interval.step);
        }
    }
    path
}

/// Returns the steps of the messages by their median start.
fn steps<'a>(
    messages: impl ExactSizeIterator<Item = &'a [Interval]>,
    is_parallel: bool,
) -> Vec<TimelineStep> {
    let mut found: BTreeMap<Step, [Vec<f64>; 2]> = BTreeMap::new();
    let count = messages.len() as f64;
    for message in messages {
        let mut own: BTreeMap<Step, [u64; 2]> = BTreeMap::new();
        for interval in message.iter().filter(|interval| interval.is_parallel == is_parallel) {
            let ns = interval.end_ns - interval.start_ns;
            own.entry(interval.step)
                .and_modify(|[_, sum_ns]| *sum_ns += ns)
                .or_insert([interval.start_ns, ns]);
        }
        for (step, times) in own {
            let all = found.entry(step).or_default();
            all.iter_mut().zip(times).for_each(|(all, ns)| all.push(ns as f64));
        }
    }
    let summarized = |(step, [starts, mut times]): (Step, [Vec<f64>; 2])| {
        sort_by(&mut times, f64::total_cmp);
        let quartiles_ns = [1, 3].map(|quarter| times[(times.len() - 1) * quarter / 4]);
        let [start_ns, ns] = [&starts, &times].map(|values| median(values).unwrap_or_default());
        TimelineStep { step, start_ns, ns, quartiles_ns, share: times.len() as f64 / count }
    };
    let mut steps: Vec<_> = found.into_iter().map(summarized).collect();
    sort_by(&mut steps, |one, other| one.start_ns.total_cmp(&other.start_ns));
    steps
}

/// Compares the steps with the terms of the model: those for waiting, and all others.
fn modelled(terms: &[Term], paths: &[MessagePath]) -> Vec<ModelledSteps> {
    let is_waiting = |part: Part| matches!(part, Part::WakeUps | Part::ContextSwitches | Part::Waiting);
    let group = |waits: bool| {
        let terms = || terms.iter().filter(|term| is_waiting(term.name) == waits);
        let part = terms().max_by(|one, other| one.ns.total_cmp(&other.ns))?.name;
        let steps = paths.iter().flat_map(|path| &path.steps).filter(|step| step.step.is_waiting() == waits);
        Some(ModelledSteps {
            part,
            steps_ns: steps.map(|step| step.ns).sum(),
            model_ns: terms().map(|term| term.ns).sum(),
        })
    };
    [true, false].into_iter().filter_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message_path::tests::round_trip;
    use crate::terms::Source;
    use furlong_model::{CallResult, MessageEvent, MessageEventKind, Placement, TracedTrial};

    fn case() -> Case {
        crate::fixture::costs::PIPE.case(Placement::OtherCore)
    }

    /// Returns round trips, of which every tenth has no idle exit, and each takes one nanosecond more than the one before.
    fn trial(count: u64, lost: u64) -> TracedTrial {
        let mut events: Vec<MessageEvent> = Vec::new();
        let mut start_ns = 0;
        for number in 0..count {
            let is_idle = |event: &MessageEvent| event.kind == MessageEventKind::IdleExit;
            let all = round_trip(0, [0, 1], CallResult::Sent);
            for event in all.into_iter().filter(|event| number % 10 == 9 || !is_idle(event)) {
                // The first step is longer.
                let later_ns = if event.time_ns == 0 { 0 } else { number };
                events.push(MessageEvent { time_ns: start_ns + event.time_ns + later_ns, ..event });
            }
            start_ns += 3_200 + number;
        }
        TracedTrial { events, lost, round_trip_ns: 3_250.0 }
    }

    #[test]
    fn steps_are_medians_that_add_up() {
        let trace = MessageTrace {
            trials: vec![trial(101, 0), trial(101, 7)],
            untraced_ns: vec![3_000.0; 2],
            missing: Vec::new(),
        };
        let terms = [
            Term::new(Part::SystemCalls, 4.0, 230.0, Source::BothRoles),
            Term::new(Part::WakeUps, 2.0, 1_000.0, Source::CountedWhileMeasured),
        ];
        let found = Timeline::new(&case(), trace, &terms).unwrap();
        // The end of the last reply of each trial is missing.
        assert_eq!((found.lost_events, found.incomplete, found.round_trips), (7, 0, 2 * 100));
        assert_eq!((found.traced_ns, found.untraced_ns), (3_250.0, 3_000.0));
        let [request, reply] = &found.paths[..] else { panic!("{found:#?}") };
        let step =
            |path: &MessagePath, step| path.steps.iter().find(|found| found.step == step).unwrap().clone();
        assert_eq!((step(request, Step::Switch).ns, step(reply, Step::SendCall).ns), (200.0, 300.0));
        assert_eq!(step(request, Step::Switch).quartiles_ns, [200.0; 2]);
        assert!((step(request, Step::SendCall).ns - 350.0).abs() < 5.0, "{found:#?}");
        assert!((step(request, Step::SendCall).quartiles_ns[1] - 375.0).abs() < 5.0, "{found:#?}");
        assert!(request.steps.is_sorted_by(|one, other| one.start_ns <= other.start_ns));
        let [other] = &request.others[..] else { panic!("{request:#?}") };
        assert!(other.step == Step::IdleExit && (other.share - 0.1).abs() < 0.01, "{other:?}");
        assert!(
            (found.share - 0.9).abs() < 0.01 && (found.sum_ns / found.traced_ns - 1.0).abs() < 0.01,
            "{found:#?}"
        );
        assert!((found.all_ns - 3_250.0).abs() < 1.0 && (found.path_ns - 3_250.0).abs() < 5.0, "{found:#?}");
        let [waiting, others] = &found.model[..] else { panic!("{found:#?}") };
        assert_eq!((waiting.part, waiting.model_ns), (Part::WakeUps, 2_000.0));
        assert_eq!((others.part, others.model_ns), (Part::SystemCalls, 920.0));
        assert!((waiting.steps_ns + others.steps_ns - found.sum_ns).abs() < 1e-6);
    }

    #[test]
    fn trace_without_a_message_has_no_timeline() {
        let trial = TracedTrial { events: Vec::new(), lost: 3, round_trip_ns: 100.0 };
        let trace = MessageTrace { trials: vec![trial], ..MessageTrace::default() };
        assert_eq!(Timeline::new(&case(), trace, &[]), Err(NoTimeline::NoMessages));
    }
}
