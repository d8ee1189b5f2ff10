//! Judges a cell by five conditions: it ended in time; with the right words and exit status; the other rows were
//! measured; nothing is left; no figure is wrong.

use super::cell::ScriptResult;
use super::fault::RowMust;
use serde_json::Value;

/// Maximum number of reported violations that are shown.
const SHOWN: usize = 4;

/// Verdict on a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All five conditions hold.
    Passed,
    /// The fault does not apply to this row, with the reason.
    NotApplicable(String),
    /// The fault cannot be caused here, or the row cannot be measured here.
    NotTriable(String),
    /// The violated condition.
    Failed(String),
}

/// Judges what holds for every script.
pub fn judge_script(ended: &ScriptResult) -> Verdict {
    if ended.hung {
        return Verdict::Failed("it did not exit in time".to_owned());
    }
    let some = ended.bad.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("; ");
    match ended.bad.len() {
        0 => ended.untriable.clone().map_or(Verdict::Passed, Verdict::NotTriable),
        1..=SHOWN => Verdict::Failed(some),
        all => Verdict::Failed(format!("{some} (and {} more)", all - SHOWN)),
    }
}

/// Returns the printed run, or why it is missing.
fn printed(ended: &ScriptResult) -> Result<Value, String> {
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

fn find<'a>(run: &'a Value, list: &str, row: &str, parties: Option<u64>) -> Option<&'a Value> {
    let is_it = |value: &&Value| row_of(value) == row && value["parties"].as_u64() == parties;
    run[list].as_array()?.iter().find(is_it)
}

/// Returns a description of a wrong figure of a row, if any.
fn wrong_figure(row: &Value) -> Option<String> {
    let unit = row["unit"].as_str().unwrap_or("round-trip").replace('-', "_");
    let ns = &row[format!("{unit}_ns")];
    let figures = ["min", "p50", "p90", "p99", "p999", "max"].map(|name| ns[name].as_f64().unwrap_or(-1.0));
    let rate = row[format!("{unit}s_per_second")].as_f64().unwrap_or(-1.0);
    let sound = row["verified"] == true && figures[0] > 0.0 && figures.is_sorted() && rate > 0.0;
    (!sound).then(|| format!("wrong figures: {ns} at {rate}/s"))
}

/// Returns a description of a wrong printed figure, if any. A run that printed no figures has none.
pub fn figures(ended: &ScriptResult) -> Option<String> {
    let run = printed(ended).ok()?;
    run["rows"].as_array().into_iter().flatten().find_map(wrong_figure)
}

/// Rows that can be measured, and those that cannot, each with why.
pub type Baseline = (Vec<String>, Vec<(String, String)>);

/// Returns the rows that were measured without a fault, and the others with the reasons.
///
/// # Errors
/// Returns an error with the violated condition.
pub fn baseline(ended: &ScriptResult) -> Result<Baseline, String> {
    let run = printed(ended)?;
    let rows = run["rows"].as_array().into_iter().flatten().map(row_of).collect();
    let skipped = run["skipped"].as_array().into_iter().flatten();
    let skipped = skipped.map(|row| (row_of(row), row["reason"].as_str().unwrap_or_default().to_owned()));
    Ok((rows, skipped.collect()))
}

/// A benchmark whose role is disturbed.
#[derive(Debug, Clone, Copy)]
pub struct DisturbedBenchmark<'a> {
    /// Name of the benchmark.
    pub row: &'a str,
    /// Benchmark that is measured in the same run.
    pub other: &'a str,
    /// Number of parties of both benchmarks.
    pub parties: Option<u64>,
    /// Phase of the disturbance.
    pub phase: &'a str,
    /// Required outcome.
    pub must: RowMust,
    /// Required exit status of furlong.
    pub code: i32,
}

