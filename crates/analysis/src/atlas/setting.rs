//! Settings in which an experiment is repeated, each different from the publication in one axis.

use crate::replay::Replay;
use furlong_model::{Experiment, ExperimentRow, Placement, Target, Wait, WaitKind, Work, named_enum};

named_enum! {
    /// A setting of an experiment.
    Setting, "setting" {
        /// As published.
        Published = "published",
        /// With both processes on one core, if they were on two; or on two cores.
        OtherPlace = "other-place",
        /// With benchmarks that busy-wait.
        BusyWaiting = "busy-waiting",
        /// With benchmarks that sleep while they wait.
        Sleeping = "sleeping",
    }
}

/// Trials of each benchmark in a setting: the fewest with an interval of 95 %.
const TRIALS: u32 = 6;

impl Setting {
    /// Returns the experiment in this setting; `None` if it would be the same as in another one, or if the setting means nothing to
    /// it. `wait` returns a wait strategy of a mechanism that has this kind.
    pub fn apply(
        self,
        published: &Experiment,
        wait: impl Fn(&str, WaitKind) -> Option<Wait>,
    ) -> Option<Experiment> {
        let mut experiment = published.clone();
        experiment.measure.trials = published.measure.trials.min(TRIALS);
        if self == Setting::Published {
            return Some(experiment);
        }
        if !matches!(published.measure.work, Work::Exchange(_)) {
            return None;
        }
        match self {
            Setting::Published => {}
            Setting::OtherPlace => {
                experiment.measure.place = match published.measure.place {
                    Placement::OtherCore => Placement::SameCore,
                    Placement::SameCore => Placement::OtherCore,
                    _ => return None,
                };
            }
            Setting::BusyWaiting => set_wait(&mut experiment, WaitKind::Spinning, wait),
            Setting::Sleeping => set_wait(&mut experiment, WaitKind::Sleeping, wait),
        }
        if experiment.measure.place == Placement::SameCore {
            drop_busy_rows(&mut experiment);
        }
        let is_different =
            experiment.measure.place != published.measure.place || experiment.rows != published.rows;
        let measured = experiment.rows.iter().filter(|row| row.target.is_some()).count();
        (is_different && measured > 1).then_some(experiment)
    }
}

fn set_wait(experiment: &mut Experiment, kind: WaitKind, wait: impl Fn(&str, WaitKind) -> Option<Wait>) {
    let mut targets: Vec<Target> = Vec::new();
    for line in &mut experiment.rows {
        let Some(Target::Row(row)) = &mut line.target else { continue };
        if row.wait.kind() != kind {
            match wait(&row.mechanism, kind) {
                Some(wait) => row.wait = wait,
                None => {
                    leave_out(line);
                    continue;
                }
            }
        }
        match line.target.clone() {
            Some(target) if targets.contains(&target) => leave_out(line),
            target => targets.extend(target),
        }
    }
}

/// Leaves out benchmarks that busy-wait. On one core, each message of theirs takes a time slice.
fn drop_busy_rows(experiment: &mut Experiment) {
    for line in &mut experiment.rows {
        if matches!(&line.target, Some(Target::Row(row)) if row.wait.kind() == WaitKind::Spinning) {
            leave_out(line);
        }
    }
}

/// Leaves out a benchmark that the setting does not have, or has twice.
fn leave_out(line: &mut ExperimentRow) {
    line.target = None;
    line.missing = Some("excluded".to_owned());
}

/// An experiment that was replayed in one setting.
#[derive(Debug, Clone)]
pub struct MeasuredSetting {
    /// The setting.
    pub setting: Setting,
    /// The replay.
    pub replay: Replay,
}
