//! The first look at every row that may serve: three short trials each.

use crate::{DecodedRun, Summary};
use furlong_model::{Case, Shortlist, Trial};

/// The summary of the first look alone.
pub(super) fn first_look(run: &DecodedRun, shortlist: &Shortlist) -> Summary {
    let is_first = |trial: &Trial| {
        let Case { mechanism, wait, .. } = &trial.case;
        let size_bytes = shortlist.workload.size_bytes;
        trial.number < shortlist.first_look_trials
            && trial.case == shortlist.workload.closed_case(mechanism, *wait, size_bytes, shortlist.placement)
    };
    run.only(is_first).summary
}
