//! Judging a cell, always by the same five things: it ended in time, with the right words and code; the other rows were
//! measured; nothing is left; no figure is wrong.

use super::cell::Ended;
use super::fault::RowMust;
use serde_json::Value;

/// What a script called bad that is shown of it, at most.
const SHOWN: usize = 4;

/// What came of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All five hold.
    Passed,
    /// It says nothing about this row.
    NotApplicable(String),
    /// It cannot be made here, or the row cannot be measured here.
    NotTriable(String),
    /// What does not hold.
    Failed(String),
}

/// Judges what holds for every script.
pub fn of_script(ended: &Ended) -> Verdict {
    if ended.hung {
        return Verdict::Failed("it did not end in time".to_owned());
    }
    let some = ended.bad.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("; ");
    match ended.bad.len() {
        0 => ended.untriable.clone().map_or(Verdict::Passed, Verdict::NotTriable),
        1..=SHOWN => Verdict::Failed(some),
        all => Verdict::Failed(format!("{some} (and {} more)", all - SHOWN)),
    }
}

/// A run as it was printed, if it was.
fn printed(ended: &Ended) -> Result<Value, String> {
    serde_json::from_str(&ended.stdout).map_err(|error| {
        let said: String = ended.stderr.trim().chars().take(300).collect();
        format!("no result was printed ({error}), exit code {:?}: {said}", ended.code)
    })
}

fn row_of(value: &Value) -> String {
    format!(
        "{}/{}",
        value["mechanism"].as_str().unwrap_or_default(),
        value["wait"].as_str().unwrap_or_default()
    )
}

fn find<'a>(run: &'a Value, list: &str, row: &str) -> Option<&'a Value> {
    run[list].as_array()?.iter().find(|value| row_of(value) == row)
}

/// What is wrong with the figures of a row, if something is.
fn wrong_figure(row: &Value) -> Option<String> {
    let unit = row["unit"].as_str().unwrap_or("round-trip").replace('-', "_");
    let ns = &row[format!("{unit}_ns")];
    let figures = ["min", "p50", "p90", "p99", "p999", "max"].map(|name| ns[name].as_f64().unwrap_or(-1.0));
    let rate = row[format!("{unit}s_per_second")].as_f64().unwrap_or(-1.0);
    let sound = row["verified"] == true && figures[0] > 0.0 && figures.is_sorted() && rate > 0.0;
    (!sound).then(|| format!("wrong figures: {ns} at {rate}/s"))
}

/// What is wrong with a figure that was printed, if something is. A run that printed none has none wrong.
pub fn figures(ended: &Ended) -> Option<String> {
    let run = printed(ended).ok()?;
    run["rows"].as_array().into_iter().flatten().find_map(wrong_figure)
}

/// Rows that can be measured, and those that cannot, each with why.
pub type Baseline = (Vec<String>, Vec<(String, String)>);

/// The rows that were measured without a fault, and those that were not, with why.
///
/// # Errors
/// What does not hold.
pub fn baseline(ended: &Ended) -> Result<Baseline, String> {
    let run = printed(ended)?;
    let rows = run["rows"].as_array().into_iter().flatten().map(row_of).collect();
    let skipped = run["skipped"].as_array().into_iter().flatten();
    let skipped = skipped.map(|row| (row_of(row), row["reason"].as_str().unwrap_or_default().to_owned()));
    Ok((rows, skipped.collect()))
}

/// What came of a row whose role was disturbed.
pub fn of_role(ended: &Ended, row: &str, other: &str, must: RowMust, code: i32) -> Verdict {
    let failed = Verdict::Failed;
    match of_script(ended) {
        Verdict::Passed => {}
        other => return other,
    }
    if code == 137 {
        return if ended.code == Some(code) {
            Verdict::Passed
        } else {
            failed(format!("exit code {:?}", ended.code))
        };
    }
    let run = match printed(ended) {
        Ok(run) => run,
        Err(what) => return failed(what),
    };
    if ended.code != Some(code) {
        return failed(format!("exit code {:?}, not {code}: {}", ended.code, run["skipped"]));
    }
    if let Some(wrong) = run["rows"].as_array().into_iter().flatten().find_map(wrong_figure) {
        return failed(wrong);
    }
    let reason = find(&run, "skipped", row).map(|skipped| skipped["reason"].as_str().unwrap_or_default());
    let measured = |row| find(&run, "rows", row).is_some();
    let holds = match must {
        RowMust::Fail(words) => {
            let said = reason.is_some_and(|reason| reason.contains(words) && reason.contains(" in phase "));
            said && !measured(row) && measured(other)
        }
        RowMust::Measure => measured(row) && measured(other),
        RowMust::End => run["partial"] == true && reason.is_none(),
    };
    if holds {
        Verdict::Passed
    } else {
        failed(format!("the row: {reason:?}; the other measured: {}", measured(other)))
    }
}

