//! Costs of the parts of a round trip on this machine, each with its confidence interval.

use crate::{
    DecodedRun, Run,
    reference::{AwaitedEvent, ReferenceFigure, References},
};
use furlong_model::Cost;
use furlong_stats::{Curve, SortedMap, median, median_interval, tidy};
use serde::Serialize;

/// Version of [`Costs`] as JSON. It changes if a field changes its meaning or is removed.
pub const COSTS_SCHEMA: u32 = 2;

/// Name of the switch from one role to the other on one core.
pub const CONTEXT_SWITCH: &str = "context-switch";
/// Name of the wake-up of a role that blocks on another core.
pub const WAKE_UP: &str = "wake-up";

/// System calls that read and write file descriptors of any kind.
pub(crate) const FILES: [&str; 4] = ["read", "write", "readv", "writev"];
/// System calls for sockets only.
pub(crate) const SOCKETS: [&str; 6] = ["recvfrom", "sendto", "recvmsg", "sendmsg", "recvmmsg", "sendmmsg"];
/// System calls that wait for file descriptors.
const POLLS: [&str; 7] = ["poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"];

/// Costs of one machine during one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Costs {
    /// [`COSTS_SCHEMA`].
    pub schema: u32,
    /// Costs of one size first, then the others by size.
    pub figures: Vec<CostEstimate>,
}

/// One cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostEstimate {
    /// Name of the cost, for example `system-call`.
    pub name: String,
    /// Size in bytes, for costs that depend on it.
    pub size_bytes: Option<usize>,
    /// Nanoseconds: the median over the readings, or over the benchmarks that it is derived from.
    pub ns: f64,
    /// 95 % confidence interval; `None` for fewer than three readings or trials.
    pub ci95: Option<[f64; 2]>,
    /// Number of readings or benchmarks.
    pub looks: usize,
    /// Benchmarks that it is derived from, as `mechanism/wait`; empty for a direct measurement.
    pub from: Vec<String>,
    /// Smallest and largest value among those benchmarks; `None` for a direct measurement.
    pub spread: Option<[f64; 2]>,
}

impl Costs {
    /// Computes all costs that the records of `run` contain.
    pub fn of(run: &DecodedRun) -> Self {
        Costs::excluding(run, None)
    }

    /// Computes the costs without the benchmarks of the mechanism `excluded`. Costs are never fitted to the benchmark that
    /// they explain.
    pub(crate) fn excluding(run: &DecodedRun, excluded: Option<&str>) -> Self {
        let looks = looks(run.records);
        let measured = looks.iter().filter_map(|((cost, size), looks)| measured(*cost, *size, looks));
        let (mut figures, by_size): (Vec<_>, Vec<_>) =
            measured.partition(|figure| figure.size_bytes.is_none());
        let references = run.references();
        let figure = |waiting| ReferenceFigure::of(&references, waiting, excluded);
        let switch = figure(AwaitedEvent::OneCore).map(|figure| from_rows(CONTEXT_SWITCH, figure));
        let wake_up = figure(AwaitedEvent::TwoCores).map(|figure| from_rows(WAKE_UP, figure));
        figures.extend([switch, wake_up].into_iter().flatten());
        figures.extend(by_size);
        Costs { schema: COSTS_SCHEMA, figures }
    }

    /// Returns the nanoseconds of the cost with this name among those without a size; never below 0.
    pub fn ns(&self, name: &str) -> Option<f64> {
        self.figure(name).map(|figure| figure.ns.max(0.0))
    }

    /// Returns the nanoseconds of a system call with this name, if calls of its kind were measured directly.
    pub fn call_ns(&self, name: &str) -> Option<f64> {
        let half = |cost: Cost| Some(self.ns(cost_name(cost))? / 2.0);
        match name {
            name if FILES.contains(&name) => half(Cost::PipeTransfer),
            name if SOCKETS.contains(&name) => half(Cost::SocketTransfer),
            name if POLLS.contains(&name) => self.ns(cost_name(Cost::Poll)),
            "semop" | "semtimedop" => half(Cost::SysvSemaphore),
            "futex" => Some(half(Cost::FutexWake)? + half(Cost::FutexWait)?),
            _ => None,
        }
    }

    /// Returns the cost with this name among those without a size.
    pub fn figure(&self, name: &str) -> Option<&CostEstimate> {
        self.figures.iter().find(|figure| figure.name == name && figure.size_bytes.is_none())
    }

    /// Returns the nanoseconds to copy `size_bytes` once, within the caches of one core as far as they suffice.
    pub fn copy_ns(&self, size_bytes: usize) -> Option<f64> {
        if size_bytes == 0 { Some(0.0) } else { self.curve(Cost::Copy).at(size_bytes) }
    }

