//! Results on stdout, and messages about them on stderr.

use crate::exit::Interruption;
use anyhow::Context;
use furlong_model::is_unseen;
use furlong_os::AsHandle;
use furlong_os::output::{WriteError, write_all};
use std::io::{ErrorKind, stderr, stdout};

/// Writes a result to stdout. A reader that closes the pipe early (`| head`) is not an error.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes a result that need not be text, like [`print`].
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    print_part(bytes).map(drop)
}

/// Writes a part of a result, and returns whether the reader still reads.
pub fn print_more(text: &str) -> anyhow::Result<bool> {
    print_part(text.as_bytes())
}

fn print_part(bytes: &[u8]) -> anyhow::Result<bool> {
    match write_all(stdout().lock().as_handle(), bytes) {
        Ok(()) => Ok(true),
        Err(WriteError::Failed(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(WriteError::Failed(error)) => Err(error).context("cannot write the result to stdout"),
        Err(WriteError::Ended(signal)) => Err(Interruption::unread(signal).into()),
    }
}

/// Writes lines to stderr. Invisible characters become spaces, because a name in the lines may come from another user
/// and must not control the terminal.
pub fn tell(lines: std::fmt::Arguments<'_>) {
    let safe = |c: char| if is_unseen(c) && c != '\n' { ' ' } else { c };
    tell_coloured(&lines.to_string().chars().map(safe).collect::<String>());
}

/// Writes lines that may have colours to stderr. If stderr is closed, no reader is left, so that is not an error.
pub fn tell_coloured(lines: &str) {
    let _ = write_all(stderr().lock().as_handle(), format!("{lines}\n").as_bytes());
}

/// Writes the error of a verb to stderr. The middle of a long line is left out, because the line may quote a file.
pub fn tell_error(error: &anyhow::Error) {
    let lines: Vec<_> = format!("furlong: {error:#}").lines().map(shortened).collect();
    tell(format_args!("{}", lines.join("\n")));
}

fn shortened(line: &str) -> String {
    const MOST: usize = 1500;
    const ENDS: usize = 600;
    let all = line.chars().count();
    if all <= MOST {
        return line.to_owned();
    }
    let first: String = line.chars().take(ENDS).collect();
    let last: String = line.chars().skip(all - ENDS).collect();
    format!("{first} … ({} characters omitted) … {last}", all - 2 * ENDS)
}

/// Returns the number of columns of lines on stdout: the variable COLUMNS, otherwise the terminal's, or 100 without a terminal.
pub fn width() -> usize {
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    asked().or_else(|| furlong_os::terminal::columns(stdout().as_handle())).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_line_keeps_its_ends() {
        let line = format!("begin{}end", "é".repeat(20_000));
        let short = shortened(&line);
        assert!(short.starts_with("begin") && short.ends_with("end") && short.len() < 3000, "{short}");
        assert!(short.contains("(18808 characters omitted)"), "{short}");
        assert_eq!(shortened("short"), "short");
    }
}
