//! Figures that no machine can have measured: a record with one comes from no furlong, and would be printed as it is.

use furlong_model::{CostReading, Experiment, Harness, NoiseReading, Record};
use std::ops::RangeInclusive;

/// A second in nanoseconds: no reading of the clock takes as long.
const SECOND_NS: f64 = 1e9;

/// An hour in nanoseconds: nothing that is measured by itself takes as long.
const HOUR_NS: f64 = 3600.0 * SECOND_NS;

/// The most that a published figure may be.
const MOST_PUBLISHED: f64 = 1e15;

/// The first figure in a record that cannot be, with its name; `None` if there is none.
pub(crate) fn impossible_figure(record: &Record) -> Option<String> {
    match record {
        Record::Run(header) => of_harness(&header.harness),
        Record::Noise(reading) => of_noise(reading),
        Record::Costs(reading) => of_costs(reading),
        Record::Experiment(experiment) => of_experiment(experiment),
        _ => None,
    }
}

fn of_harness(harness: &Harness) -> Option<String> {
    let figures = [("clock_read_ns", harness.clock_read_ns), ("clock_step_ns", harness.clock_step_ns)];
    figures.into_iter().find_map(|(name, figure)| outside(name, figure, 0.0..=SECOND_NS))
}

fn of_noise(reading: &NoiseReading) -> Option<String> {
    let figures = [
        ("core_to_core_ns", reading.core_to_core_ns, HOUR_NS),
        ("spin_lost", reading.spin_lost, 1.0),
        ("load_average", reading.load_average, 1e9),
        ("processor_pressure", reading.processor_pressure, 100.0),
        ("quota_cpus", reading.quota_cpus, 1e9),
    ];
    figures.into_iter().find_map(|(name, figure, most)| outside(name, figure?, 0.0..=most))
}

/// What is found by subtraction may be a little less than nothing.
fn of_costs(reading: &CostReading) -> Option<String> {
    reading.figures.iter().find_map(|figure| outside("ns", figure.ns, -SECOND_NS..=HOUR_NS))
}

fn of_experiment(experiment: &Experiment) -> Option<String> {
    let published = experiment.rows.iter().flat_map(|row| &row.published);
    let figures = published.flat_map(|published| published.figures.values().copied());
    let starts = experiment.starts.iter().flat_map(|start| [start.first_ms, start.later_ms]);
    figures
        .chain(starts.flatten())
        .find_map(|figure| outside("a published figure", figure, 0.0..=MOST_PUBLISHED))
}

fn outside(name: &str, figure: f64, range: RangeInclusive<f64>) -> Option<String> {
    (!range.contains(&figure)).then(|| format!("{name} is {figure:e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn every_record_of_a_run_can_be() {
        for record in fixture::records() {
            assert_eq!(impossible_figure(&record), None);
        }
    }

    #[test]
    fn what_is_no_share_no_time_or_no_number_cannot_be() {
        let noise = |change: fn(&mut NoiseReading)| {
            let mut reading = NoiseReading::default();
            change(&mut reading);
            impossible_figure(&Record::Noise(reading)).unwrap()
        };
        assert!(noise(|reading| reading.spin_lost = Some(1e308)).starts_with("spin_lost is 1e308"));
        assert!(noise(|reading| reading.core_to_core_ns = Some(-1.0)).starts_with("core_to_core_ns is -1e0"));
        assert!(noise(|reading| reading.processor_pressure = Some(f64::NAN)).contains("NaN"));
        let mut records = fixture::records();
        let Record::Run(header) = &mut records[0] else { panic!("a header comes first") };
        header.harness.clock_read_ns = -9.2e18;
        assert!(impossible_figure(&records[0]).unwrap().starts_with("clock_read_ns is -9.2e18"));
    }
}
