//! Rows of the user's own programs, from the command line.

use crate::arguments::CaseOptions;
use crate::mechanisms::mechanisms;
use furlong_bench::{MechanismEntry, OwnPrograms};
use furlong_console::exit::Usage;
use std::path::Path;

/// Returns the mechanisms for the options and for own programs, and the options with the names of both.
///
/// # Errors
/// Returns the errors of [`mechanisms`] and [`rows`].
pub fn with_mechanisms(
    asked: &CaseOptions,
    commands: &[String],
) -> anyhow::Result<(Vec<MechanismEntry>, CaseOptions)> {
    let programs = rows(commands)?;
    let mut asked = asked.clone();
    asked.rows.extend(programs.iter().map(|row| row.capabilities.name.to_owned()));
    let (mut mechanisms, options) = mechanisms(&asked)?;
    mechanisms.extend(programs);
    Ok((mechanisms, options))
}

/// Returns the rows of these commands. A single command is a whole system. Otherwise every two commands are a server,
/// which may be empty, and its client. A row is named after its programs.
///
/// # Errors
/// Returns a usage error if the number of commands is odd and above one, or if a command names no program.
fn rows(commands: &[String]) -> Result<Vec<MechanismEntry>, Usage> {
    let whole = [String::new(), commands.first().cloned().unwrap_or_default()];
    let commands = if commands.len() == 1 { &whole } else { commands };
    let (pairs, rest) = commands.as_chunks::<2>();
    if let [alone] = rest {
        let why = "use --program once for a program that starts its peer, otherwise twice per pair: first the server, then the \
                   client. For no server, use ''";
        return Err(Usage(format!("--program '{alone}' has no partner: {why}")));
    }
    let mut rows: Vec<MechanismEntry> = Vec::new();
    for [serve, ask] in pairs {
        let serve = Some(serve.clone()).filter(|serve| !serve.is_empty());
        let server = serve.as_deref().map(name).transpose()?.map_or_else(String::new, |name| name + "+");
        let usual = format!("{server}{}", name(ask)?);
        let numbered = (2..).map(|number| format!("{usual}-{number}"));
        let is_free = |name: &String| rows.iter().all(|row| row.capabilities.name != name);
        let name = [usual.clone()].into_iter().chain(numbered).find(is_free).unwrap_or(usual);
        rows.push(MechanismEntry::from_programs(&name, OwnPrograms { serve, ask: ask.clone() }));
    }
    Ok(rows)
}

/// Programs whose rows are named after the script that they run.
const INTERPRETERS: [&str; 6] = ["python", "node", "ruby", "perl", "bash", "sh"];

/// Returns the name of a command: the file name of its first word, or of the script if the first word is an
/// interpreter. Characters that a row's name may not have become hyphens.
fn name(command: &str) -> Result<String, Usage> {
    let mut words = command.split_whitespace().map(|word| Path::new(word).file_name());
    let program = words.next().flatten();
    let interprets = program.is_some_and(|program| {
        let program = program.to_string_lossy();
        INTERPRETERS
            .contains(&program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'))
    });
    let script =
        words.next().flatten().filter(|word| interprets && !word.as_encoded_bytes().starts_with(b"-"));
    let file = script.or(program);
    let file =
        file.ok_or_else(|| Usage(format!("--program '{command}' does not contain the name of a program")))?;
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
        assert_eq!(names(&["./pipeline -v"]), ["pipeline"]);
        assert_eq!(names(&["python3 a/serve.py 7", "/usr/bin/python3.13 a/ask.py"]), ["serve.py+ask.py"]);
        assert_eq!(names(&["sh -c ./serve", "node ask.js"]), ["sh+ask.js"]);
        assert_eq!(names(&["", "./a", "", "b/a", "./serve", "./a"]), ["a", "a-2", "serve+a"]);
    }

    #[test]
    fn one_without_another_is_refused() {
        for commands in
            [&["./serve", "./ask", "./serve"][..], &["./serve", " "], &["/", "./ask"], &["", ""], &[" "]]
        {
            let commands: Vec<String> = commands.iter().map(|command| (*command).to_owned()).collect();
            assert!(rows(&commands).is_err(), "{commands:?}");
        }
    }
}
