//! Results on stdout, and sentences about them on stderr.

use anyhow::Context;
use furlong_model::is_unseen;
use furlong_os::AsHandle;
use std::io::{ErrorKind, Write, stderr, stdout};

/// Writes a result. A reader that has seen enough and left (`| head`) is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// The same of a result that need not be text.
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    print_part(bytes).map(drop)
}

/// Writes a part of a result, and says whether more of it would be read.
pub fn print_more(text: &str) -> anyhow::Result<bool> {
    print_part(text.as_bytes())
}

fn print_part(bytes: &[u8]) -> anyhow::Result<bool> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true).context("cannot write the result to stdout"),
    }
}

/// Writes lines to stderr. A name in them, which may come from anybody, commands no terminal.
pub fn tell(lines: std::fmt::Arguments<'_>) {
    let safe = |c: char| if is_unseen(c) && c != '\n' { ' ' } else { c };
    tell_coloured(&lines.to_string().chars().map(safe).collect::<String>());
}

/// The same of lines that may have colours. Where stderr is closed nobody wants to know, so it is no error.
pub fn tell_coloured(lines: &str) {
    let _ = writeln!(stderr().lock(), "{lines}");
}

/// Returns the columns of the terminal; without one, those that the variable COLUMNS asks for, or 100.
pub fn width() -> usize {
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    furlong_os::terminal::columns(stdout().as_handle()).or_else(asked).unwrap_or(100)
}
