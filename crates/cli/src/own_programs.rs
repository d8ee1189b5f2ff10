//! Rows of two programs that know nothing of furlong, from what was typed.

use furlong_bench::{MechanismEntry, OwnPrograms};
use furlong_console::exit::Usage;
use std::path::Path;

/// The rows of these commands, two each: one that serves and one that asks. Each is named by both.
///
/// # Errors
/// One without another, or nothing to start.
pub fn rows(commands: &[String]) -> Result<Vec<MechanismEntry>, Usage> {
    let (pairs, rest) = commands.as_chunks::<2>();
    if let [alone] = rest {
        let why = "--program is given twice for a row: first what serves, then what asks";
        return Err(Usage(format!("--program '{alone}' has no other: {why}")));
    }
    let mut rows: Vec<MechanismEntry> = Vec::new();
    for [serve, ask] in pairs {
        let usual = format!("{}+{}", name(serve)?, name(ask)?);
        let numbered = (2..).map(|number| format!("{usual}-{number}"));
        let is_free = |name: &String| rows.iter().all(|row| row.capabilities.name != name);
        let name = [usual.clone()].into_iter().chain(numbered).find(is_free).unwrap_or(usual);
        rows.push(MechanismEntry::of_programs(&name, OwnPrograms { serve: serve.clone(), ask: ask.clone() }));
    }
    Ok(rows)
}

/// What a command is called: the name of the file that its first word is, in characters that a row may have.
fn name(command: &str) -> Result<String, Usage> {
    let file = command.split_whitespace().next().and_then(|word| Path::new(word).file_name());
    let file = file.ok_or_else(|| Usage(format!("--program '{command}' names no program")))?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    Ok(file.to_string_lossy().chars().map(plain).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(commands: &[&str]) -> Vec<&'static str> {
        let commands: Vec<String> = commands.iter().map(|command| (*command).to_owned()).collect();
        rows(&commands).unwrap().iter().map(|row| row.capabilities.name).collect()
    }

    #[test]
    fn a_row_is_named_by_its_programs() {
        let commands = ["./serve --fast", "new/ask*", "/a/serve", "/a/ask", "./serve", "ask"];
        assert_eq!(names(&commands), ["serve+ask-", "serve+ask", "serve+ask-2"]);
    }

    #[test]
    fn one_without_another_is_refused() {
        for commands in [&["./serve"][..], &["./serve", " "], &["/", "./ask"]] {
            let commands: Vec<String> = commands.iter().map(|command| (*command).to_owned()).collect();
            assert!(rows(&commands).is_err(), "{commands:?}");
        }
    }
}
