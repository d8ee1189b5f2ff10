//! Detection of figures that no machine can have measured. furlong does not write them, and they would be printed
//! unchanged.

use furlong_model::{
    CostReading, Experiment, HandoverMeasurement, Harness, NoiseReading, Record, impossible_in_text,
};
use std::ops::RangeInclusive;

/// One second in nanoseconds. No reading of the clock takes as long.
const SECOND_NS: f64 = 1e9;

/// One hour in nanoseconds. No single measurement takes as long.
const HOUR_NS: f64 = 3600.0 * SECOND_NS;

/// Maximum published figure.
const MOST_PUBLISHED: f64 = 1e15;

/// Returns the first impossible figure or name in a record, with its key; `None` if there is none. `text` is the line of
/// the record, in which every figure of every kind of record is checked.
pub(crate) fn impossible_figure(record: &Record, text: &[u8]) -> Option<String> {
    impossible_in_text(text).or_else(|| impossible_in(record))
}

/// Checks figures whose meaning is narrower than their unit.
fn impossible_in(record: &Record) -> Option<String> {
    match record {
        Record::Run(header) => impossible_harness(&header.harness),
        Record::Noise(reading) => impossible_noise(reading),
        Record::Costs(reading) => impossible_costs(reading),
        Record::Experiment(experiment) => impossible_experiment(experiment),
        Record::Start(reading) => {
            reading.starts_ns.iter().find_map(|ns| outside("starts_ns", *ns as f64, 0.0..=HOUR_NS))
        }
        Record::Shortlist(shortlist) => {
            let observed = shortlist.workload.observed.as_ref();
            observed.and_then(|traffic| outside("per_second", traffic.per_second, 0.0..=SECOND_NS))
        }
        Record::Handover(trial) => trial.outcome.measurement().and_then(impossible_handover),
        _ => None,
    }
}

fn impossible_harness(harness: &Harness) -> Option<String> {
    let figures = [("clock_read_ns", harness.clock_read_ns), ("clock_step_ns", harness.clock_step_ns)];
    figures.into_iter().find_map(|(name, figure)| outside(name, figure, 0.0..=SECOND_NS))
}

fn impossible_noise(reading: &NoiseReading) -> Option<String> {
    let figures = [
        ("core_to_core_ns", reading.core_to_core_ns, HOUR_NS),
        ("sleeping_pair_ns", reading.sleeping_pair_ns.map(|[first, _]| first), HOUR_NS),
        ("sleeping_pair_ns", reading.sleeping_pair_ns.map(|[_, later]| later), HOUR_NS),
        ("spin_lost", reading.spin_lost, 1.0),
        ("load_average", reading.load_average, 1e9),
        ("processor_pressure", reading.processor_pressure, 100.0),
        ("quota_cpus", reading.quota_cpus, 1e9),
    ];
    figures.into_iter().find_map(|(name, figure, most)| outside(name, figure?, 0.0..=most))
}

/// A cost that is a difference may be slightly negative.
fn impossible_costs(reading: &CostReading) -> Option<String> {
    reading.figures.iter().find_map(|figure| outside("ns", figure.ns, -SECOND_NS..=HOUR_NS))
}

/// The times are parts of the elapsed time, and each role has one thread.
fn impossible_handover(handover: &HandoverMeasurement) -> Option<String> {
    let elapsed_ns = handover.elapsed_ns as f64;
    let parts = handover.repetitions.iter().map(|times| times.write_ns as f64 + times.read_ns as f64);
    let used = handover.roles.iter().map(|role| role.user_ns as f64 + role.system_ns as f64);
    outside("write_ns and read_ns", parts.sum(), 0.0..=elapsed_ns).or_else(|| {
        used.into_iter().find_map(|ns| outside("user_ns and system_ns", ns, 0.0..=2.0 * elapsed_ns + 1e8))
    })
}

fn impossible_experiment(experiment: &Experiment) -> Option<String> {
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
            assert_eq!(impossible_figure(&record, &record.to_line().unwrap()), None);
        }
    }

    #[test]
    fn what_is_no_share_no_time_or_no_number_cannot_be() {
        let noise = |change: fn(&mut NoiseReading)| {
            let mut reading = NoiseReading::default();
            change(&mut reading);
            impossible_in(&Record::Noise(reading)).unwrap()
        };
        assert!(noise(|reading| reading.spin_lost = Some(1e308)).starts_with("spin_lost is 1e308"));
        assert!(noise(|reading| reading.core_to_core_ns = Some(-1.0)).starts_with("core_to_core_ns is -1e0"));
        assert!(noise(|reading| reading.processor_pressure = Some(f64::NAN)).contains("NaN"));
        let mut records = fixture::records();
        let Record::Run(header) = &mut records[0] else { panic!("a header comes first") };
        header.harness.clock_read_ns = -9.2e18;
        assert!(impossible_in(&records[0]).unwrap().starts_with("clock_read_ns is -9.2e18"));
    }

    #[test]
    fn parts_of_a_handover_are_not_longer_than_the_whole() {
        let records = fixture::replay::itmedia().records();
        let found = |change: fn(&mut HandoverMeasurement)| {
            let mut measured: HandoverMeasurement = records
                .iter()
                .find_map(|record| match record {
                    Record::Handover(trial) => trial.outcome.measurement().cloned(),
                    _ => None,
                })
                .unwrap();
            change(&mut measured);
            impossible_handover(&measured)
        };
        assert_eq!(found(|_| {}), None);
        assert!(
            found(|measured| measured.repetitions[0].read_ns = 1 << 50).unwrap().starts_with("write_ns and")
        );
        assert!(found(|measured| measured.roles[1].user_ns = 1 << 50).unwrap().starts_with("user_ns and"));
    }

    #[test]
    fn no_figure_or_name_of_any_record_is_beyond_its_unit() {
        let trial = fixture::records().into_iter().find(|record| matches!(record, Record::Trial(_))).unwrap();
        let line = String::from_utf8(trial.to_line().unwrap()).unwrap();
        let found = |from: &str, to: &str| {
            let changed = line.replacen(from, to, 1);
            assert_ne!(changed, line);
            impossible_figure(&trial, changed.as_bytes())
        };
        assert_eq!(
            found("\"user_ns\":", "\"user_ns\":18446744073709551615,\"x\":").unwrap(),
            "user_ns is 1.8446744073709552e19"
        );
        assert_eq!(
            found("\"size_bytes\":", "\"size_bytes\":1073741825,\"x\":").unwrap(),
            "size_bytes is 1.073741825e9"
        );
        assert_eq!(
            found("\"minor_faults\":", "\"minor_faults\":[{\"y\":-1e16}],\"x\":").unwrap(),
            "y is -1e16"
        );
        assert_eq!(found("\"mechanism\":\"null\"", "\"mechanism\":\" \"").unwrap(), "mechanism is empty");
        assert_eq!(found("\"user_ns\":", "\"seed\":18446744073709551615,\"user_ns\":"), None);
    }
}
