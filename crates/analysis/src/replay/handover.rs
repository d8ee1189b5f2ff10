//! Figures of a bulk transfer through mapped memory, and whether they are valid.

use super::figures::{per_round_trip, table};
use super::row::{ReplayRow, ReplayStatus};
use crate::{Law, Run, checks::is_placed_as_asked, law::Breach, skipped::explain};
use furlong_model::{
    Backing, Experiment, Figure, Handover, HandoverCount, HandoverMeasurement, HandoverOutcome,
    HandoverTimes, HandoverTrial, Touch, Unavailable,
};
use furlong_stats::median;
use std::collections::BTreeMap;

/// Bytes of a region that are not compared: the page of the flag.
const FLAG_BYTES: usize = 4096;
/// Distance in bytes between touched bytes, if not all bytes are touched.
const LINE_BYTES: usize = 64;

/// Returns `empty` with the figures of the trials of its backing, or with the reason in the records.
pub(super) fn row(run: &Run, experiment: &Experiment, backing: Backing, empty: ReplayRow) -> ReplayRow {
    let Some(asked) = experiment.measure.handover(backing, empty.size_bytes) else { return empty };
    let trials: Vec<_> = run.handovers.iter().filter(|trial| is_of(&trial.case, &asked)).collect();
    let sound: Result<Vec<_>, _> = trials.iter().filter_map(|trial| checked(trial)).collect();
    let trouble = BackingFailure::worst(&trials);
    let corrupted = trouble.as_ref().is_some_and(|trouble| trouble.corrupted);
    let empty = ReplayRow { corrupted, ..empty };
    match (sound, trouble) {
        (Ok(sound), None) if sound.is_empty() => empty,
        // As with messages, a benchmark that fails in at least half of its trials is invalid.
        (Ok(sound), Some(trouble)) if trouble.corrupted || sound.len() <= trouble.trials => {
            empty.instead(trouble.status, trouble.why)
        }
        (Err(breach), _) => {
            let why = format!("{}: {}", breach.law.name(), breach.reason);
            empty.instead(ReplayStatus::Void, Unavailable::new(why, ""))
        }
        (Ok(sound), trouble) => {
            let why = trouble.map_or_else(|| Unavailable::new("", ""), |trouble| trouble.why);
            measured(run, &asked, &sound, empty.instead(ReplayStatus::Measured, why))
        }
    }
}

/// Whether two bulk transfers differ only in the repetitions, by which figures are scaled.
fn is_of(handover: &Handover, asked: &Handover) -> bool {
    *handover == Handover { repetitions: handover.repetitions, ..asked.clone() }
}

fn measured(run: &Run, asked: &Handover, trials: &[&HandoverMeasurement], kept: ReplayRow) -> ReplayRow {
    let in_effect = trials.iter().map(|trial| trial.in_effect.clone()).find(|words| !words.is_empty());
    let count = run.handover_counts.iter().find(|count| is_of(&count.case, asked));
    ReplayRow {
        measured: table(&figures(), trials, |figure, trial| value(figure, trial, asked.repetitions)),
        trials: trials.len(),
        verified: true,
        in_effect,
        system_calls: count.and_then(calls_of),
        ..kept
    }
}

/// Returns the figures of every bulk transfer.
fn figures() -> Vec<Figure> {
    Figure::ALL.into_iter().filter(|figure| figure.is_of_handovers()).collect()
}