impl DisturbedBenchmark<'_> {
    /// Returns why the row was not measured, if it was not.
    fn reason(&self, run: &Value) -> Option<String> {
        let skipped = find(run, "skipped", self.row, self.parties)?;
        Some(skipped["reason"].as_str().unwrap_or_default().to_owned())
    }

    /// Returns whether a row's figures were rejected because its parties were not measured at the same time, as on a busy machine.
    fn is_apart(&self, run: &Value, row: &str) -> bool {
        find(run, "skipped", row, self.parties).is_some_and(|skipped| skipped["law"] == "same-time")
    }

    /// Returns whether the disturbance missed the phase or hit the other benchmark.
    pub fn missed(&self, ended: &ScriptResult) -> bool {
        let elsewhere = |run: Value| match self.reason(&run) {
            Some(reason) => {
                reason.contains("in phase ") && !reason.contains(&format!("in phase {}:", self.phase))
            }
            None => {
                let measured = find(&run, "rows", self.row, self.parties).is_some();
                (measured || self.is_apart(&run, self.row)) && matches!(self.must, RowMust::Fail { .. })
            }
        };
        ended.stderr.contains("No such process") || printed(ended).is_ok_and(elsewhere)
    }

    /// Judges the result of the cell.
    pub fn judge(&self, ended: &ScriptResult) -> Verdict {
        let failed = Verdict::Failed;
        match judge_script(ended) {
            Verdict::Passed => {}
            other => return other,
        }
        if self.code == 137 {
            return if ended.code == Some(self.code) {
                Verdict::Passed
            } else {
                failed(format!("exit code {:?}", ended.code))
            };
        }
        let run = match printed(ended) {
            Ok(run) => run,
            Err(what) => return failed(what),
        };
        if ended.code != Some(self.code) {
            return failed(format!("exit code {:?}, not {}: {}", ended.code, self.code, run["skipped"]));
        }
        if let Some(wrong) = run["rows"].as_array().into_iter().flatten().find_map(wrong_figure) {
            return failed(wrong);
        }
        let reason = self.reason(&run);
        let measured = |row| find(&run, "rows", row, self.parties).is_some() || self.is_apart(&run, row);
        let holds = match self.must {
            RowMust::Fail { who, what } => {
                let phase = format!(" in phase {}: ", self.phase);
                let said = reason.as_ref().is_some_and(|reason| {
                    // A reason without a role has the phase of its discovery in brackets.
                    let by_whom = if who.is_empty() {
                        reason.contains(&phase[1..])
                    } else {
                        reason.starts_with(&format!("{who}{phase}"))
                    };
                    by_whom && reason.contains(what)
                });
                said && !measured(self.row) && measured(self.other)
            }
            RowMust::Measure => measured(self.row) && measured(self.other),
            RowMust::End => run["partial"] == true && reason.is_none(),
        };
        if holds {
            Verdict::Passed
        } else {
            let skipped = &run["skipped"];
            failed(format!(
                "the benchmark: {reason:?}; the other measured: {}: {skipped}",
                measured(self.other)
            ))
        }
    }
}

/// Returns the rows that are refused in a setting, with the reasons.
///
/// # Errors
/// Returns an error if nothing was printed.
pub fn refused(ended: &ScriptResult) -> Result<Vec<(String, String)>, String> {
    let run = printed(ended)?;
    let refused = run["skipped"].as_array().into_iter().flatten().filter(|row| row["status"] == "refused");
    Ok(refused.map(|row| (row_of(row), row["reason"].as_str().unwrap_or_default().to_owned())).collect())
}

/// Judges each of these rows, which were measured in one run.
pub fn judge_rows(
    ended: &ScriptResult,
    rows: &[String],
    says: &[String],
    may_fail: bool,
) -> Vec<(String, Verdict)> {
    let all = |verdict: Verdict| rows.iter().map(|row| (row.clone(), verdict.clone())).collect();
    if let verdict @ Verdict::Failed(_) = judge_script(ended) {
        return all(verdict);
    }
    let run = match printed(ended) {
        Ok(run) => run,
        // If furlong cannot start at all, it must report why.
        Err(_) if ended.code == Some(1) && says.iter().any(|word| ended.stderr.contains(word.as_str())) => {
            return all(Verdict::Passed);
        }
        Err(what) => return all(Verdict::Failed(what)),
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
        return all(Verdict::Failed(format!("exit code {:?}, not {right}", ended.code)));
    }
    rows.iter().map(|row| (row.clone(), judge_row(&run, row, says, may_fail))).collect()
}

