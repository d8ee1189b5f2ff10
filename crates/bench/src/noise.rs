//! What else the machine is doing: one reading, with a spin on each processor that trials use.

use crate::bare_pair;
use crate::child_process::{ChildKind, ChildProgram};
use crate::plan::Plan;
use crate::probe::{self, Figures};
use furlong_model::{Case, NoiseReading, Placement, WaitKind};
use furlong_os::load;
use furlong_stats::FEWEST_TRIALS;
use std::time::Duration;

/// How long each processor is watched, in nanoseconds.
const SPIN_NS: u64 = 10_000_000;

/// The time after which a pair that sleeps has its later pace.
const FIRST_PACE: Duration = Duration::from_millis(100);

/// Returns whether it is worth a third of a second to measure how the pace of a sleeping pair changes: whether a plan has such a
/// pair, ends its trials before the change, makes enough trials for an interval, and takes half a second or more.
pub(crate) fn depends_on_time(plan: &Plan) -> bool {
    let sleeps = |case: &Case| {
        case.placement == Placement::OtherCore
            && case.wait.kind() == WaitKind::Sleeping
            && case.pattern().is_default()
            && case.arrival.is_closed_loop()
    };
    let time = plan.budget.saturating_mul(plan.trials).saturating_mul(plan.cases.len() as u32);
    plan.trials as usize >= FEWEST_TRIALS
        && time >= Duration::from_millis(500)
        && plan.budget.saturating_add(plan.warm_up.unwrap_or_default()) < FIRST_PACE
        && plan.cases.iter().any(sleeps)
}

/// One reading, `at_ns` after the run began. What cannot be had is left out.
pub fn read(program: &ChildProgram, at_ns: u64, pair: Option<[usize; 2]>) -> NoiseReading {
    let mut reading = load::reading(at_ns);
    if let Some(pair) = pair {
        reading.core_to_core_ns = bare_pair::round_trip_ns(program, pair).ok().flatten();
        let lost: Vec<f64> = pair.iter().filter_map(|processor| spin_lost(program, *processor)).collect();
        reading.spin_lost = (!lost.is_empty()).then(|| lost.iter().sum::<f64>() / lost.len() as f64);
    }
    reading
}

/// The share of a spin on `processor` that it did other things, measured by a process pinned there.
fn spin_lost(program: &ChildProgram, processor: usize) -> Option<f64> {
    let figures = probe::measure(program, ChildKind::SpinProbe, [(processor, SPIN_NS)], &[]).ok()?;
    figures.concat().into_iter().flatten().next()
}

/// Spins for so many nanoseconds.
pub(crate) fn spin(spin_ns: u64) -> Figures {
    vec![Some(load::spin_lost(spin_ns))]
}
