//! Benchmarks that are not in the table, with the reasons.

use super::super::unmeasured::FORBIDDEN;
use super::details::is_as_good;
use furlong_analysis::text::{capital, plain};
use furlong_analysis::{EliminatedCandidate, Recommendation, SLEEPING, SPINNING};
use furlong_model::{ExcludedBenchmark, Objective, Workload, row_name};
use furlong_stats::distinct;

/// Reasons in the summary.
const SUMMARIZED: usize = 3;
/// Longest reason in the summary, in characters.
const LONGEST: usize = 43;

/// Returns the number of rejections by their reasons, the most frequent first; `None` if nothing was rejected.
pub(crate) fn summary(recommendation: &Recommendation) -> Option<String> {
    let early = |row: &EliminatedCandidate| match (row.times_interval, recommendation.workload.objective) {
        (None, _) if recommendation.run.partial => "the run was interrupted",
        (None, _) => "dropped for lack of time",
        _ if is_as_good(row) => "tied in the early look",
        (_, Objective::Cpu) => "more CPU time in the early look",
        _ => "slower in the early look",
    };
    let excluded = recommendation.excluded.iter().map(|entry| short(&entry.reason));
    let eliminated = recommendation.eliminated.iter().map(|row| early(row).to_owned());
    let mut counts: Vec<(String, usize)> = Vec::new();
    for reason in eliminated.chain(excluded) {
        match counts.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, count)) => *count += 1,
            None => counts.push((reason, 1)),
        }
    }
    // Long reasons have no words here.
    counts.sort_by_key(|(reason, count)| (reason.is_empty(), std::cmp::Reverse(*count)));
    let is_named = |at: usize, reason: &str| at < SUMMARIZED && !reason.is_empty();
    let named = counts.iter().enumerate().take_while(|(at, (reason, _))| is_named(*at, reason)).count();
    let others: usize = counts.drain(named..).map(|(_, count)| count).sum();
    counts.extend((others > 0).then(|| ("other reasons".to_owned(), others)));
    let counts: Vec<_> = counts.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
    (!counts.is_empty()).then(|| format!("Rejected: {}. Reasons: --why", counts.join(", ")))
}

/// Returns the calls that the boundary forbids, each with all mechanisms that need it.
pub(crate) fn forbidden(recommendation: &Recommendation) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for entry in recommendation.excluded.iter().filter(|entry| entry.reason.starts_with(FORBIDDEN)) {
        let reason = plain(entry.reason.split(';').next().unwrap_or_default());
        match lines.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, names)) => names.push(plain(&entry.mechanism)),
            None => lines.push((reason, vec![plain(&entry.mechanism)])),
        }
    }
    lines
        .into_iter()
        .map(|(reason, names)| format!("{}: {}", capital(&reason), distinct(names).join(", ")))
        .collect()
}

/// Returns the most frequent reason with its remedy, if no benchmark is suitable.
pub(crate) fn most_frequent(recommendation: &Recommendation) -> Option<String> {
    let reasons: Vec<&str> = recommendation.excluded.iter().map(|entry| entry.reason.as_str()).collect();
    let count = |reason: &&&str| reasons.iter().filter(|other| *other == *reason).count();
    let most = reasons.iter().max_by_key(count).filter(|_| recommendation.ranked.is_empty())?;
    Some(format!("Most frequent reason: {}", plain(most)))
}

/// Returns the first clause of a reason, without its examples and remedies; an empty text if it is long.
fn short(reason: &str) -> String {
    let reason = plain(reason);
    let end = [", ", ": ", "; ", " ("].iter().filter_map(|mark| reason.find(mark)).min();
    let clause = &reason[..end.unwrap_or(reason.len())];
    if clause.chars().count() <= LONGEST { clause.to_owned() } else { String::new() }
}

/// Lists the benchmarks that were not measured under the workload, or not longer, with the reasons.
pub(crate) fn reasons(recommendation: &Recommendation) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for ExcludedBenchmark { mechanism, wait, reason } in &recommendation.excluded {
        let name = wait.map_or_else(|| mechanism.clone(), |wait| row_name(mechanism, wait));
        let (name, reason) = (plain(&name), plain(reason));
        match reasons.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let mut lines: Vec<_> =
        reasons.into_iter().map(|(reason, names)| format!("{}: {reason}.", names.join(", "))).collect();
    let eliminated = |has_factor: bool| {
        let rows = recommendation.eliminated.iter().filter(move |row| row.times.is_some() == has_factor);
        let name = |row: &EliminatedCandidate| {
            let name = plain(&row_name(&row.mechanism, row.wait));
            row.times.map_or_else(
                || name.clone(),
                |times| format!("{name} {}", super::answer::factor(times, row.times_interval)),
            )
        };
        rows.map(name).collect::<Vec<_>>().join(", ")
    };
    let than = recommendation.eliminated.first().map(|row| plain(&row.than)).unwrap_or_default();
    let (compared, uncompared) = (eliminated(true), eliminated(false));
    if !compared.is_empty() {
        let Workload { objective, spin, latest, .. } = recommendation.workload;
        let simple = if objective == Objective::Simplicity {
            "all with the least integration effort"
        } else {
            "the simplest"
        };
        let newest = if latest { ", the best that replaces older messages" } else { "" };
        let spinning = if spin { format!(", and {SPINNING} that busy-wait") } else { String::new() };
        lines.push(format!(
            "not in the longer look, which has room for at most {SLEEPING} that block (fewer if the time is short): {simple}{newest}, \
             then the best of each family, the second best of each, and the rest{spinning}; in the early look, compared with \
             {than}: {compared}."
        ));
    }
    if !uncompared.is_empty() {
        let cause = match recommendation.run.partial {
            true => "not measured longer because the run was interrupted",
            false => "dropped for lack of time",
        };
        lines.push(format!("{cause}, after one or two trials of each: {uncompared}."));
    }
    lines
}