/// Judges one row.
fn judge_row(run: &Value, row: &str, says: &[String], may_fail: bool) -> Verdict {
    if let Some(measured) = find(run, "rows", row, None) {
        return wrong_figure(measured).map_or(Verdict::Passed, Verdict::Failed);
    }
    let Some(skipped) = find(run, "skipped", row, None) else {
        return Verdict::Failed(
            "it is neither among the measured nor among the skipped benchmarks".to_owned(),
        );
    };
    let reason = format!(
        "{} {}",
        skipped["reason"].as_str().unwrap_or_default(),
        skipped["remedy"].as_str().unwrap_or_default()
    );
    let status = skipped["status"].as_str().unwrap_or_default();
    if status == "void" {
        return Verdict::Failed(format!("rejected as inconsistent: {reason}"));
    }
    match (status == "failed" && !may_fail, says.iter().any(|word| reason.contains(word.as_str()))) {
        (false, true) => Verdict::Passed,
        _ => Verdict::Failed(format!("{status}: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, code: i32) -> ScriptResult {
        ScriptResult { stdout: text.to_owned(), code: Some(code), ..ScriptResult::default() }
    }

    const PIPE: &str = r#"{"mechanism":"pipe","wait":"block","verified":true,"round_trips_per_second":9.0,
        "round_trip_ns":{"min":1.0,"p50":2.0,"p90":2.0,"p99":3.0,"p999":3.0,"max":4.0}}"#;
    const KILLED: &str = r#"{"mechanism":"fifo","wait":"block","status":"failed","reason":"initiator in phase timed: killed by SIGKILL"}"#;

    #[test]
    fn a_killed_role_is_judged_by_its_row_and_the_other() {
        let text = format!(r#"{{"rows":[{PIPE}],"skipped":[{KILLED}],"partial":false}}"#);
        let disturbed = |row, other, what| DisturbedBenchmark {
            row,
            other,
            parties: None,
            phase: "timed",
            must: RowMust::Fail { who: "initiator", what },
            code: 1,
        };
        let judged = |row, other, words, code| disturbed(row, other, words).judge(&run(&text, code));
        assert_eq!(judged("fifo/block", "pipe/block", "killed by SIGKILL", 1), Verdict::Passed);
        let killed = disturbed("fifo/block", "pipe/block", "killed by SIGKILL");
        for other in [
            DisturbedBenchmark { phase: "warm-up", ..killed },
            DisturbedBenchmark { parties: Some(2), ..killed },
            DisturbedBenchmark {
                must: RowMust::Fail { who: "responder", what: "killed by SIGKILL" },
                ..killed
            },
        ] {
            assert!(matches!(other.judge(&run(&text, 1)), Verdict::Failed(_)), "{other:?}");
        }
        assert!(!killed.missed(&run(&text, 1)));
        assert!(DisturbedBenchmark { phase: "warm-up", ..killed }.missed(&run(&text, 1)));
        assert!(DisturbedBenchmark { row: "pipe/block", ..killed }.missed(&run(&text, 1)));
        for (row, other, words, code) in [
            ("fifo/block", "pipe/block", "killed by SIGSEGV", 1),
            ("fifo/block", "pipe/block", "killed by SIGKILL", 0),
            ("pipe/block", "fifo/block", "killed by SIGKILL", 1),
        ] {
            assert!(matches!(judged(row, other, words, code), Verdict::Failed(_)));
        }
        let untriable = ScriptResult { untriable: Some("no cgroup".to_owned()), ..ScriptResult::default() };
        assert_eq!(judge_script(&untriable), Verdict::NotTriable("no cgroup".to_owned()));
        let hung = ScriptResult { hung: true, ..ScriptResult::default() };
        let ended = DisturbedBenchmark { must: RowMust::End, code: 137, ..killed };
        assert!(matches!(ended.judge(&hung), Verdict::Failed(_)));
    }

    #[test]
    fn a_row_is_measured_or_says_why_not() {
        let text = format!(r#"{{"rows":[{PIPE}],"skipped":[{KILLED}]}}"#);
        let judged = |text: &str, row, says: &str, may_fail, code| {
            let row: &str = row;
            let mut judged = judge_rows(&run(text, code), &[row.to_owned()], &[says.to_owned()], may_fail);
            judged.remove(0).1
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