/// What came of one of all rows.
pub fn of_rows(ended: &Ended, row: &str, says: &[String], may_fail: bool) -> Verdict {
    if let verdict @ Verdict::Failed(_) = of_script(ended) {
        return verdict;
    }
    let run = match printed(ended) {
        Ok(run) => run,
        // Where it cannot begin at all it says why.
        Err(_) if ended.code == Some(1) && says.iter().any(|word| ended.stderr.contains(word.as_str())) => {
            return Verdict::Passed;
        }
        Err(what) => return Verdict::Failed(what),
    };
    let any = run["rows"].as_array().is_some_and(|rows| !rows.is_empty());
    let any_failed =
        run["skipped"].as_array().is_some_and(|rows| rows.iter().any(|row| row["status"] == "failed"));
    let right = match (any, any_failed) {
        (_, true) => 1,
        (true, false) => 0,
        (false, false) => 7,
    };
    if ended.code != Some(right) {
        return Verdict::Failed(format!("exit code {:?}, not {right}", ended.code));
    }
    if let Some(measured) = find(&run, "rows", row) {
        return wrong_figure(measured).map_or(Verdict::Passed, Verdict::Failed);
    }
    let Some(skipped) = find(&run, "skipped", row) else {
        return Verdict::Failed("it is neither among the rows nor among the others".to_owned());
    };
    let reason = format!(
        "{} {}",
        skipped["reason"].as_str().unwrap_or_default(),
        skipped["remedy"].as_str().unwrap_or_default()
    );
    let status = skipped["status"].as_str().unwrap_or_default();
    if status == "void" {
        return Verdict::Failed(format!("void: {reason}"));
    }
    match (status == "failed" && !may_fail, says.iter().any(|word| reason.contains(word.as_str()))) {
        (false, true) => Verdict::Passed,
        _ => Verdict::Failed(format!("{status}: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, code: i32) -> Ended {
        Ended { stdout: text.to_owned(), code: Some(code), ..Ended::default() }
    }

    const PIPE: &str = r#"{"mechanism":"pipe","wait":"block","verified":true,"round_trips_per_second":9.0,
        "round_trip_ns":{"min":1.0,"p50":2.0,"p90":2.0,"p99":3.0,"p999":3.0,"max":4.0}}"#;
    const KILLED: &str = r#"{"mechanism":"fifo","wait":"block","status":"failed","reason":"initiator in phase timed: killed by SIGKILL"}"#;

    #[test]
    fn a_killed_role_is_judged_by_its_row_and_the_other() {
        let text = format!(r#"{{"rows":[{PIPE}],"skipped":[{KILLED}],"partial":false}}"#);
        let judged =
            |row, other, words, code| of_role(&run(&text, code), row, other, RowMust::Fail(words), 1);
        assert_eq!(judged("fifo/block", "pipe/block", "killed by SIGKILL", 1), Verdict::Passed);
        for (row, other, words, code) in [
            ("fifo/block", "pipe/block", "killed by SIGSEGV", 1),
            ("fifo/block", "pipe/block", "killed by SIGKILL", 0),
            ("pipe/block", "fifo/block", "killed by SIGKILL", 1),
        ] {
            assert!(matches!(judged(row, other, words, code), Verdict::Failed(_)));
        }
        let untriable = Ended { untriable: Some("no cgroup".to_owned()), ..Ended::default() };
        assert_eq!(of_script(&untriable), Verdict::NotTriable("no cgroup".to_owned()));
        let hung = Ended { hung: true, ..Ended::default() };
        let judged = of_role(&hung, "fifo/block", "pipe/block", RowMust::End, 137);
        assert!(matches!(judged, Verdict::Failed(_)));
    }

    #[test]
    fn a_row_is_measured_or_says_why_not() {
        let text = format!(r#"{{"rows":[{PIPE}],"skipped":[{KILLED}]}}"#);
        let judged = |text: &str, row, says: &str, may_fail, code| {
            of_rows(&run(text, code), row, &[says.to_owned()], may_fail)
        };
        assert_eq!(judged(&text, "pipe/block", "", true, 1), Verdict::Passed);
        assert_eq!(judged(&text, "fifo/block", "SIGKILL", true, 1), Verdict::Passed);
        assert!(matches!(judged(&text, "fifo/block", "SIGKILL", false, 1), Verdict::Failed(_)));
        assert!(matches!(judged(&text, "fifo/block", "shmget", true, 1), Verdict::Failed(_)));
        assert!(matches!(judged(&text, "pipe/block", "", true, 0), Verdict::Failed(_)), "a row has failed");
        assert!(matches!(judged(&text, "udp/block", "", true, 1), Verdict::Failed(_)), "it is missing");
        let stream = text
            .replace("round_trip", "message")
            .replace("\"verified\"", "\"unit\":\"message\",\"verified\"");
        assert_eq!(judged(&stream, "pipe/block", "", true, 1), Verdict::Passed);
        let wrong = text.replace("\"p50\":2.0", "\"p50\":5.0");
        assert!(matches!(judged(&wrong, "pipe/block", "", true, 1), Verdict::Failed(_)));
    }
}
