//! The sentences around the tables of a comparison, shared by every format that is read by people.

use super::super::object::JudgedSentences;
use super::super::prose as shared;
use furlong_analysis::text::{listed, plain};
use furlong_analysis::{Change, ComparedRow, ComparedRun, Comparison, InconclusiveReason, OnlyIn};

/// Rows, or what changed in them, that are named one by one.
pub(crate) const NAMED: usize = 4;

/// Returns why each row is inconclusive, for programs.
pub(crate) fn reasons(comparison: &Comparison) -> JudgedSentences {
    let reason = |row: &ComparedRow| row.reason.as_ref().map(inconclusive_because).into();
    JudgedSentences::new("rows.reason_data", "reason", comparison.rows.iter().map(reason))
}

/// Describes why a result is inconclusive, in words that need no context.
pub(crate) fn inconclusive_because(why: &InconclusiveReason) -> String {
    match why {
        InconclusiveReason::Unreliable { during } => {
            format!("the machine was unreliable during {}", during.join(" and "))
        }
        InconclusiveReason::TooFewTrials { baseline, new } => {
            format!(
                "{baseline} and {new} trials are too few for an interval of the ratio, which needs 4 and 4"
            )
        }
        InconclusiveReason::NotSure { tested } => format!(
            "beyond the margin, but not significant among {tested} benchmarks: more trials may decide"
        ),
        InconclusiveReason::Changed => {
            "significantly different, but the interval does not show whether by more than the margin"
                .to_owned()
        }
        InconclusiveReason::Wide => {
            "the interval reaches beyond the margin: more trials would narrow it".to_owned()
        }
    }
}

/// Returns the heading, which names the run and its baseline.
pub(crate) fn heading(comparison: &Comparison, run: &ComparedRun) -> String {
    format!("{} against {}", plain(&run.name), plain(&comparison.baseline))
}

/// Describes the machine of each run, and how quiet it was.
pub(crate) fn runs(comparison: &Comparison) -> Vec<String> {
    let line = |run: &ComparedRun| {
        let machine = shared::machine(&run.run.machine, &run.run.harness);
        let partial = if run.run.partial { "; the run is partial" } else { "" };
        format!("{}: {machine}; {}{partial}.", plain(&run.name), run.run.noise.level.name())
    };
    comparison.runs.iter().map(line).collect()
}

/// Returns the differences between a run and the baseline, except for those of the benchmarks.
pub(crate) fn differences(comparison: &Comparison, run: &ComparedRun) -> Vec<String> {
    let of_run = comparison.environment_differences.iter().filter(|difference| difference.run == run.name);
    of_run
        .map(|difference| {
            let [what, then, now] =
                [&difference.what, &difference.then, &difference.now].map(|text| plain(text));
            format!("{what}: {then} → {now}")
        })
        .collect()
}

/// Lists the inconclusive benchmarks, one line per reason.
pub(crate) fn inconclusive(comparison: &Comparison, run: &ComparedRun) -> Vec<String> {
    let rows = comparison.rows_of(&run.name).filter(|row| row.verdict == Change::Inconclusive);
    by_reason(rows.map(|row| {
        (
            row.reason.as_ref().map(|why| plain(&inconclusive_because(why))).unwrap_or_default(),
            plain(&row.case.to_string()),
        )
    }))
}

/// Lists the benchmarks that only one of two runs has, one line per reason.
pub(crate) fn only_in(comparison: &Comparison, run: &ComparedRun) -> Vec<String> {
    let of_pair = comparison.only_in.iter().filter(|row| row.run == run.name || row.missing_in == run.name);
    let reason = |row: &OnlyIn| {
        let missing = plain(&row.missing_in);
        match &row.reason {
            Some(reason) => format!("in {missing} {}", plain(reason)),
            None => format!("not in {missing}"),
        }
    };
    by_reason(of_pair.map(|row| (reason(row), plain(&row.case.to_string()))))
}

fn by_reason(rows: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (reason, name) in rows {
        match reasons.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    reasons.iter().map(|(reason, names)| format!("{}: {reason}.", listed(names, NAMED))).collect()
}

/// Explains the marks and columns that are used.
pub(crate) fn footnotes(comparison: &Comparison, run: &ComparedRun) -> Vec<String> {
    let any = |is: fn(&ComparedRow) -> bool| comparison.rows_of(&run.name).any(is);
    let doubtful = any(|row| row.doubtful).then_some(
        "^ in one of the runs, trials drift or are bimodal (furlong run shows which): its interval may be too narrow.",
    );
    let tested = any(|row| row.p_adjusted.is_some()).then_some(
        "ratio: time relative to the baseline; 95 %: confidence interval of the ratio of these two runs, without the \
         variation between runs of one host (--pairs includes it); p: probability of such a difference by chance, \
         corrected for all benchmarks.",
    );
    [tested, doubtful].into_iter().flatten().map(str::to_owned).collect()
}
