//! A run made by formula from known costs, so that a test knows what every round trip consists of.

use crate::{
    Run,
    fixture::{SHARED_MEMORY, THROUGH_THE_KERNEL, case, count, header, measurement, quiet},
};
use furlong_model::{
    Bounds, Case, Copies, Cost, CostFigure, CostReading, Count, Family, Outcome, Placement, Record, Trial,
    Wait, WaitKind,
};
use std::collections::BTreeMap;

/// Nanoseconds of a system call.
pub(crate) const CALL: f64 = 60.0;
/// Nanoseconds of a context switch on one core.
pub(crate) const SWITCH: f64 = 1600.0;
/// Nanoseconds of waking another core.
pub(crate) const WAKE: f64 = 12_500.0;
/// Nanoseconds of a page fault.
pub(crate) const FAULT: f64 = 250.0;

/// What the trials of a row, and the looks at a cost, are multiplied with.
const FACTORS: [f64; 5] = [1.0, 0.99, 1.01, 0.995, 1.005];
/// Sizes at which copying was looked at.
const SIZES: [usize; 6] = [64, 512, 4096, 32 << 10, 256 << 10, 4 << 20];

/// Nanoseconds of a copy.
pub(crate) fn copy(size: usize) -> f64 {
    2.0 + size as f64 / 16.0
}

/// Nanoseconds of a message between two cores that spin.
pub(crate) fn across(size: usize) -> f64 {
    120.0 + size as f64 / 5.0
}

/// Nanoseconds more than one of 8 bytes, where the reader sleeps.
pub(crate) fn across_asleep(size: usize) -> f64 {
    size as f64 / 4.0
}

/// What a mechanism does in a round trip.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe {
    /// The mechanism's name.
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    pub(crate) wait: Wait,
    pub(crate) size: usize,
    /// System calls of each role.
    pub(crate) calls: u64,
    /// Copies of a message.
    pub(crate) copies: f64,
    /// Nanoseconds of its own.
    pub(crate) own: f64,
}

/// Two calls in each role, and two copies.
pub(crate) const PIPE: Recipe = Recipe {
    name: THROUGH_THE_KERNEL,
    family: Family::Pipe,
    wait: Wait::Block,
    size: 4096,
    calls: 2,
    copies: 2.0,
    own: 700.0,
};
/// The same for small messages.
pub(crate) const SMALL_PIPE: Recipe = Recipe { size: 128, ..PIPE };
/// No call at all.
pub(crate) const SPINNER: Recipe = Recipe {
    name: SHARED_MEMORY,
    family: Family::Memory,
    wait: Wait::Spin,
    size: 4096,
    calls: 0,
    copies: 2.0,
    own: 40.0,
};
/// It carries nothing.
pub(crate) const EVENTFD: Recipe = Recipe {
    name: "eventfd",
    family: Family::Notification,
    wait: Wait::Eventfd,
    size: 8,
    calls: 2,
    copies: 0.0,
    own: 300.0,
};
/// Another that carries nothing.
pub(crate) const SEMAPHORE: Recipe =
    Recipe { name: "posix-semaphore", wait: Wait::PosixSemaphore, size: 0, own: 150.0, ..EVENTFD };
/// A third.
pub(crate) const SIGNAL: Recipe = Recipe { name: "signal", wait: Wait::Signal, own: 2000.0, ..EVENTFD };

/// Everywhere that a row can be.
pub(crate) const EVERYWHERE: [Placement; 3] =
    [Placement::OneProcess, Placement::SameCore, Placement::OtherCore];

impl Recipe {
    pub(crate) fn case(&self, placement: Placement) -> Case {
        Case { size_bytes: self.size, ..case(self.name, self.wait, placement) }
    }

    /// Nanoseconds of a round trip, by the model that is to be found again.
    pub(crate) fn ns(&self, placement: Placement) -> f64 {
        let copies = 2.0 * self.copies * copy(self.size);
        let alone = 2.0 * self.calls as f64 * CALL + copies + self.own;
        let lines = |across: f64| 2.0 * (across - 2.0 * copy(self.size)).max(0.0);
        alone
            + match (placement, self.wait.kind()) {
                (Placement::OneProcess, _) => 0.0,
                (Placement::SameCore, _) => 2.0 * SWITCH,
                (_, WaitKind::Sleeping) => 2.0 * WAKE + lines(across_asleep(self.size)),
                (_, WaitKind::Spinning) => lines(across(self.size)),
            }
    }

    fn trials(&self, placement: Placement) -> impl Iterator<Item = Trial> {
        let case = self.case(placement);
        (0..).zip(FACTORS).map(move |(number, factor)| {
            let mut measured = measurement(&case, self.ns(placement) * factor, 0);
            if placement == Placement::OneProcess {
                measured.roles.truncate(1);
                measured.roles[0].voluntary_switches = 0;
            }
            let outcome = Outcome::Measured(measured);
            Trial { case: case.clone(), family: Some(self.family), number, outcome }
        })
    }

    fn count(&self, placement: Placement) -> Count {
        let mut count = count(&self.case(placement), "read", 500);
        count.family = Some(self.family);
        count.copies = Some(if self.copies < 2.0 { Copies::One } else { Copies::Two });
        let in_one = placement == Placement::OneProcess;
        count.roles.truncate(if in_one { 1 } else { 2 });
        for role in &mut count.roles {
            let calls = if in_one { 2 * self.calls } else { self.calls };
            let made = BTreeMap::from([("read".to_owned(), 500 * calls)]);
            role.system_calls = Some(made);
        }
        count.declared = BTreeMap::from([("read".to_owned(), Bounds { least: 0, most: None })]);
        count
    }
}

/// The records of a run so far.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    records: Vec<Record>,
}

impl Made {
    /// A quiet machine, and five looks at its costs.
    pub(crate) fn new() -> Self {
        let mut records = vec![Record::Run(header()), Record::Noise(quiet(0, 290.0))];
        records.extend(FACTORS.iter().map(|factor| Record::Costs(look(*factor))));
        Made { records }
    }

    /// With the rows that carry nothing.
    pub(crate) fn with_references() -> Self {
        [EVENTFD, SEMAPHORE, SIGNAL].iter().fold(Made::new(), |made, recipe| made.row(recipe, &EVERYWHERE))
    }

    /// With a row in each of `placements`, measured and counted.
    pub(crate) fn row(mut self, recipe: &Recipe, placements: &[Placement]) -> Self {
        for placement in placements {
            self.records.extend(recipe.trials(*placement).map(Record::Trial));
            self.records.push(Record::Count(recipe.count(*placement)));
        }
        self
    }

    pub(crate) fn records(self) -> Vec<Record> {
        self.records
    }

    pub(crate) fn run(self) -> Run {
        Run::from_records(self.records).unwrap()
    }
}

fn look(factor: f64) -> CostReading {
    let figure = |cost, size_bytes, ns: f64| CostFigure { cost, size_bytes, ns: ns * factor };
    let by_size = |cost, ns: fn(usize) -> f64| SIZES.map(|size| figure(cost, Some(size), ns(size)));
    let mut figures = vec![figure(Cost::SystemCall, None, CALL), figure(Cost::PageFault, None, FAULT)];
    figures.extend(by_size(Cost::Copy, copy));
    figures.extend(by_size(Cost::CopyAcross, across));
    figures.extend(by_size(Cost::CopyAcrossAsleep, across_asleep));
    CostReading { at_ns: 0, figures }
}
