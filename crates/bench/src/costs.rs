//! The costs of the steps of a round trip on this machine, measured between trials.
//!
//! Each figure is the median of several batches in a process that does nothing else. Context switches and wake-ups are
//! not measured here, because their time depends on the wait strategy. They are derived from benchmarks of the same
//! run.

use crate::bare_pair;
use crate::child_process::{ChildKind, ChildProgram};
use crate::probe;
use furlong_loops::single_costs;
use furlong_mechanism::LinkSpecification;
use furlong_model::{Cost, CostFigure, CostReading};
#[cfg(target_os = "linux")]
use furlong_os::{cleanup::CleanUp, linux::sysv_semaphore};
use std::io;

/// The number of batches per figure between two cores.
const BATCHES: usize = 7;

/// The message sizes between cores, in bytes.
const ACROSS_SIZES: [usize; 9] = [8, 64, 128, 512, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20];

/// The message sizes to a core that sleeps, in bytes; for smaller ones no difference can be measured.
const ASLEEP_SIZES: [usize; 4] = [4 << 10, 16 << 10, 64 << 10, 1 << 20];

/// The number of round trips per size.
const ASLEEP_PAIRS: usize = 80;

/// Measures the costs on one CPU, and between two if the run uses two. `at_ns` is the time since the run began.
/// `specification` has names that are free between trials. Figures that cannot be measured are left out.
pub(crate) fn read(
    program: &ChildProgram,
    at_ns: u64,
    processor: usize,
    pair: Option<[usize; 2]>,
    specification: &LinkSpecification,
) -> CostReading {
    let mut figures = on_one(program, processor, specification).unwrap_or_default();
    if let Some(pair) = pair {
        figures.extend(across(
            Cost::CopyAcross,
            &ACROSS_SIZES,
            bare_pair::spinning(program, pair, &ACROSS_SIZES, BATCHES),
        ));
        let asleep = bare_pair::sleeping(program, pair, &ASLEEP_SIZES, ASLEEP_PAIRS);
        figures.extend(across(Cost::CopyAcrossAsleep, &ASLEEP_SIZES, asleep));
    }
    CostReading { at_ns, figures }
}

fn across(cost: Cost, sizes: &[usize], times: io::Result<Vec<Option<f64>>>) -> Vec<CostFigure> {
    let figure = |(size, ns): (&usize, Option<f64>)| {
        // If the noise is larger than the difference, the difference may be negative.
        Some(CostFigure { cost, size_bytes: Some(*size), ns: ns?.max(0.0) })
    };
    sizes.iter().zip(times.unwrap_or_default()).filter_map(figure).collect()
}

fn on_one(
    program: &ChildProgram,
    processor: usize,
    specification: &LinkSpecification,
) -> io::Result<Vec<CostFigure>> {
    // The guard removes the semaphores, even if the process that uses them dies.
    #[cfg(target_os = "linux")]
    let semaphores = sysv_semaphore::create(specification.key, 1).ok();
    #[cfg(target_os = "linux")]
    let _removed = semaphores.map(|set| CleanUp::new(move || sysv_semaphore::remove(set)));
    #[cfg(not(target_os = "linux"))]
    let (semaphores, _): (Option<i32>, _) = (None, specification);
    let figures = probe::measure(program, ChildKind::CostProbe, [(processor, semaphores)], &[])?;
    let figure = |((cost, size_bytes), ns): (_, Option<f64>)| Some(CostFigure { cost, size_bytes, ns: ns? });
    Ok(single_costs::list().zip(figures.concat()).filter_map(figure).collect())
}
