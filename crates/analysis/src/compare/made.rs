//! Runs made of chosen medians, for tests of comparisons.

use super::{Comparison, NamedRun, compare};
use crate::{
    Run,
    fixture::{case, header, measurement, quiet},
};
use furlong_model::{Case, Family, Outcome, Placement, Record, RunHeader, Trial, Wait};
use std::collections::HashMap;

/// The margin of all tests.
pub(crate) const MARGIN: f64 = 0.05;

/// What the trials of a steady row are multiplied with: within 1 %.
pub(crate) const STEADY: [f64; 9] = [1.0, 0.992, 1.008, 0.996, 1.004, 0.994, 1.006, 0.998, 1.002];

/// Makes runs. Trials of nearly the same median are made once.
#[derive(Default)]
pub(crate) struct Maker {
    made: HashMap<(Case, u64), Outcome>,
}

/// A sleeping row across cores, of this number; all of them take equally long.
pub(crate) fn numbered(at: usize) -> Case {
    case(&format!("mechanism-{at}"), Wait::Block, Placement::OtherCore)
}

/// A header, and a quiet machine.
pub(crate) fn beginning() -> [Record; 2] {
    [Record::Run(RunHeader { seed: 7, ..header() }), Record::Noise(quiet(0, 290.0))]
}

impl Maker {
    /// The trials of a case, with these medians in nanoseconds to the nearest thousandth.
    pub(crate) fn trials(&mut self, case: &Case, medians_ns: &[f64]) -> Vec<Record> {
        let mut trials = Vec::new();
        for (number, median_ns) in (0..).zip(medians_ns) {
            let step = 10_f64.powf(median_ns.log10().floor() - 3.0);
            let rounded = (median_ns / step).round() * step;
            let key = (Case { mechanism: String::new(), ..case.clone() }, rounded as u64);
            let made = || Outcome::Measured(measurement(case, rounded, 0));
            let outcome = self.made.entry(key).or_insert_with(made).clone();
            let family = Some(Family::Pipe);
            trials.push(Record::Trial(Trial { case: case.clone(), family, number, outcome }));
        }
        trials
    }

    /// A run on a quiet machine with the same factors for every row, which has this median.
    pub(crate) fn run(&mut self, rows: &[(Case, f64)], factors: &[f64]) -> Run {
        let mut records: Vec<_> = beginning().into();
        for (case, median_ns) in rows {
            let medians: Vec<f64> = factors.iter().map(|factor| median_ns * factor).collect();
            records.extend(self.trials(case, &medians));
        }
        Run::from_records(records).unwrap()
    }
}

/// `new` against `old`.
pub(crate) fn against(old: &Run, new: &Run) -> Comparison {
    let runs = [NamedRun { name: "before", run: old }, NamedRun { name: "after", run: new }];
    compare(&runs, MARGIN).unwrap()
}
