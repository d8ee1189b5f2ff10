//! Laws between the figures of one benchmark. The number of busy CPUs is at most the number of its CPUs. Rate times mean
//! latency is the number of messages in flight. The laws hold for each trial. They also hold for a benchmark, because its
//! figures are medians over trials. If each time is at most another, this is also true of their medians.

use crate::exchange::{Cpu, in_ticks, per_exchange};
use crate::{ExchangeFigures, Law, law::Breach, little::mean_bounds_ns};
use furlong_model::{Case, Measurement, Placement, RoleTally, RunHeader};
use furlong_stats::{distinct, median};

/// CPU time may exceed elapsed time by this share, because the kernel rounds CPU time and reads another clock. Of 22,000
/// trials, none exceeded it by more than 1.1 %.
const OTHER_CLOCK: f64 = 0.02;
/// A role may count one exchange more or less than the timed ones, at both ends.
const EXCHANGES_AROUND: f64 = 2.0;
/// Figures are rounded to seven digits.
const ROUNDING: f64 = 1e-6;

/// Returns the number of CPUs that the roles of a trial could use; `None` if unknown.
fn processors(header: &RunHeader, case: &Case, trial: &Measurement) -> Option<f64> {
    // A role that used more than one CPU has threads, for example of the kernel, that are not pinned.
    let has_threads = |role: &RoleTally| {
        let used = role.user_ns as f64 + role.system_ns as f64;
        role.window_ns.is_some_and(|ns| used > ns as f64 * (1.0 + OTHER_CLOCK))
    };
    let any = trial.programs.is_some()
        || trial.adapter.is_some()
        || case.placement == Placement::Free
        || trial.roles.iter().any(has_threads);
    let count = match case.placement {
        Placement::OtherHost => return None,
        _ if any => header.machine.processors.len(),
        _ => distinct(trial.roles.iter().map(|role| role.processor)).len(),
    };
    (count > 0).then_some(count as f64)
}

/// Longest tick of a clock that counts CPU time, in nanoseconds: 1/64 s on Windows.
const TICK_NS: f64 = 15_625_000.0;

/// Returns the maximum CPU time of an exchange in a trial, in nanoseconds. It is the elapsed time of each CPU, plus the
/// time between the readings of CPU time beyond that. `None` if the CPUs are not known.
fn most_cpu_ns(header: &RunHeader, case: &Case, trial: &Measurement) -> Option<f64> {
    let elapsed_ns = trial.elapsed_ns as f64;
    let tick_ns = if in_ticks(&[trial]) { TICK_NS } else { 0.0 };
    // Programs and older records lack the time at which CPU time was read.
    let beyond = |role: &RoleTally| {
        2.0 * tick_ns
            + role.window_ns.map_or(4.0 * elapsed_ns + 1e8, |window| (window as f64 - elapsed_ns).max(0.0))
    };
    let more = 1.0 + OTHER_CLOCK + EXCHANGES_AROUND / trial.round_trips as f64;
    Some((processors(header, case, trial)? * trial.each_ns() + per_exchange(case, trial, beyond)) * more)
}

/// Checks that the roles used no more time than their CPUs have.
pub(crate) fn keeps_its_cpus_busy_at_most(
    header: &RunHeader,
    case: &Case,
    trial: &Measurement,
) -> Result<(), Breach> {
    let cpu_ns = Cpu::of(case, &[trial]).all();
    match most_cpu_ns(header, case, trial) {
        Some(most) if cpu_ns > most => {
            Err(too_busy(cpu_ns / trial.each_ns(), processors(header, case, trial)))
        }
        _ => Ok(()),
    }
}

fn too_busy(busy: f64, processors: Option<f64>) -> Breach {
    let processors = processors.unwrap_or_default();
    Breach::new(Law::CpusBusy, format!("it kept {busy:.2} CPUs busy and ran on {processors}"))
}

