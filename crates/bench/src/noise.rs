//! The other activity of the machine, measured by a busy loop on each CPU that trials use.

use crate::bare_pair;
use crate::child_process::{ChildKind, ChildProgram};
use crate::plan::Plan;
use crate::probe::{self, Figures};
use furlong_model::{Case, NoiseReading, Placement, WaitKind};
use furlong_os::load;
use furlong_stats::FEWEST_TRIALS;
use std::time::Duration;

/// The time for which each CPU is watched, in nanoseconds.
const SPIN_NS: u64 = 10_000_000;

/// The time after which a sleeping pair has its later pace.
const FIRST_PACE: Duration = Duration::from_millis(100);

/// Returns whether it is worth 0.3 s to measure how the pace of a sleeping pair changes. The plan must have such a
/// pair, end its trials before the change, make enough trials for an interval, and take at least 0.5 s.
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

/// Measures the noise, `at_ns` after the run began. Figures that cannot be measured are left out.
pub fn read(program: &ChildProgram, at_ns: u64, pair: Option<[usize; 2]>) -> NoiseReading {
    let mut reading = load::reading(at_ns);
    if let Some(pair) = pair {
        reading.core_to_core_ns = bare_pair::round_trip_ns(program, pair).ok().flatten();
        let lost: Vec<f64> = pair.iter().filter_map(|processor| spin_lost(program, *processor)).collect();
        reading.spin_lost = (!lost.is_empty()).then(|| lost.iter().sum::<f64>() / lost.len() as f64);
    }
    reading
}

/// Returns the share of time that a process pinned to `processor` lost to other processes while it was busy.
fn spin_lost(program: &ChildProgram, processor: usize) -> Option<f64> {
    let figures = probe::measure(program, ChildKind::SpinProbe, [(processor, SPIN_NS)], &[]).ok()?;
    figures.concat().into_iter().flatten().next()
}

/// Runs a busy loop for this time, in nanoseconds.
pub(crate) fn spin(spin_ns: u64) -> Figures {
    vec![Some(load::spin_lost(spin_ns))]
}
