//! Small measurements in separate processes, each of which is pinned to a CPU and reports figures.

use crate::child_process::{ChildKind, ChildProgram, done};
use crate::control::{Control, Report};
use furlong_os::process::Bond;
use furlong_os::{AsHandle, RawHandle, affinity, clock};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io;

/// The time limit for all processes, in nanoseconds.
const TIMEOUT_NS: u64 = 2_000_000_000;

/// The figures of one process; a figure that it could not measure is `None`.
pub(crate) type Figures = Vec<Option<f64>>;

#[derive(Debug, Serialize, Deserialize)]
struct ProbeConfiguration<T> {
    processor: usize,
    task: T,
}

/// The report of a process.
#[derive(Debug, Serialize, Deserialize)]
struct ProbeReport {
    figures: Figures,
}

/// Starts a process of this kind for each CPU and its task, all in parallel, and returns their figures. A process that
/// does not report in time is killed and has no figures. All inherit the descriptors in `inherit`.
///
/// # Errors
/// Returns an error if a process could not be started.
pub(crate) fn measure<T: Serialize>(
    program: &ChildProgram,
    kind: ChildKind,
    tasks: impl IntoIterator<Item = (usize, T)>,
    inherit: &[RawHandle],
) -> io::Result<Vec<Figures>> {
    let mut started = Vec::new();
    for (processor, task) in tasks {
        let stderr = io::stderr();
        let (child, mut control) =
            program.start(kind, inherit.to_vec(), stderr.as_handle(), Bond::DiesWithParent)?;
        control.send(&ProbeConfiguration { processor, task })?;
        started.push((child, control));
    }
    let deadline_ns = clock::now_ns() + TIMEOUT_NS;
    // The reports of all are awaited before the first of them is killed.
    let figures = started.iter_mut().map(|(_, control)| match done::<ProbeReport>(control, deadline_ns) {
        Ok(measured) => measured.figures,
        Err(_) => Figures::new(),
    });
    Ok(figures.collect())
}

/// Runs a measuring process: calls `body` with its task, on its CPU.
pub(crate) fn run<T: DeserializeOwned>(
    control: &mut Control,
    body: impl FnOnce(T) -> Figures,
) -> io::Result<()> {
    let Some(ProbeConfiguration { processor, task }) = control.receive()? else { return Ok(()) };
    affinity::pin(processor)?;
    control.send(&Report::Done(ProbeReport { figures: body(task) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child_process::tests::program;

    #[test]
    fn every_process_reports_its_figures_and_none_it_did_not_measure() {
        let processor = affinity::allowed().unwrap()[0];
        let measured = |processor: usize| {
            measure(&program(), ChildKind::SpinProbe, [(processor, 1_000_u64), (processor, 2_000)], &[])
                .unwrap()
        };
        let shares = measured(processor);
        assert_eq!(shares.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
        assert!(shares.concat().iter().all(|share| share.is_some_and(|share| (0.0..=1.0).contains(&share))));
        assert_eq!(measured(100_000), [vec![], vec![]], "no machine has this processor");
    }
}