/// Checks that the printed figures of a benchmark are consistent.
///
/// # Errors
/// Returns the broken law.
pub(crate) fn fits_together(
    header: &RunHeader,
    case: &Case,
    figures: &ExchangeFigures,
    trials: &[&Measurement],
) -> Result<(), Breach> {
    let (cpu_ns, mean, per_ns) = (figures.cpu_ns.all(), figures.ns.mean, figures.per_second / 1e9);
    let over_trials = |each: &dyn Fn(&Measurement) -> Option<f64>| {
        let each: Option<Vec<f64>> = trials.iter().map(|trial| each(trial)).collect();
        median(&each?)
    };
    let most = over_trials(&|trial| most_cpu_ns(header, case, trial));
    if most.is_some_and(|most| cpu_ns > most * (1.0 + ROUNDING)) {
        return Err(too_busy(cpu_ns * per_ns, processors(header, case, trials[0])));
    }
    let end = |which: usize| over_trials(&|trial| mean_bounds_ns(case, trial).map(|ends| ends[which]));
    let Some((low, high)) = end(0).zip(end(1)) else { return Ok(()) };
    if (low * (1.0 - ROUNDING)..=high * (1.0 + ROUNDING)).contains(&mean) {
        return Ok(());
    }
    let in_flight = mean * per_ns / f64::from(case.links().get());
    let window = case.window();
    Err(Breach::new(Law::LittlesLaw, format!("{in_flight:.2} messages in flight instead of {window}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;
    use crate::fixture::{case, header, measurement};
    use crate::trials::MeasuredTrial;
    use furlong_model::Wait;
    use proptest::prelude::*;
    use std::num::NonZeroU32;

    fn row(case: &Case, trials: &[Measurement]) -> Result<Row, Breach> {
        let decoded: Vec<_> = (0..)
            .zip(trials)
            .map(|(number, trial)| MeasuredTrial::decode(case, number, number as usize, trial))
            .collect();
        Row::measure(&header(), case, None, &decoded.iter().collect::<Vec<_>>())
    }

    fn trial(case: &Case, ns: f64, busy: f64, trips: u64) -> Measurement {
        let whole = measurement(case, ns, 0);
        // Repeats the round trips of the fixture until there are `trips`.
        let times = trips as f64 / whole.round_trips as f64;
        let scaled = |count: u64| (count as f64 * times).round() as u64;
        let elapsed_ns = scaled(whole.elapsed_ns);
        let roles = whole.roles.into_iter().map(|tally| RoleTally {
            round_trips: trips,
            window_ns: Some(elapsed_ns),
            user_ns: (busy * elapsed_ns as f64) as u64 | 1,
            system_ns: 0,
            ..tally
        });
        Measurement { round_trips: trips, elapsed_ns, roles: roles.collect(), ..whole }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn figures_of_uneven_trials_fit_together(
            trials in prop::collection::vec((150.0..50_000.0_f64, 0.0..1.0_f64, 200_u64..2_000_000), 1..9),
            window in 1_u32..9,
        ) {
            let window = NonZeroU32::new(window).unwrap();
            for wait in [Wait::Block, Wait::Spin] {
                let case = case("posix-shm", wait, Placement::OtherCore).with_window(window);
                let trials: Vec<_> = trials
                    .iter()
                    .map(|(ns, busy, trips)| {
                        let mut trial = trial(&case, *ns, if wait == Wait::Spin { 1.0 } else { *busy }, *trips);
                        trial.elapsed_ns /= u64::from(window.get());
                        for role in &mut trial.roles {
                            role.user_ns /= u64::from(window.get());
                            role.window_ns = Some(trial.elapsed_ns);
                        }
                        trial
                    })
                    .collect();
                let row = row(&case, &trials).unwrap();
                prop_assert_eq!(fits_together(&header(), &case, &row.exchange, &trials.iter().collect::<Vec<_>>()), Ok(()));
                prop_assert!(row.processors_busy() <= 2.0 * (1.0 + OTHER_CLOCK), "{}", row.processors_busy());
                let in_flight = row.exchange.ns.mean * row.exchange.per_second / 1e9;
                let window = f64::from(window.get());
                prop_assert!((in_flight / window - 1.0).abs() < 0.06, "{in_flight} of {window}");
            }
        }
    }

    #[test]
    fn fast_and_slow_trials_of_a_spinning_row_keep_two_cpus_busy() {
        // A host that moves cores: each trial keeps both CPUs busy and lasts equally long.
        let case = case("posix-shm", Wait::Spin, Placement::OtherCore);
        let trials = [(180.0, 55_000), (180.0, 55_000), (600.0, 16_000), (650.0, 15_000), (700.0, 14_000)]
            .map(|(ns, trips)| trial(&case, ns, 1.0, trips));
        let row = row(&case, &trials).unwrap();
        assert!((row.processors_busy() - 2.0).abs() < 0.01, "{}", row.processors_busy());
        let in_flight = row.exchange.ns.mean * row.exchange.per_second / 1e9;
        assert!((in_flight - 1.0).abs() < 0.01, "{in_flight}");
    }

    #[test]
    fn figures_that_contradict_each_other_are_refused() {
        let case = case("posix-shm", Wait::Spin, Placement::OtherCore);
        let trials = [180.0, 200.0, 220.0].map(|ns| trial(&case, ns, 1.0, 50_000));
        let row = row(&case, &trials).unwrap();
        let refused = |change: &dyn Fn(&mut Row)| {
            let mut row = row.clone();
            change(&mut row);
            fits_together(&header(), &case, &row.exchange, &trials.iter().collect::<Vec<_>>()).unwrap_err()
        };
        let busy = refused(&|row| row.exchange.cpu_ns.user *= 1.3);
        assert_eq!((busy.law, busy.reason.as_str()), (Law::CpusBusy, "it kept 2.60 CPUs busy and ran on 2"));
        let mean = refused(&|row| row.exchange.ns.mean *= 1.98);
        assert_eq!(mean.law, Law::LittlesLaw);
        assert!(mean.reason.starts_with("1.98 messages in flight instead of 1"), "{mean:?}");
    }

    #[test]
    fn a_trial_that_used_more_than_its_cpus_is_refused() {
        let spins = case("posix-shm", Wait::Spin, Placement::OtherCore);
        let sleeps = case("posix-shm", Wait::Futex, Placement::OtherCore);
        let breach = row(&sleeps, &[trial(&sleeps, 200.0, 1.1, 50_000)]).unwrap_err();
        assert_eq!(
            (breach.law, breach.reason.as_str()),
            (Law::CpusBusy, "trial 1: it kept 2.20 CPUs busy and ran on 2")
        );
        // One role busy-waited for as long again until the other got a CPU. The elapsed time does not contain that.
        let mut waited = trial(&spins, 200.0, 1.0, 50_000);
        waited.roles[1].user_ns *= 2;
        waited.roles[1].window_ns = waited.roles[1].window_ns.map(|ns| 2 * ns);
        let busy = row(&spins, &[waited.clone()]).unwrap().processors_busy();
        assert!((busy - 2.0).abs() < 0.01, "{busy}");
        // Older records lack these times, and are limited to the elapsed time.
        waited.roles.iter_mut().for_each(|role| role.window_ns = None);
        let busy = row(&spins, &[waited]).unwrap().processors_busy();
        assert!((busy - 2.0).abs() < 0.01, "{busy}");
        // If CPU time has ticks of 15.6 ms, a trial has no usable CPU time.
        let mut in_ticks = trial(&spins, 200.0, 0.0, 50_000);
        in_ticks.roles.iter_mut().for_each(|role| role.user_ns = 15_625_000);
        assert!(row(&spins, &[in_ticks]).is_ok());
    }

    #[test]
    fn ticks_are_right_over_all_trials() {
        let spins = case("posix-shm", Wait::Spin, Placement::OtherCore);
        let trials = [0, 15_625_000, 0, 15_625_000].map(|user_ns| {
            let mut trial = trial(&spins, 200.0, 0.0, 50_000);
            trial.roles.iter_mut().for_each(|role| role.user_ns = user_ns);
            trial
        });
        let elapsed_ns: u64 = trials.iter().map(|trial| trial.elapsed_ns).sum();
        let busy = row(&spins, &trials).unwrap().processors_busy();
        assert!((busy - 4.0 * 15_625_000.0 / elapsed_ns as f64).abs() < 0.01, "{busy}");
    }
}
