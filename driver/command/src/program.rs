//! Finds and runs other programs, and shows their output if it matters.

use anyhow::Context;
use furlong_console::exit::Interruption;
use furlong_os::linux::access;
use furlong_os::process::run_unless_ended;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Directories of root's programs, which the PATH of other users may not contain.
const ROOTS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// Returns the path of a program.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(ROOTS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| access::may_execute(file))
}

/// Returns a command for a program, without the variables of an outer make.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    // If make started furlong, its variables must not affect this program.
    for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "KDIR", "M"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// Runs a command. If it fails, the error contains its last output. With `show`, the output goes to stderr as it
/// arrives.
///
/// # Errors
/// Returns an error if the command cannot be started or exits with a status other than 0.
pub fn run(command: &mut Command, show: bool) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut said = Vec::new();
    let ended = if show {
        // Standard output is for the result.
        command.stdout(std::io::stderr());
        run_unless_ended(command)
    } else {
        let (mut reader, writer) = std::io::pipe()?;
        command.stdout(writer.try_clone()?).stderr(writer);
        std::thread::scope(|scope| {
            // Output that cannot be read is missing from the error.
            scope.spawn(|| reader.read_to_end(&mut said));
            let ended = run_unless_ended(command);
            // The reader ends once all writers are closed.
            command.stdout(Stdio::null()).stderr(Stdio::null());
            ended
        })
    };
    let status = ended.with_context(|| format!("cannot start {program}"))?;
    let status = status.map_err(|signal| anyhow::Error::from(Interruption::unfinished(signal)))?;
    if status.success() {
        return Ok(());
    }
    anyhow::bail!("{status}{}", indented(&String::from_utf8_lossy(&said)))
}

/// Indents the lines of a text below a sentence; only the last ones if there are many.
fn indented(text: &str) -> String {
    const MOST: usize = 40;
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut text = String::new();
    if lines.len() > MOST {
        text.push_str(&format!("\n    ({} lines before these)", lines.len() - MOST));
    }
    for line in &lines[lines.len().saturating_sub(MOST)..] {
        text.push_str(&format!("\n    {line}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = command(&find("sh").unwrap());
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_fails_says_how_and_what_was_said() {
        assert!(run(&mut shell("exit 0"), false).is_ok());
        let error = run(&mut shell("echo first; echo why >&2; exit 3"), false).unwrap_err().to_string();
        assert_eq!(error, "exit status: 3\n    first\n    why");
        let error = run(&mut shell("kill -TERM $$"), false).unwrap_err().to_string();
        assert_eq!(error, "signal: 15 (SIGTERM)");
        let error = run(&mut shell("seq 100; exit 1"), false).unwrap_err().to_string();
        assert!(error.contains("(60 lines before these)\n    61\n") && error.ends_with("    100"), "{error}");
    }

    #[test]
    fn programs_are_found_by_name() {
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(find("no-such-program-of-ours"), None);
    }

    #[test]
    fn what_make_was_told_is_not_passed_on() {
        let mut command = shell("test -z \"$MAKEFLAGS$KDIR\"");
        assert!(run(&mut command, false).is_ok());
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).collect();
        assert_eq!(removed.len(), 5);
    }
}