    /// Returns the nanoseconds that a message of `size_bytes` takes from one core to another. This is the whole time if the
    /// reader busy-waits. If the reader is `sleeping`, it is the additional time compared with 8 bytes.
    pub fn across_ns(&self, size_bytes: usize, sleeping: bool) -> Option<f64> {
        let cost = if sleeping { Cost::CopyAcrossAsleep } else { Cost::CopyAcross };
        self.curve(cost).at(size_bytes)
    }

    fn curve(&self, cost: Cost) -> Curve {
        let points = self.figures.iter().filter(|figure| figure.name == cost_name(cost));
        Curve::new(points.filter_map(|figure| Some((figure.size_bytes?, figure.ns))))
    }
}

/// Returns the medians of all costs that [`Costs::of`] computes, in nanoseconds, by name and size.
pub(crate) fn cost_medians(found: &References) -> Vec<((String, Option<usize>), f64)> {
    let of_looks = looks(found.run).into_iter().filter_map(|((cost, size_bytes), looks)| {
        Some(((cost_name(cost).to_owned(), size_bytes), tidy(median(&looks)?)))
    });
    let of_rows = [(CONTEXT_SWITCH, AwaitedEvent::OneCore), (WAKE_UP, AwaitedEvent::TwoCores)];
    let of_rows =
        of_rows.into_iter().filter_map(|(name, waiting)| Some(((name.to_owned(), None), found.ns(waiting)?)));
    of_looks.chain(of_rows).collect()
}

/// Returns the readings of each cost, by its size.
fn looks(run: &Run) -> SortedMap<(Cost, Option<usize>), Vec<f64>> {
    let mut looks: SortedMap<_, Vec<f64>> = SortedMap::default();
    for figure in run.costs.iter().flat_map(|reading| &reading.figures) {
        looks.or_default((figure.cost, figure.size_bytes)).push(figure.ns);
    }
    looks
}

/// Returns a directly measured cost, from its readings.
fn measured(cost: Cost, size_bytes: Option<usize>, looks: &[f64]) -> Option<CostEstimate> {
    Some(CostEstimate {
        name: cost_name(cost).to_owned(),
        size_bytes,
        ns: tidy(median(looks)?),
        ci95: median_interval(looks).map(|ends| ends.map(tidy)),
        looks: looks.len(),
        from: Vec::new(),
        spread: None,
    })
}

fn from_rows(name: &str, figure: ReferenceFigure) -> CostEstimate {
    CostEstimate {
        name: name.to_owned(),
        size_bytes: None,
        ns: figure.ns,
        ci95: figure.ci95,
        looks: figure.from.len(),
        from: figure.from,
        spread: Some(figure.spread),
    }
}

