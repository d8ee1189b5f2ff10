//! Which candidates are measured longer, from an early look at all of them.

use super::early_look::{by_objective, early_look, effort_of};
use crate::{DecodedRun, Row};
use furlong_model::{Case, Objective, Placement, Shortlist};

/// Most rows that sleep and are measured on.
pub const SLEEPING: usize = 8;
/// Rows that spin and are measured on, where spinning is allowed.
pub const SPINNING: usize = 3;
/// How much smaller or larger the messages around the workload's are.
const STEP: usize = 16;

/// Returns the candidates that are measured longer, of which at most `most` sleep: the simplest; if only the newest message counts, the
/// best that replaces older ones; then the best of each family, the second best of each and the rest, each in the order of the early look; of those that spin the best few, or one for comparison if
/// spinning is not allowed. If the least work is the objective, all that are as simple as the simplest come first.
pub fn finalists(run: &DecodedRun, most: usize) -> Vec<Case> {
    let Some(shortlist) = &run.records.shortlist else { return Vec::new() };
    let at_workload =
        |row: &Row| shortlist.workload.case(&row.case.mechanism, row.case.wait, shortlist.placement);
    chosen(run, shortlist, most).iter().map(at_workload).collect()
}

/// Returns the cases that show how the answer depends on the workload: the finalists that sleep as fast as they go; and at
/// the rate that was asked with smaller and with larger messages, with all processes on one core, and without pinning.
pub fn surroundings(shortlist: &Shortlist, finalists: &[Case]) -> Vec<Case> {
    let size_bytes = shortlist.workload.size_bytes;
    let sizes = [size_bytes / STEP, size_bytes.saturating_mul(STEP)];
    let sizes = sizes.into_iter().filter(|size| (1..=LARGEST_BYTES).contains(size));
    let mut cases = Vec::new();
    for at_workload in finalists.iter().filter(|case| case.wait.sleeps_in_the_end()) {
        let Case { mechanism, wait, .. } = at_workload;
        let at = |size_bytes, place| Case { size_bytes, ..shortlist.workload.case(mechanism, *wait, place) };
        if !at_workload.arrival.is_closed_loop() {
            cases.push(shortlist.workload.closed_case(mechanism, *wait, size_bytes, shortlist.placement));
        }
        let most = shortlist.candidate(mechanism, *wait).and_then(|candidate| candidate.max_size_bytes);
        let sizes = sizes.clone().filter(|size| most.is_none_or(|most| *size <= most));
        cases.extend(sizes.map(|size| at(size, shortlist.placement)));
        cases.extend(other_places(shortlist.placement).iter().map(|place| at(size_bytes, *place)));
    }
    cases
}

/// Where else the finalists are tried: unpinned, as most programs run, and on one core where two were asked.
fn other_places(place: Placement) -> &'static [Placement] {
    match place {
        Placement::OtherCore => &[Placement::SameCore, Placement::Free],
        Placement::Free => &[],
        _ => &[Placement::Free],
    }
}

/// Messages beyond this take so long that a glance at them is none.
const LARGEST_BYTES: usize = 16 << 20;

fn chosen(run: &DecodedRun, shortlist: &Shortlist, most: usize) -> Vec<Row> {
    let rows = by_objective(&early_look(run, shortlist), shortlist).into_iter().map(|(row, _)| row);
    let (sleeping, mut spinning): (Vec<Row>, Vec<Row>) =
        rows.partition(|row| row.case.wait.sleeps_in_the_end());
    let simplest = sleeping.iter().min_by_key(|row| effort_of(shortlist, row)).cloned();
    let mut chosen: Vec<Row> = simplest.into_iter().collect();
    let add = |row: &Row, chosen: &mut Vec<Row>| {
        if chosen.len() < most && !chosen.iter().any(|other| other.case == row.case) {
            chosen.push(row.clone());
        }
    };
    if shortlist.workload.objective == Objective::Simplicity {
        let least = chosen.first().map(|row| effort_of(shortlist, row));
        let simplest = |row: &&Row| Some(effort_of(shortlist, row)) == least;
        // The simplest may all miss the SLO.
        let room = usize::from(shortlist.workload.slo.is_some());
        for row in sleeping.iter().filter(simplest).take(most.saturating_sub(room)) {
            add(row, &mut chosen);
        }
    }
    if shortlist.workload.latest {
        let replaces_older = |row: &&Row| {
            let candidate = shortlist.candidate(&row.case.mechanism, row.case.wait);
            candidate.is_some_and(|candidate| candidate.replaces_older)
        };
        if let Some(row) = sleeping.iter().find(replaces_older) {
            add(row, &mut chosen);
        }
    }
    // Kinds of shared memory are much alike, and must not crowd out everything else.
    for of_each in [1, 2, usize::MAX] {
        for row in &sleeping {
            let of_family = chosen.iter().filter(|other| other.family == row.family).count();
            if of_family < of_each {
                add(row, &mut chosen);
            }
        }
    }
    spinning.truncate(if shortlist.workload.spin { SPINNING.min(most) } else { 1 });
    chosen.extend(spinning);
    chosen
}
