//! Simulation of comparisons with known benchmarks: how often they are wrong, and how often they find a true difference.

use super::{Change, Comparison};
use crate::Run;
use crate::distributions::{BIMODAL, EXPONENTIAL, LOGNORMAL, NORMAL, Source};
use crate::fixture::{
    comparison::MARGIN, comparison::TrialBuilder, comparison::against, comparison::beginning,
    comparison::numbered,
};
use fastrand::Rng;
use furlong_stats::{holm, rank_sum_chance, shift_interval};

/// Benchmarks of a run.
const ROWS: usize = 20;
/// Nanoseconds of each benchmark.
const NS: f64 = 50_000.0;
/// Comparisons of each simulation.
const COMPARISONS: usize = 50;

/// Draws a run in which benchmark 0 is `slower` times as slow as the others, with a spread of ±3 % between 15 trials.
fn drawn(slower: f64, maker: &mut TrialBuilder, random: &mut Rng) -> Run {
    let mut records: Vec<_> = beginning().into();
    for at in 0..ROWS {
        let ns = if at == 0 { NS * slower } else { NS };
        let medians = Source::Normal(ns, 0.03 * ns).draw(15, random);
        records.extend(maker.trials(&numbered(at), &medians));
    }
    Run::from_records(records).unwrap()
}

/// Returns [`COMPARISONS`] comparisons of two runs. Benchmark 0 of the second run is `slower` times as slow.
fn comparisons(slower: f64, seed: u64) -> Vec<Comparison> {
    let (mut maker, mut random) = (TrialBuilder::default(), Rng::with_seed(seed));
    let pair = |_| {
        let [old, new] = [1.0, slower].map(|slower| drawn(slower, &mut maker, &mut random));
        against(&old, &new)
    };
    (0..COMPARISONS).map(pair).collect()
}

fn count(comparisons: &[Comparison], is: impl Fn(&Comparison) -> bool) -> usize {
    comparisons.iter().filter(|comparison| is(comparison)).count()
}

fn is_changed(verdict: Change) -> bool {
    matches!(verdict, Change::Worse | Change::Better)
}

#[test]
fn runs_of_the_same_rows_read_worse_in_at_most_5_percent() {
    let comparisons = comparisons(1.0, 1);
    let worse = count(&comparisons, Comparison::has_regression);
    assert!(worse * 20 <= COMPARISONS, "{worse} of {COMPARISONS}");
    let same: usize = comparisons
        .iter()
        .map(|comparison| comparison.rows.iter().filter(|row| row.verdict == Change::Same).count())
        .sum();
    println!("worse in {worse} of {COMPARISONS}; {same} of {} rows read same", ROWS * COMPARISONS);
    assert!(same >= ROWS * COMPARISONS * 9 / 10, "{same}");
}

#[test]
fn a_row_that_takes_10_percent_longer_is_found_in_at_least_95_percent() {
    let comparisons = comparisons(1.1, 2);
    let is_slow = |case: &furlong_model::Case| *case == numbered(0);
    let found = count(&comparisons, |comparison| {
        comparison.rows.iter().any(|row| is_slow(&row.case) && row.verdict == Change::Worse)
    });
    let others = count(&comparisons, |comparison| {
        comparison.rows.iter().any(|row| !is_slow(&row.case) && is_changed(row.verdict))
    });
    println!("found in {found} of {COMPARISONS}; other rows changed in {others}");
    assert!(found * 20 >= COMPARISONS * 19 && others * 20 <= COMPARISONS, "{found} found, {others} others");
}

/// Returns the percentage of 400 comparisons of 20 equal benchmarks in which the corrected test alone finds a difference.
/// The test is alone if the margin does not help, for example if trials have a wide spread.
fn alarms_percent(source: Source, counts: [usize; 2]) -> f64 {
    let mut random = Rng::with_seed(3);
    let alarm = |_: &u32| {
        let chances = (0..ROWS).map(|_| {
            let [old, new] = counts.map(|count| source.draw(count, &mut random));
            rank_sum_chance(&old, &new).unwrap()
        });
        holm(&chances.collect::<Vec<_>>()).iter().any(|chance| *chance < 0.05)
    };
    (0..400).filter(alarm).count() as f64 / 4.0
}

fn expect_few_alarms(counts: [usize; 2]) {
    for source in [NORMAL, EXPONENTIAL, LOGNORMAL, BIMODAL] {
        let percent = alarms_percent(source, counts);
        assert!(percent <= 7.0, "{counts:?} of {source:?}: {percent} %");
    }
}

#[test]
fn no_distribution_raises_more_alarms() {
    expect_few_alarms([9, 9]);
}

#[test]
fn rows_that_changed_by_the_margin_are_seldom_called_worse() {
    // At the limit, a benchmark that changed exactly by the margin reads worse in at most 1 of 40.
    let mut random = Rng::with_seed(4);
    let beyond = |_: &u32| {
        let draw = |median: f64, random: &mut Rng| -> Vec<f64> {
            Source::Normal(median, 0.03).draw(15, random).iter().map(|value| value.ln()).collect()
        };
        let (old, new) = (draw(1.0, &mut random), draw(1.0 + MARGIN, &mut random));
        let [low, _] = shift_interval(&old, &new).unwrap();
        low > MARGIN.ln_1p()
    };
    let share = (0..2000).filter(beyond).count() as f64 / 2000.0;
    assert!(share <= 0.035, "{share}");
}

/// Tests that run only if slow tests are requested.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn no_distribution_raises_more_alarms_with_other_numbers_of_trials() {
        [[6, 6], [9, 15]].into_iter().for_each(expect_few_alarms);
    }
}
