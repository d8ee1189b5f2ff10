//! Cases without figures, in the words of every format that is read by people.

use super::document::{Line, Section, Tone};
use furlong_analysis::text::{listed, plain};
use furlong_analysis::{Saturation, SkippedCase, SkippedStatus, Summary, describe_placement};
use furlong_stats::distinct;

/// Title of the list.
const TITLE: &str = "Not measured, or not in every trial";
/// Beginning of the reason of a case that its boundary forbids.
pub(crate) const FORBIDDEN: &str = "forbidden by the boundary";
/// Cases of one reason that are named one by one.
const NAMED: usize = 3;

/// Returns a titled list with one line per reason.
pub(crate) fn unmeasured(skipped: &[SkippedCase]) -> Section {
    Section::list(TITLE, lines(skipped))
}

/// Returns the unmeasured cases. Mechanisms that are unavailable or refused for one reason share a short line.
pub(crate) fn briefly(summary: &Summary) -> Vec<Line> {
    let is_refused =
        |entry: &&SkippedCase| matches!(entry.status, SkippedStatus::Unavailable | SkippedStatus::Refused);
    let (refused, others): (Vec<&SkippedCase>, Vec<&SkippedCase>) =
        summary.skipped.iter().partition(is_refused);
    let of_reason = |reason: &String| {
        let alike: Vec<&&SkippedCase> = refused.iter().filter(|entry| entry.reason == *reason).collect();
        let names: Vec<_> = distinct(alike.iter().map(|entry| &entry.case.mechanism))
            .into_iter()
            .map(|name| plain(name))
            .collect();
        let is_elsewhere = summary
            .rows
            .iter()
            .any(|row| alike.iter().any(|entry| entry.case.mechanism == row.case.mechanism));
        let place = match &distinct(alike.iter().map(|entry| entry.case.placement))[..] {
            [place] if is_elsewhere => format!(" on {}", plain(&describe_placement(*place))),
            _ => String::new(),
        };
        let names = listed(&names, 2 * NAMED);
        Line::neutral(format!("Skipped{place}: {names} ({}): furlong list --why.", plain(reason)))
    };
    lines(others)
        .into_iter()
        .chain(distinct(refused.iter().map(|entry| &entry.reason)).into_iter().map(of_reason))
        .collect()
}

/// Returns the unmeasured cases as short lines; cases with one reason share a line.
fn lines<'a>(skipped: impl IntoIterator<Item = &'a SkippedCase>) -> Vec<Line> {
    let mut alike: Vec<(&SkippedCase, Vec<&SkippedCase>)> = Vec::new();
    for entry in skipped {
        let same = |(first, _): &&mut (&SkippedCase, Vec<&SkippedCase>)| {
            first.saturation.zip(entry.saturation).map_or_else(
                || (first.status, cause(first), &first.remedy) == (entry.status, cause(entry), &entry.remedy),
                |(one, other)| one.is_alike(&other),
            )
        };
        match alike.iter_mut().find(same) {
            Some((_, entries)) => entries.push(entry),
            None => alike.push((entry, vec![entry])),
        }
    }
    let line = |(first, entries): (&SkippedCase, Vec<&SkippedCase>)| {
        let tone = if first.status.is_failure() { Tone::Bad } else { Tone::Neutral };
        Line { tone, text: line_of(first, &entries) }
    };
    alike.into_iter().map(line).collect()
}

/// Returns the reason of a case; of a void one, without its figures, since cases that break one law share a line.
fn cause(entry: &SkippedCase) -> String {
    let is_kept =
        |letter: &char| entry.status != SkippedStatus::Void || !(letter.is_ascii_digit() || *letter == '.');
    entry.reason.chars().filter(is_kept).collect()
}

