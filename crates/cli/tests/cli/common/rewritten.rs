//! Saved runs rewritten with other times, numbers of trials or machines, without measuring again.

use super::Place;
use furlong_analysis::Run;
use furlong_model::{Outcome, Record, Trial, WaitKind};
use furlong_stats::{Distribution, HistogramRange, distinct, encode_histogram};
use std::fs;

impl Place {
    /// Writes a run as if it had been saved as `name`.
    pub fn write_run(&self, name: &str, records: &[Record]) {
        let line = |record: &Record| serde_json::to_string(record).expect("a record") + "\n";
        let path = self.saved(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the data folder");
        fs::write(path, records.iter().map(line).collect::<String>()).expect("a file in it");
    }
}

/// Returns a run of the same rows on a machine without noise. Each row has one trial per factor: its first trial,
/// with all times multiplied by the factor.
pub fn rewritten(run: &Run, factors: &[f64]) -> Vec<Record> {
    let mut header = run.header.clone();
    // A coarse clock would widen the intervals of fast rows.
    header.harness.clock_step_ns = 1.0;
    let mut records = vec![Record::Run(header)];
    for trial in run.trials.iter().filter(|trial| trial.number == 0) {
        for (number, factor) in (0..).zip(factors) {
            records.push(Record::Trial(Trial { number, ..multiplied(trial, *factor) }));
        }
    }
    records.extend(run.end.map(Record::End));
    records
}

/// Returns the trial with its times multiplied.
fn multiplied(trial: &Trial, factor: f64) -> Trial {
    let mut trial = trial.clone();
    if let Outcome::Measured(measured) = &mut trial.outcome {
        let times = Distribution::decode(&measured.histogram).expect("a histogram");
        let scaled = |ns: f64| (ns * factor).round() as u64;
        let range = HistogramRange { lowest: 1, highest: 60_000_000_000, digits: 3 };
        let slower = times.buckets().map(|(middle, count)| (scaled(middle), count));
        measured.histogram = encode_histogram(range, slower).expect("sound bounds");
        measured.elapsed_ns = scaled(measured.elapsed_ns as f64);
        // On such a machine, a role that never waits uses its CPU all the time.
        let roles = measured.roles.len() as u64;
        let processors = distinct(measured.roles.iter().map(|role| role.processor)).len() as u64;
        let never_waits = trial.case.wait.kind() == WaitKind::Spinning || processors == 1;
        for role in &mut measured.roles {
            role.involuntary_switches = 0;
            role.window_ns = Some(measured.elapsed_ns);
            [role.user_ns, role.system_ns] = if never_waits {
                [measured.elapsed_ns * processors / roles, 0]
            } else {
                [role.user_ns, role.system_ns].map(|ns| scaled(ns as f64))
            };
        }
    }
    trial
}
