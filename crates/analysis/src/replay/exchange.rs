//! Figures of a benchmark that exchanges messages. In publications, a message usually means an exchange: one message in
//! each direction, unless the pattern is one way.

use super::figures::{per_round_trip, table};
use super::row::{Durations, ReplayRow, ReplayStatus};
use crate::exchange::fewest_samples;
use crate::{DecodedRun, trials::MeasuredTrial};
use furlong_model::{Case, ExchangeWork, Experiment, Figure, Measurement, RowTarget, Unavailable, Work};
use furlong_stats::{Distribution, Mixture, distinct, tidy};

/// Returns `empty` with the figures of the trials of its benchmark and size, or with the reason in the records.
pub(super) fn row(run: &DecodedRun, experiment: &Experiment, row: &RowTarget, empty: ReplayRow) -> ReplayRow {
    let Work::Exchange(exchange) = &experiment.measure.work else { return empty };
    let Some(asked) = experiment.measure.case(row, empty.size_bytes) else { return empty };
    let Some(case) = tried(run, experiment, asked) else { return empty };
    let trouble = run.summary.skipped.iter().find(|entry| entry.case == case);
    let corrupted = trouble.is_some_and(crate::SkippedCase::is_corruption);
    let empty = ReplayRow { carried_bytes: case.size_bytes, corrupted, ..empty };
    let why = trouble.map(|entry| Unavailable::new(entry.reason.clone(), entry.remedy.clone()));
    let Some(sound) = run.summary.rows.iter().find(|row| row.case == case) else {
        return match trouble.zip(why) {
            Some((entry, why)) => empty.instead(entry.status.into(), why),
            None => empty,
        };
    };
    let trials = run.trials.measured(&case).collect::<Vec<_>>();
    let size_bytes = empty.size_bytes;
    let figures = figures(experiment);
    let measured = table(&figures, &trials, |figure, trial| value(figure, trial, exchange, size_bytes));
    let durations = durations(&trials, &run.times(&case));
    let none = || Unavailable::new("", "");
    let kept = empty.instead(ReplayStatus::Measured, why.unwrap_or_else(none));
    ReplayRow { measured, durations, trials: trials.len(), verified: sound.verified, ..kept }
}

/// Returns the requested case if it has trials. Otherwise it returns the case with the fixed size of a notification.
fn tried(run: &DecodedRun, experiment: &Experiment, asked: Case) -> Option<Case> {
    let cases = || run.records.trials.iter().map(|trial| &trial.case);
    if cases().any(|case| *case == asked) {
        return Some(asked);
    }
    let sizes = &experiment.measure.sizes_bytes;
    let of_its_own = |case: &&Case| {
        let same = Case { size_bytes: case.size_bytes, ..asked.clone() };
        **case == same && !sizes.contains(&case.size_bytes)
    };
    cases().find(of_its_own).cloned()
}

/// Returns the figures of an experiment: the published ones, and the more informative one that determines the order.
fn figures(experiment: &Experiment) -> Vec<Figure> {
    let published = experiment.rows.iter().flat_map(|row| &row.published);
    let mut figures: Vec<_> = published.flat_map(|size| size.figures.keys().copied()).collect();
    figures.push(experiment.measure.order_by);
    figures.push(match &experiment.measure.work {
        Work::Exchange(ExchangeWork { pattern, .. }) if pattern.facts().has_throughput => {
            Figure::GigabytesPerSecond
        }
        _ => Figure::MedianUs,
    });
    distinct(figures)
}

/// Returns the value of one trial, scaled from its exchanges to those of the publication.
fn value(figure: Figure, trial: &MeasuredTrial, exchange: &ExchangeWork, size_bytes: usize) -> Option<f64> {
    let MeasuredTrial { record: trial, times, .. } = trial;
    let count = exchange.count.exchanges(size_bytes) as f64;
    let each_ns = trial.each_ns();
    // A sample of several exchanges is a mean, which hides the shortest and the longest ones.
    let times =
        times.as_ref().ok().filter(|_| trial.round_trips_per_sample == 1 || figure == Figure::MedianUs);
    let percentile_us = |share: f64| {
        let times = times.filter(|times| times.samples() >= fewest_samples(share))?;
        Some(times.quantile_ns(share) / 1e3)
    };
    Some(match figure {
        Figure::RealS => each_ns * count / 1e9,
        Figure::TotalMs => each_ns * count / 1e6,
        Figure::MeanUs => each_ns / 1e3,
        Figure::MinUs => times?.min_ns() / 1e3,
        Figure::MedianUs => percentile_us(0.5)?,
        Figure::P90Us => percentile_us(0.9)?,
        Figure::P95Us => percentile_us(0.95)?,
        Figure::P99Us => percentile_us(0.99)?,
        Figure::P999Us => percentile_us(0.999)?,
        Figure::MaxUs => times?.max_ns() / 1e3,
        Figure::MessagesPerSecond => 1e9 / each_ns,
        // Bytes per nanosecond are gigabytes per second.
        Figure::GigabytesPerSecond => size_bytes as f64 / each_ns,
        Figure::MegabytesPerSecond => size_bytes as f64 / each_ns * 1e3,
        Figure::UserS => per_round_trip(&trial.roles, |role| role.user_ns) * count / 1e9,
        Figure::SystemS => per_round_trip(&trial.roles, |role| role.system_ns) * count / 1e9,
        Figure::ForcedSwitches => per_round_trip(&trial.roles, |role| role.involuntary_switches) * count,
        Figure::VoluntarySwitches => per_round_trip(&trial.roles, |role| role.voluntary_switches) * count,
        Figure::FirstTouchMs | Figure::SteadyMs => return None,
    })
}

fn durations(trials: &[&MeasuredTrial], times: &[Distribution]) -> Option<Durations> {
    let mixture = Mixture::of(times)?;
    let shortest = times.iter().filter_map(|trial| trial.shares().next()).map(|(ns, _)| ns);
    let sum = |figure: fn(&Measurement) -> u64| {
        trials.iter().fold(0_u64, |sum, trial| sum.saturating_add(figure(trial.record)))
    };
    let (exchanges, total_ns) = (sum(|trial| trial.round_trips), sum(|trial| trial.elapsed_ns));
    Some(Durations {
        exchanges,
        total_ns,
        exchanges_per_sample: trials.iter().map(|trial| trial.record.round_trips_per_sample).max()?,
        mean_ns: tidy(total_ns as f64 / exchanges as f64),
        min_ns: tidy(shortest.fold(f64::INFINITY, f64::min)),
        max_ns: tidy(mixture.max_ns()),
        stddev_ns: tidy(mixture.stddev_ns()),
    })
}
