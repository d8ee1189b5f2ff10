//! Selection of the candidates for longer measurement, from an early look at all of them.

use super::early_look::{by_objective, early_look, effort_of, is_at_workload};
use super::integration_costs::effort;
use crate::{DecodedRun, Row, SkippedCase, SkippedStatus};
use furlong_model::{Case, Objective, Placement, Shortlist};

/// Maximum number of blocking finalists.
pub const SLEEPING: usize = 8;
/// Number of busy-waiting finalists, if busy-waiting is allowed.
pub const SPINNING: usize = 3;
/// Factor between the message sizes around that of the workload.
const STEP: usize = 16;

/// Returns the candidates for longer measurement, at most `most` of which block. The simplest candidate comes first. If
/// only the newest message counts, the best candidate that replaces older messages follows. Then come the best of each
/// family, the second best of each, and the rest, in the order of the early look.
///
/// If the objective is the least work, all candidates that are as simple as the simplest come first. The best busy-waiting
/// candidates are added, or a single one for comparison if busy-waiting is not allowed.
pub fn finalists(run: &DecodedRun, most: usize) -> Vec<Case> {
    let Some(shortlist) = &run.records.shortlist else { return Vec::new() };
    let at_workload =
        |row: &Row| shortlist.workload.case(&row.case.mechanism, row.case.wait, shortlist.placement);
    chosen(run, shortlist, most).iter().map(at_workload).collect()
}

/// Returns the cases that show how the answer depends on the workload. They run the blocking finalists as fast as possible.
/// At the requested rate, they use smaller and larger messages, all processes on one core, and no pinning.
pub fn surroundings(shortlist: &Shortlist, finalists: &[Case]) -> Vec<Case> {
    let size_bytes = shortlist.workload.size_bytes;
    let sizes = [size_bytes / STEP, size_bytes.saturating_mul(STEP)];
    let is_replayed = shortlist.workload.observed.as_ref().is_some_and(|it| !it.conditions.is_empty());
    let sizes = sizes.into_iter().filter(|size| (1..=LARGEST_BYTES).contains(size) && !is_replayed);
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

/// Returns the cases that show the cost of the measured boundary and what it forbids: without it, the blocking finalists, and the
/// candidates that it forbids with the least integration effort. Returns nothing if it affects none of them.
pub fn without_boundary(run: &DecodedRun, finalists: &[Case]) -> Vec<Case> {
    let Some(shortlist) = &run.records.shortlist else { return Vec::new() };
    let Some(workload) = shortlist.workload.without_boundary() else { return Vec::new() };
    let candidate = |case: &Case| shortlist.candidate(&case.mechanism, case.wait);
    let is_forbidden = |entry: &&SkippedCase| {
        entry.status == SkippedStatus::Refused && is_at_workload(shortlist, &entry.case)
    };
    let forbidden = run.summary.skipped.iter().filter(is_forbidden).map(|entry| &entry.case);
    let mut forbidden: Vec<&Case> = forbidden.filter(|case| case.wait.sleeps_in_the_end()).collect();
    forbidden.sort_by_key(|case| candidate(case).map(|candidate| effort(&candidate.integration_costs)));
    let finalists = finalists.iter().filter(|case| case.wait.sleeps_in_the_end());
    let cases: Vec<&Case> = finalists.chain(forbidden.into_iter().take(FORBIDDEN)).collect();
    let is_affected = |case: &&Case| candidate(case).is_some_and(|candidate| candidate.is_affected);
    if !cases.iter().any(is_affected) {
        return Vec::new();
    }
    cases.iter().map(|case| workload.case(&case.mechanism, case.wait, shortlist.placement)).collect()
}

/// Returns the other placements of the finalists: unpinned, like most programs, and on one core if two were requested.
fn other_places(place: Placement) -> &'static [Placement] {
    match place {
        Placement::OtherCore => &[Placement::SameCore, Placement::Free],
        Placement::Free => &[],
        _ => &[Placement::Free],
    }
}

/// Maximum number of forbidden candidates that are measured without the boundary.
const FORBIDDEN: usize = 2;
/// Maximum message size, because larger messages take too long for a short look.
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
        // All of the simplest candidates may miss the SLO, so one place is left for another.
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
    // Kinds of shared memory are similar and must not displace all other mechanisms.
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
    // The gain of a switch needs the observed mechanism, however slow it is.
    if let Some((mechanism, wait)) = shortlist.workload.observed.as_ref().and_then(|it| it.benchmark.as_ref())
    {
        let is_observed = |row: &&Row| (&row.case.mechanism, row.case.wait) == (mechanism, *wait);
        let is_missing = !chosen.iter().any(|row| is_observed(&row));
        chosen.extend(sleeping.iter().filter(|_| is_missing).find(is_observed).cloned());
    }
    chosen
}
