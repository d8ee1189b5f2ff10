//! Which candidates are measured longer, from an early look at all of them.

use super::early_look::{by_figure, early_look};
use super::integration_costs::effort;
use crate::{DecodedRun, Row};
use furlong_model::{Case, Placement, Shortlist};

/// Most rows that sleep and are measured on.
pub const SLEEPING: usize = 8;
/// Rows that spin and are measured on, where spinning is allowed.
const SPINNING: usize = 3;
/// How much smaller or larger the messages around the workload's are.
const STEP: usize = 16;

/// Returns the candidates that are measured longer, of which `most` sleep: the simplest, the best of every family and the
/// best; of those that spin the best few, or one for comparison if spinning is not allowed.
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
    let rows = by_figure(&early_look(run, shortlist), shortlist).into_iter().map(|(row, _)| row);
    let (sleeping, mut spinning): (Vec<Row>, Vec<Row>) =
        rows.partition(|row| row.case.wait.sleeps_in_the_end());
    let simplest = sleeping.iter().min_by_key(|row| effort_of(shortlist, row)).cloned();
    let mut chosen: Vec<Row> = simplest.into_iter().collect();
    let add = |row: &Row, chosen: &mut Vec<Row>| {
        if chosen.len() < most && !chosen.iter().any(|other| other.case == row.case) {
            chosen.push(row.clone());
        }
    };
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

fn effort_of(shortlist: &Shortlist, row: &Row) -> u32 {
    let candidate = shortlist.candidate(&row.case.mechanism, row.case.wait);
    candidate.map_or(u32::MAX, |candidate| effort(&candidate.integration_costs))
}
