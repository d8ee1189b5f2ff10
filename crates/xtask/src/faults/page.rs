//! The matrix as text: for the terminal, and as a page of the documentation.

use super::fault::Fault;
use super::judge::Verdict;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A fault and what came of it, by row; a script that is about no row has one cell without a name.
pub struct Line {
    /// The fault.
    pub fault: Fault,
    /// Verdict on each cell.
    pub cells: Vec<(String, Verdict)>,
}

/// Counts the cells by verdict: passed, not applicable, not triable, failed.
pub fn count(lines: &[Line]) -> [usize; 4] {
    let mut counts = [0; 4];
    for (_, verdict) in lines.iter().flat_map(|line| &line.cells) {
        counts[match verdict {
            Verdict::Passed => 0,
            Verdict::NotApplicable(_) => 1,
            Verdict::NotTriable(_) => 2,
            Verdict::Failed(_) => 3,
        }] += 1;
    }
    counts
}

/// Returns the matrix as a table, followed by the reasons for untested cells and by the failures.
pub fn table(lines: &[Line]) -> String {
    let mut text = String::from(
        "| fault | action | tool | required outcome | passed | not applicable | not triable | failed |\n\
         |---|---|---|---|--:|--:|--:|--:|\n",
    );
    for line in lines {
        let Fault { number, what, means, must, .. } = &line.fault;
        let [passed, not_applicable, not_triable, failed] = count(std::slice::from_ref(line));
        let _ = writeln!(
            text,
            "| {number} | {what} | {means} | {must} | {passed} | {not_applicable} | {not_triable} | {failed} |"
        );
    }
    let mut why: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines {
        for (row, verdict) in &line.cells {
            let cell = if row.is_empty() { line.fault.what.clone() } else { row.clone() };
            let reason = match verdict {
                Verdict::Passed => continue,
                Verdict::NotApplicable(why) => format!("Not applicable: {why}"),
                Verdict::NotTriable(why) => format!("Not triable here: {why}"),
                Verdict::Failed(what) => {
                    format!("FAILED: {}, {}: {what}", line.fault.number, line.fault.what)
                }
            };
            let cells = why.entry(reason).or_default();
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    }
    for (reason, cells) in why {
        let _ = writeln!(text, "\n- {}: {}", reason.replace('\n', " "), cells.join(", "));
    }
    text
}

/// Returns the page of the documentation.
pub fn page(lines: &[Line], rows: &[String], command: &str, seconds: u64) -> String {
    let [passed, not_applicable, not_triable, failed] = count(lines);
    format!(
        "# Faults\n\n\
         This page lists faults that may occur while furlong measures, and their consequences. `cargo xtask faults --write` \
         writes the page. `--only D1,R*` and `--mechanism GLOB` choose a part. `.ci/run` tests the quick part (`--quick`). Each \
         mechanism is tested with its default wait strategy, and each other strategy with one mechanism. If a fault meets code \
         that all mechanisms share, a few mechanisms stand for all.\n\n\
         Each cell is a run in separate user, mount, IPC and process namespaces. A cell passes if the run ends in time with the \
         expected exit status, if the disturbed benchmark was measured or reports the cause with role and phase, if the other \
         benchmark was measured, if nothing is left (/dev/shm, System V objects, POSIX queues, directories, processes), and if \
         every figure is possible.\n\n\
         {passed} cells passed, {not_applicable} do not apply, {not_triable} cannot be tried here, {failed} failed. {} benchmarks; it took \
         {} min: `cargo xtask faults{command}`.\n\n{}{}",
        rows.len(),
        seconds.div_ceil(60),
        table(lines),
        include_str!("numbers.md")
    )
}