fn line_of(first: &SkippedCase, entries: &[&SkippedCase]) -> String {
    if first.reason.starts_with(FORBIDDEN) {
        // The list shows which mechanisms a boundary forbids, so it has all names.
        let names: Vec<_> = distinct(entries.iter().map(|entry| plain(&entry.case.mechanism)));
        return format!("{}: {}", plain(&first.reason), listed(&names, usize::MAX));
    }
    let cases: Vec<_> = entries.iter().map(|entry| plain(&entry.case.to_string())).collect();
    let trials = entries.iter().map(|entry| entry.trials);
    let trials = match (trials.clone().min().unwrap_or_default(), trials.max().unwrap_or_default()) {
        (1, 1) => "in 1 trial".to_owned(),
        (least, most) if least == most => format!("in {most} trials"),
        (least, most) => format!("in {least} to {most} trials"),
    };
    let verdict = match first.status {
        SkippedStatus::Failed if first.is_corruption() => format!("shows no speed, {trials}"),
        SkippedStatus::Failed => format!("failed {trials}"),
        SkippedStatus::Void if entries.len() == 1 => "is void".to_owned(),
        SkippedStatus::Void => "are void".to_owned(),
        SkippedStatus::Saturated if entries.len() == 1 => "is saturated".to_owned(),
        SkippedStatus::Saturated => "are saturated".to_owned(),
        SkippedStatus::Disturbed => "did not keep up".to_owned(),
        status => status.name().to_owned(),
    };
    let saturations: Option<Vec<_>> = entries.iter().map(|entry| entry.saturation).collect();
    let (reason, remedy) = match saturations {
        Some(alike) => Saturation::reason_and_remedy(&alike),
        None => {
            let differ = entries.iter().any(|entry| entry.reason != first.reason);
            let of = if differ { format!(" (figures of {})", cases[0]) } else { String::new() };
            (plain(&first.reason) + &of, plain(&first.remedy))
        }
    };
    let remedy = if remedy.is_empty() { remedy } else { format!("; {remedy}") };
    format!("{} {verdict}: {reason}{remedy}", listed(&cases, NAMED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_analysis::{DecodedRun, Run};
    use furlong_fixture as fixture;
    use furlong_model::{Arrival, Case, Outcome, Placement, Record, Trial, Wait};

    /// Returns benchmarks of 180 ns that carried this many of 100 k messages per second while their processes had
    /// this CPU share.
    fn behind(carried_per_second: &[u64], had: f64) -> Vec<String> {
        let mut records = vec![Record::Run(fixture::header()), Record::Noise(fixture::quiet(0, 290.0))];
        let names = ["posix-shm", "pipe", "posix-mq", "unix-stream", "tcp"];
        for (name, carried_per_second) in names.iter().zip(carried_per_second) {
            let case = Case {
                arrival: Arrival::Interval(10_000),
                ..fixture::case(name, Wait::Spin, Placement::OtherCore)
            };
            let mut measured = fixture::measurement(&case, 180.0, 0);
            measured.late_sends = measured.round_trips;
            measured.elapsed_ns = measured.round_trips * 1_000_000_000 / carried_per_second;
            for role in &mut measured.roles {
                role.user_ns = (measured.elapsed_ns as f64 * had) as u64;
                role.window_ns = Some(measured.elapsed_ns);
            }
            let (outcome, family) = (Outcome::Measured(measured), fixture::family(name));
            records.push(Record::Trial(Trial { case, family, number: 0, at_ns: None, outcome }));
        }
        let summary = DecodedRun::of(&Run::from_records(records).unwrap()).summary;
        lines(&summary.skipped).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn one_sentence_names_all_rows_that_did_not_keep_up_for_one_cause() {
        let [disturbed] = &behind(&[73_600, 74_000, 60_000, 81_000, 90_000], 0.5)[..] else { panic!() };
        assert!(
            disturbed.contains("and 2 more did not keep up: CPU time was lost to other processes"),
            "{disturbed}"
        );
        assert!(!disturbed.contains("saturated") && !disturbed.contains("ask for"), "{disturbed}");
        let [saturated] = &behind(&[20_000, 40_000, 30_000], 1.0)[..] else { panic!() };
        assert!(
            saturated.contains("are saturated: 100k/s were asked and 20.0k/s to 40.0k/s carried"),
            "{saturated}"
        );
        assert!(saturated.ends_with("ask for less than 20.0k/s, or for no rate"), "{saturated}");
    }

    #[test]
    fn one_sentence_names_all_rows_that_break_one_law() {
        let void = |name, reason: &str| SkippedCase {
            case: fixture::case(name, Wait::Block, Placement::OtherCore),
            status: SkippedStatus::Void,
            fault: None,
            law: None,
            saturation: None,
            trials: 1,
            reason: reason.to_owned(),
            remedy: String::new(),
        };
        let names = ["pipe", "tcp", "udp", "posix-mq", "fifo"];
        let forbidden = names.map(|name| void(name, "forbidden by the boundary user: open: denied"));
        let [Line { text, .. }] = &lines(&forbidden)[..] else { panic!() };
        assert_eq!(text, "forbidden by the boundary user: open: denied: fifo, pipe, posix-mq, tcp, udp");
        let rows =
            [void("pipe", "trial 1: only 3.2 ms of 20 ms"), void("tcp", "trial 2: only 4.1 ms of 20 ms")];
        let [Line { text, .. }] = &lines(&rows)[..] else { panic!() };
        assert!(text.contains("are void: trial 1: only 3.2 ms of 20 ms (figures of pipe/block"), "{text}");
    }

    #[test]
    fn trials_that_failed_are_counted_of_each_row() {
        let failed = |name, trials| SkippedCase {
            case: fixture::case(name, Wait::Block, Placement::OtherCore),
            status: SkippedStatus::Failed,
            fault: None,
            law: None,
            saturation: None,
            trials,
            reason: "responder in phase open: no port".to_owned(),
            remedy: String::new(),
        };
        let [Line { text, .. }] = &lines(&[failed("pipe", 3), failed("tcp", 1)])[..] else { panic!() };
        assert!(text.contains("failed in 1 to 3 trials: "), "{text}");
        let [Line { text, .. }] = &lines(&[failed("pipe", 2), failed("tcp", 2)])[..] else { panic!() };
        assert!(text.contains("failed in 2 trials: "), "{text}");
    }
}
