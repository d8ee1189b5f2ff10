//! Which rows are worth measuring at the workload, from a first look at all of them.

use super::first_look::first_look;
use super::integration_costs::effort;
use crate::{DecodedRun, Row};
use furlong_model::{Case, Objective, Placement, Shortlist, Workload};
use furlong_stats::sort_by;

/// Rows that sleep and are measured on.
const SLEEPING: usize = 8;
/// Rows that spin and are measured on, where spinning is allowed.
const SPINNING: usize = 3;
/// How much smaller or larger the messages around the workload's are.
const STEP: usize = 16;

/// What is to be best, as far as a first look tells: the smaller, the better.
pub(super) fn figure(workload: &Workload, row: &Row) -> f64 {
    match workload.objective {
        Objective::Cpu => row.cpu_ns(),
        _ => row.exchange.ns.p50,
    }
}

/// The rows that are worth a longer look, at the workload: the best, the best of every family, and the simplest; of
/// those that spin the best few, or one for comparison where spinning is not allowed.
pub fn finalists(run: &DecodedRun) -> Vec<Case> {
    let Some(shortlist) = &run.records.shortlist else { return Vec::new() };
    let at_workload =
        |row: &Row| shortlist.workload.case(&row.case.mechanism, row.case.wait, shortlist.placement);
    chosen(run, shortlist).iter().map(at_workload).collect()
}

/// What says how the answer depends on the workload: the finalists that sleep with smaller and with larger messages,
/// with all processes on one core, and without pinning.
pub fn surroundings(shortlist: &Shortlist, finalists: &[Case]) -> Vec<Case> {
    let size_bytes = shortlist.workload.size_bytes;
    let sizes = [size_bytes / STEP, size_bytes.saturating_mul(STEP)];
    let sizes = sizes.into_iter().filter(|size| (1..=LARGEST_BYTES).contains(size));
    let mut cases = Vec::new();
    for Case { mechanism, wait, .. } in finalists.iter().filter(|case| case.wait.sleeps_in_the_end()) {
        let closed = |size_bytes, place| shortlist.workload.closed_case(mechanism, *wait, size_bytes, place);
        let most = shortlist.candidate(mechanism, *wait).and_then(|candidate| candidate.max_size_bytes);
        let sizes = sizes.clone().filter(|size| most.is_none_or(|most| *size <= most));
        cases.extend(sizes.map(|size| closed(size, shortlist.placement)));
        cases.extend(other_places(shortlist.placement).iter().map(|place| closed(size_bytes, *place)));
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

fn chosen(run: &DecodedRun, shortlist: &Shortlist) -> Vec<Row> {
    let workload = &shortlist.workload;
    let mut rows = first_look(run, shortlist).rows;
    sort_by(&mut rows, |a, b| figure(workload, a).total_cmp(&figure(workload, b)));
    let (sleeping, mut spinning): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.case.wait.sleeps_in_the_end());
    let simplest = sleeping.iter().min_by_key(|row| effort_of(shortlist, row)).cloned();
    let mut chosen: Vec<Row> = simplest.into_iter().collect();
    let add = |row: &Row, chosen: &mut Vec<Row>| {
        if chosen.len() < SLEEPING && !chosen.iter().any(|other| other.case == row.case) {
            chosen.push(row.clone());
        }
    };
    // Kinds of shared memory are much alike, and must not crowd out everything else.
    for most in [1, 2, usize::MAX] {
        for row in &sleeping {
            let of_family = chosen.iter().filter(|other| other.family == row.family).count();
            if of_family < most {
                add(row, &mut chosen);
            }
        }
    }
    spinning.truncate(if workload.spin { SPINNING } else { 1 });
    chosen.extend(spinning);
    chosen
}

fn effort_of(shortlist: &Shortlist, row: &Row) -> u32 {
    let candidate = shortlist.candidate(&row.case.mechanism, row.case.wait);
    candidate.map_or(u32::MAX, |candidate| effort(&candidate.integration_costs))
}
