//! Observed programs stay as they are: the observer is killed at random moments, its terminal is closed, its disk is full, and its rights
//! are missing. Names cannot command the terminal.

use super::place::DIRECTORY;
use super::{Amount, Case, print_table};
use crate::driver::step;
use anyhow::Context;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Cases of the script, in order.
const CASES: [(&str, &str); 10] = [
    ("kill-pid", "SIGKILL of observe PID at random moments"),
    ("kill-trace", "SIGKILL of observe PID --save-trace at random moments"),
    ("kill-command", "SIGKILL of observe --command at random moments"),
    ("close-terminal", "its terminal is closed"),
    ("fill-disk", "its disk is full"),
    ("deny-trace", "no right to trace"),
    ("deny-descriptors", "no right to another user's descriptors"),
    ("print-names", "names with escape sequences"),
    ("after", "tracefs, and descriptors of perf and BPF, afterwards"),
    ("end", "the observed program afterwards"),
];

/// Runs all cases.
pub fn test(amount: Amount) -> anyhow::Result<Vec<Case>> {
    let folder = Path::new(DIRECTORY);
    fs::write(folder.join("safety.sh"), include_str!("../../templates/safety.sh"))?;
    fs::write(folder.join("ticker.py"), include_str!("../../templates/ticker.py"))?;
    let mut observed = Command::new("/usr/bin/python3");
    observed.args(["ticker.py", "ended"]).current_dir(DIRECTORY).stdout(Stdio::null());
    let observed = observed.spawn().context("start python3")?.id().to_string();
    let kills = if amount == Amount::All { "100" } else { "10" };
    let (mut rows, mut cases) = (Vec::new(), Vec::new());
    for (case, name) in CASES {
        let mut script = Command::new("sh");
        script.args(["safety.sh", case, &observed, kills]).current_dir(DIRECTORY).stdin(Stdio::null());
        let outcome = step::text(&mut script);
        cases.push(Case::new("safety", name, outcome.as_ref().err().map(|error| format!("{error:#}"))));
        rows.push(vec![name.to_owned(), outcome.unwrap_or_else(|_| "**wrong**".to_owned())]);
    }
    print_table("Safety", &["observer", "outcome"], &rows);
    Ok(cases)
}