/// Returns the name of a cost in records.
pub const fn cost_name(cost: Cost) -> &'static str {
    match cost {
        Cost::ClockRead => "clock-read",
        Cost::SystemCall => "system-call",
        Cost::FutexWake => "futex-wake",
        Cost::FutexWait => "futex-wait",
        Cost::PosixSemaphore => "posix-semaphore",
        Cost::SysvSemaphore => "sysv-semaphore",
        Cost::PipeTransfer => "pipe-transfer",
        Cost::SocketTransfer => "socket-transfer",
        Cost::Poll => "poll",
        Cost::PageFault => "page-fault",
        Cost::Copy => "copy",
        Cost::CopyAcross => "copy-across",
        Cost::CopyAcrossAsleep => "copy-across-asleep",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{
        costs, costs::EVENTFD, costs::EVERYWHERE, costs::PIPE, costs::RunBuilder, costs::SEMAPHORE,
    };
    use furlong_model::{CostFigure, CostReading, Placement, Wait};

    /// Checks a value within 2 %, the error due to the buckets of a histogram and an even number of values.
    fn close(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found / expected - 1.0).abs() < 0.02, "{found} is not {expected}");
    }

    #[test]
    fn names_are_those_of_records() {
        for cost in [
            Cost::ClockRead,
            Cost::SystemCall,
            Cost::FutexWake,
            Cost::FutexWait,
            Cost::PosixSemaphore,
            Cost::SysvSemaphore,
            Cost::PipeTransfer,
            Cost::SocketTransfer,
            Cost::Poll,
            Cost::PageFault,
            Cost::Copy,
            Cost::CopyAcross,
            Cost::CopyAcrossAsleep,
        ] {
            assert_eq!(serde_json::to_value(cost).unwrap(), cost_name(cost));
        }
    }

    #[test]
    fn known_costs_are_found_again() {
        let costs = Costs::of(&DecodedRun::of(&RunBuilder::with_references().run()));
        close(costs.ns("system-call"), costs::CALL);
        close(costs.ns(CONTEXT_SWITCH), costs::SWITCH);
        close(costs.ns(WAKE_UP), costs::WAKE);
        close(costs.copy_ns(4096), costs::copy(4096));
        close(costs.across_ns(4096, false), costs::across(4096));
        close(costs.across_ns(4096, true), costs::across_asleep(4096));
        assert_eq!((costs.copy_ns(0), costs.ns("clock-read")), (Some(0.0), None));
    }

    #[test]
    fn each_has_an_interval_and_says_where_it_comes_from() {
        let costs = Costs::of(&DecodedRun::of(&RunBuilder::with_references().run()));
        for figure in &costs.figures {
            let [low, high] = figure.ci95.unwrap();
            assert!(low <= figure.ns && figure.ns <= high, "{figure:?}");
        }
        let wake_up = costs.figure(WAKE_UP).unwrap();
        assert_eq!(wake_up.from, ["eventfd/eventfd", "posix-semaphore/posix-semaphore", "signal/signal"]);
        let [least, most] = wake_up.spread.unwrap();
        assert!(least <= wake_up.ns && wake_up.ns <= most && wake_up.looks == 3, "{wake_up:?}");
        assert_eq!(costs.figure("system-call").unwrap().looks, 5);
    }

    /// Returns the benchmarks that the context switch in `made` is derived from.
    fn from(made: RunBuilder, excluded: Option<&str>) -> Vec<String> {
        let costs = Costs::excluding(&DecodedRun::of(&made.run()), excluded);
        costs.figure(CONTEXT_SWITCH).map(|figure| figure.from.clone()).unwrap_or_default()
    }

    #[test]
    fn a_mechanism_can_be_left_out() {
        let left = ["posix-semaphore/posix-semaphore", "signal/signal"];
        assert_eq!(from(RunBuilder::with_references(), Some(EVENTFD.name)), left);
        let lone = RunBuilder::quiet_machine().row(&EVENTFD, &EVERYWHERE);
        assert_eq!(from(lone.clone(), Some(SEMAPHORE.name)), ["eventfd/eventfd"]);
        assert_eq!(from(lone, Some(EVENTFD.name)), [""; 0]);
    }

    #[test]
    fn only_rows_that_wait_without_calls_of_their_own_are_references() {
        let nothing = [""; 0];
        assert_eq!(
            from(RunBuilder::quiet_machine().row(&PIPE, &EVERYWHERE), None),
            nothing,
            "it carries data"
        );
        let spins = costs::Recipe { wait: Wait::Spin, ..EVENTFD };
        assert_eq!(
            from(RunBuilder::quiet_machine().row(&spins, &EVERYWHERE), None),
            nothing,
            "it does not sleep"
        );
        let no_twin = RunBuilder::quiet_machine().row(&EVENTFD, &EVERYWHERE[1..]);
        assert_eq!(from(no_twin, None), nothing, "there is nothing to compare with");
        let polls = costs::Recipe { calls: 3, ..EVENTFD };
        let more_calls = RunBuilder::quiet_machine()
            .row(&EVENTFD, &[Placement::OneProcess])
            .row(&polls, &[Placement::SameCore]);
        assert_eq!(from(more_calls, None), nothing, "it makes more calls to wait");
    }

    /// Returns the costs after `change` to a run that contains everything.
    fn changed(change: impl FnOnce(&mut Run)) -> Costs {
        let mut run = RunBuilder::with_references().run();
        change(&mut run);
        Costs::of(&DecodedRun::of(&run))
    }

    #[test]
    fn what_was_not_recorded_is_left_out() {
        let no_counts = changed(|run| run.counts.clear());
        assert_eq!(no_counts.ns(CONTEXT_SWITCH), None);
        let nothing = changed(|run| (run.costs, run.trials) = (Vec::new(), Vec::new()));
        assert_eq!(nothing, Costs { schema: COSTS_SCHEMA, figures: Vec::new() });
        assert_eq!((nothing.copy_ns(8), nothing.across_ns(8, true)), (None, None));
    }

    #[test]
    fn rows_that_never_switch_divide_nothing_by_zero() {
        let costs = changed(|run| {
            for trial in &mut run.trials {
                if let furlong_model::Outcome::Measured(measured) = &mut trial.outcome {
                    measured.roles.iter_mut().for_each(|role| role.voluntary_switches = 0);
                }
            }
        });
        assert_eq!((costs.ns(CONTEXT_SWITCH), costs.ns(WAKE_UP)), (None, None));
    }

    #[test]
    fn impossible_figures_are_no_less_than_nothing() {
        let figure = |cost, size_bytes, ns| CostFigure { cost, size_bytes, ns };
        let look = CostReading {
            at_ns: 0,
            figures: vec![
                figure(Cost::SystemCall, None, -5.0),
                figure(Cost::Copy, Some(0), 1e308),
                figure(Cost::Copy, Some(usize::MAX), -1e308),
            ],
        };
        let costs = changed(|run| run.costs = vec![look.clone(), look]);
        assert_eq!((costs.ns("system-call"), costs.copy_ns(64)), (Some(0.0), Some(0.0)));
    }
}
