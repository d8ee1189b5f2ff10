//! The first look at every row that may serve: three short trials each.

use crate::{Run, Summary, summarise};
use furlong_model::{Case, Shortlist, Trial};

/// The summary of the first look alone.
pub(super) fn first_look(run: &Run, shortlist: &Shortlist) -> Summary {
    let is_first = |trial: &Trial| {
        let Case { mechanism, wait, .. } = &trial.case;
        let size_bytes = shortlist.workload.size_bytes;
        trial.number < shortlist.first_look_trials
            && trial.case == shortlist.workload.closed_case(mechanism, *wait, size_bytes, shortlist.placement)
    };
    summarise(&only(run, is_first))
}

/// The run with some of its trials.
pub(super) fn only(run: &Run, keep: impl Fn(&Trial) -> bool) -> Run {
    let mut run = run.clone();
    run.trials.retain(keep);
    run
}
