//! Saved runs rewritten: other times, other numbers of trials, other machines, without measuring again.

use super::Place;
use base64::{Engine, engine::general_purpose::STANDARD};
use furlong_analysis::Run;
use furlong_model::{Outcome, Record, Trial};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer, Serializer, V2DeflateSerializer},
};
use std::fs;

impl Place {
    /// Writes a run as if it had been saved under `name`.
    pub fn write_run(&self, name: &str, records: &[Record]) {
        let line = |record: &Record| serde_json::to_string(record).expect("a record") + "\n";
        let path = self.saved(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the data folder");
        fs::write(path, records.iter().map(line).collect::<String>()).expect("a file in it");
    }
}

/// A run of the same rows on a machine without a word of noise, in which each row has a trial for each of these
/// factors: its first one, with all times multiplied.
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

/// The trial with its times multiplied.
fn multiplied(trial: &Trial, factor: f64) -> Trial {
    let mut trial = trial.clone();
    if let Outcome::Measured(measured) = &mut trial.outcome {
        let bytes = STANDARD.decode(&measured.histogram).expect("base64");
        let times: Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a histogram");
        let scaled = |ns: u64| (ns as f64 * factor).round() as u64;
        let mut slower = Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3).expect("sound bounds");
        for step in times.iter_recorded() {
            let middle = times.median_equivalent(step.value_iterated_to());
            slower.record_n(scaled(middle), step.count_at_value()).expect("a time within bounds");
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&slower, &mut bytes).expect("memory takes it");
        (measured.histogram, measured.elapsed_ns) = (STANDARD.encode(bytes), scaled(measured.elapsed_ns));
        for role in &mut measured.roles {
            role.involuntary_switches = 0;
        }
    }
    trial
}
