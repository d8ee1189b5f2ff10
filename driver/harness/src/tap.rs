//! Reads TAP, the Test Anything Protocol, from each suite, judges it, and writes one stream.

use crate::console::last_lines;
use crate::results::Section;

/// A test, or a judgement of the harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Whether it is as it has to be.
    pub passed: bool,
    /// Name of the case.
    pub name: String,
    /// Notes on the case, one line each.
    pub notes: Vec<String>,
}

impl Case {
    /// Creates a judgement of the harness.
    pub fn new(passed: bool, name: impl Into<String>, notes: &str) -> Case {
        Case { passed, name: name.into(), notes: notes.lines().map(str::to_owned).collect() }
    }
}

/// Returns the cases of a suite. A final case states whether the suite kept its plan.
pub fn judged(section: &Section) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut plans = Vec::new();
    let mut notes = Vec::new();
    let mut faults = Vec::new();
    for line in section.body.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if let Some(plan) = line.strip_prefix("1..").and_then(|count| count.parse::<usize>().ok()) {
            plans.push(plan);
        } else if let Some((passed, number, name)) = result(line) {
            if number.is_some_and(|number| number != cases.len() + 1) {
                faults.push(format!("expected test {}, found: {line}", cases.len() + 1));
            }
            let notes = std::mem::take(&mut notes);
            cases.push(Case { passed, name: format!("{}: {name}", section.name), notes });
        } else if line.starts_with("Bail out!") {
            faults.push(line.to_owned());
        } else if !line.starts_with("TAP version ") {
            // A test prints its notes before its result, so this note belongs to the next result.
            let note = line.strip_prefix('#').map_or(line, str::trim_start);
            notes.extend(Some(note).filter(|note| !note.is_empty()).map(str::to_owned));
        }
    }
    match plans.as_slice() {
        [] => faults.push("it printed no plan".to_owned()),
        [0] => faults.push("its plan is to test nothing".to_owned()),
        [plan] if *plan != cases.len() => {
            faults.push(format!("it planned {plan} tests, and {} printed their results", cases.len()));
        }
        [_] => {}
        _ => faults.push("it printed more than one plan".to_owned()),
    }
    match section.exit {
        None => faults.push("it did not end before the guest did".to_owned()),
        Some(0) => {}
        // The results already report this failure.
        Some(1) if cases.iter().any(|case| !case.passed) => {}
        Some(code @ 129..) => faults.push(format!("signal {} ended it", code - 128)),
        Some(code) => faults.push(format!("it ended with {code}")),
    }
    let mut end =
        Case::new(faults.is_empty(), format!("{}: ran to its end", section.name), &faults.join("\n"));
    end.notes.extend(notes);
    cases.push(end);
    cases
}

/// Parses a result line: whether the test passed, its number if it has one, and its name.
fn result(line: &str) -> Option<(bool, Option<usize>, &str)> {
    let (passed, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start();
    let digits = rest.len() - rest.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let (number, name) = rest.split_at(digits);
    let name = name.trim_start();
    Some((passed, number.parse().ok(), name.strip_prefix("- ").unwrap_or(name)))
}

/// Returns all cases as one numbered stream.
pub fn stream(cases: &[Case]) -> String {
    let mut stream = format!("TAP version 13\n1..{}\n", cases.len());
    for (index, case) in cases.iter().enumerate() {
        let verdict = if case.passed { "ok" } else { "not ok" };
        stream.push_str(&format!("{verdict} {} - {}\n", index + 1, case.name));
        for note in &case.notes {
            stream.push_str(format!("# {note}").trim_end());
            stream.push('\n');
        }
    }
    stream
}

/// Returns the failed cases, each with its last notes.
pub fn failures(cases: &[Case]) -> String {
    let failed = cases.iter().filter(|case| !case.passed);
    let texts = failed.map(|case| {
        let notes = last_lines(&case.notes.join("\n"), 10).replace('\n', "\n    ");
        format!("  {}\n    {notes}", case.name)
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
