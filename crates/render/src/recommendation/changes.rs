//! Changes of the workload that would change the answer.

use super::super::object::JudgedSentences;
use super::workload::limit;
use furlong_analysis::text::{format_ratio, plain, three_digits};
use furlong_analysis::{Recommendation, Sensitivity, WorkloadChange};
use furlong_model::{Objective, Placement, format_bytes, is_one};

/// Changes in the summary.
const SUMMARIZED: usize = 3;

/// Options that change the answer, and their meanings.
const KNOWN: [(&str, &str); 4] = [
    ("--boundary none", "no boundary"),
    ("--trust none", "no trust"),
    ("--boundary container", "containers"),
    ("--boundary host", "another host"),
];

/// Returns the changes in one sentence; `None` if none is known.
pub(crate) fn summary(recommendation: &Recommendation) -> Option<String> {
    let choice = recommendation.choice.as_ref()?;
    let is_of_cpu = recommendation.workload.objective == Objective::Cpu;
    let factor = |times: Option<f64>| match times {
        Some(times) if times < 1.0 && is_of_cpu => format!(" ({}x the CPU time)", format_ratio(times)),
        Some(times) if times < 1.0 => format!(" ({}x faster)", three_digits(1.0 / times)),
        _ => String::new(),
    };
    let spinning = recommendation.if_spinning.as_ref().filter(|other| {
        let meets_more = other.row.meets() && !choice.meets();
        other.row.times_interval.is_some() && (meets_more || (!other.tie && other.row.times < 1.0))
    });
    let spinning = spinning.map(|other| {
        format!("busy-waiting (--spin) -> {}{}", plain(&other.row.name()), factor(Some(other.row.times)))
    });
    let changes = recommendation.sensitivities.iter().map(|sensitivity| {
        let instead =
            sensitivity.instead.as_ref().map_or_else(|| "no candidate".to_owned(), |row| plain(row));
        let factor = factor(sensitivity.times.filter(|_| !sensitivity.tie));
        let change = change(&sensitivity.change);
        let known = KNOWN.iter().find(|(option, _)| *option == change);
        let change = known.map_or(change.clone(), |(_, words)| format!("{words} ({change})"));
        format!("{change} -> {instead}{factor}")
    });
    let mut all: Vec<_> = spinning.into_iter().chain(changes).collect();
    if is_for_two(recommendation) {
        all.push("several receivers -> one link each".to_owned());
    }
    let more = all.len().saturating_sub(SUMMARIZED);
    all.truncate(SUMMARIZED);
    all.extend((more > 0).then(|| format!("{more} more: --why")));
    (!all.is_empty()).then(|| format!("The answer changes if: {}.", all.join("; ")))
}

/// Returns whether the workload has two processes, and a choice whose link serves these two only.
fn is_for_two(recommendation: &Recommendation) -> bool {
    let workload = &recommendation.workload;
    recommendation.choice.is_some() && workload.receivers == 1 && is_one(&workload.pattern_and_parties().1)
}

/// Returns the changes with their reasons, one sentence each.
pub(crate) fn sentences(recommendation: &Recommendation) -> Vec<String> {
    let changes = recommendation.sensitivities.iter().map(|change| sentence(recommendation, change));
    let receivers = is_for_two(recommendation)
        .then(|| "Several receivers: each needs a separate link, with all of these costs.".to_owned());
    changes.chain(receivers).collect()
}

/// Returns the changes of the workload, for programs.
pub(crate) fn for_programs(recommendation: &Recommendation) -> JudgedSentences {
    let changes = recommendation.sensitivities.iter().map(|sensitivity| change(&sensitivity.change).into());
    JudgedSentences::new("sensitivities.change_data", "change", changes)
}

/// Describes a change as an option of the command line if possible.
fn change(change: &WorkloadChange) -> String {
    match change {
        WorkloadChange::Option { typed } => plain(typed),
        WorkloadChange::Size { size_bytes } => format!("--size {}", format_bytes(*size_bytes)),
        WorkloadChange::WithoutBoundary => "--boundary none".to_owned(),
        WorkloadChange::Place { placement: Placement::SameCore } => "all processes on one core".to_owned(),
        WorkloadChange::Place { placement: Placement::Free } => "processes not pinned to a CPU".to_owned(),
        WorkloadChange::Place { placement } => format!("--place {placement}"),
    }
}

fn sentence(recommendation: &Recommendation, sensitivity: &Sensitivity) -> String {
    let choice = recommendation.choice.as_ref().map(|choice| plain(&choice.name())).unwrap_or_default();
    let reason = match (sensitivity.reason.as_str(), recommendation.workload.slo) {
        ("", Some(slo)) if sensitivity.misses_slo => format!(" ({choice} then misses {})", limit(slo)),
        ("", _) => String::new(),
        (reason, _) => format!(" ({})", plain(reason)),
    };
    let effort = |row: &str| recommendation.ranked.iter().find(|ranked| ranked.name() == row);
    let is_option = matches!(sensitivity.change, WorkloadChange::Option { .. });
    let instead = match (&sensitivity.instead, sensitivity.times, recommendation.workload.objective) {
        (None, ..) => "no candidate is suitable".to_owned(),
        (Some(row), ..) if !sensitivity.measured => {
            format!("{}, which was not in the longer look", plain(row))
        }
        (Some(row), _, Objective::Simplicity) => {
            let effort = effort(row)
                .map_or_else(String::new, |row| format!(", with integration effort {}", row.effort));
            format!("{}{effort}", plain(row))
        }
        (Some(row), ..) if sensitivity.tie => format!("{}, which ties with it", plain(row)),
        (Some(row), None, _) => format!("{}, with too few trials for a comparison", plain(row)),
        (Some(row), Some(times), objective) => {
            let compared = compared_figures(times, objective);
            let than = if is_option { String::new() } else { format!(" as {choice}") };
            format!("{} {compared}{than}", plain(row))
        }
    };
    format!("{}: {instead}{reason}.", change(&sensitivity.change))
}

/// Compares a figure with another one by their ratio `times`.
fn compared_figures(times: f64, objective: Objective) -> String {
    match objective {
        Objective::Cpu => format!("takes {} times as much CPU time", format_ratio(times)),
        _ if times < 1.0 => format!("is {} times as fast", three_digits(1.0 / times)),
        _ => format!("takes {} times as long", three_digits(times)),
    }
}