/// Returns the value of one trial, scaled from its repetitions to those of the publication.
fn value(figure: Figure, trial: &HandoverMeasurement, repetitions: u32) -> Option<f64> {
    let asked = f64::from(repetitions);
    let each_ns = trial.elapsed_ns as f64 / trial.repetitions.len() as f64;
    let both_ns = |times: &HandoverTimes| times.write_ns as f64 + times.read_ns as f64;
    let used = |figure: fn(&furlong_model::RoleTally) -> u64| per_round_trip(&trial.roles, figure) * asked;
    Some(match figure {
        Figure::RealS => each_ns * asked / 1e9,
        Figure::UserS => used(|role| role.user_ns) / 1e9,
        Figure::SystemS => used(|role| role.system_ns) / 1e9,
        Figure::ForcedSwitches => used(|role| role.involuntary_switches),
        Figure::VoluntarySwitches => used(|role| role.voluntary_switches),
        Figure::FirstTouchMs => both_ns(trial.repetitions.first()?) / 1e6,
        Figure::SteadyMs => {
            let later: Vec<_> = trial.repetitions.iter().skip(1).map(both_ns).collect();
            median(&later)? / 1e6
        }
        _ => return None,
    })
}

/// Returns the system calls of both roles, by name; `None` if they were not counted.
fn calls_of(count: &HandoverCount) -> Option<BTreeMap<String, u64>> {
    let mut calls = BTreeMap::new();
    for role in &count.roles {
        for (name, made) in role.system_calls.as_ref()? {
            // `fstat` of the C library calls `newfstatat`, so both have the older name here.
            let name = if name == "newfstatat" { "fstat" } else { name };
            let sum: &mut u64 = calls.entry(name.to_owned()).or_default();
            *sum = sum.saturating_add(*made);
        }
    }
    (!count.roles.is_empty()).then_some(calls)
}

/// Returns the figures of a trial, `None` if it has none, or the broken law.
fn checked(trial: &HandoverTrial) -> Option<Result<&HandoverMeasurement, Breach>> {
    let measured = trial.outcome.measurement()?;
    Some(check(&trial.case, measured).map_err(|breach| breach.in_trial(trial.number)).map(|()| measured))
}

fn check(handover: &Handover, measured: &HandoverMeasurement) -> Result<(), Breach> {
    let repetitions = measured.repetitions.len();
    let roles =
        (1..=2).contains(&measured.roles.len()) && measured.roles.iter().all(|role| role.round_trips > 0);
    if measured.elapsed_ns == 0
        || repetitions == 0
        || repetitions as u64 != u64::from(handover.repetitions)
        || !roles
    {
        return Err(Breach::new(Law::CompleteRecord, "its record lacks required figures"));
    }
    let touched = match handover.touch {
        Touch::Byte => handover.size_bytes.saturating_sub(FLAG_BYTES),
        Touch::Line => handover.size_bytes.saturating_sub(FLAG_BYTES) / LINE_BYTES,
    };
    let least = (touched as u64).saturating_mul(repetitions as u64).max(1);
    if measured.verified_bytes < least {
        let reason = format!("{} bytes were compared, and {least} were handed over", measured.verified_bytes);
        return Err(Breach::new(Law::Verified, reason));
    }
    is_placed_as_asked(handover.placement, &measured.roles)
}

/// Failure of trials of a backing.
struct BackingFailure {
    status: ReplayStatus,
    corrupted: bool,
    /// Number of failed trials.
    trials: usize,
    why: Unavailable,
}

impl BackingFailure {
    /// Returns the worst failure among `trials`: corruption, then any other failure, then missing support.
    fn worst(trials: &[&HandoverTrial]) -> Option<Self> {
        let failures = || {
            trials.iter().filter_map(|trial| match &trial.outcome {
                HandoverOutcome::Failed(failure) => Some(failure),
                _ => None,
            })
        };
        let corruption = failures().find(|failure| failure.fault.is_corruption());
        if let Some(failure) = corruption.or_else(|| failures().next()) {
            return Some(BackingFailure {
                status: ReplayStatus::Failed,
                corrupted: corruption.is_some(),
                trials: failures().count(),
                why: Unavailable::new(explain(failure), ""),
            });
        }
        let unavailable = trials.iter().find_map(|trial| match &trial.outcome {
            HandoverOutcome::Unavailable(why) | HandoverOutcome::Refused(why) => Some(why.clone()),
            _ => None,
        });
        unavailable.map(|why| BackingFailure {
            status: ReplayStatus::Unavailable,
            corrupted: false,
            trials: 0,
            why,
        })
    }
}
