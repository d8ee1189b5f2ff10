//! Writing results to stdout, and words about them to stderr.

use crate::exit::Usage;
use crate::writing;
use anyhow::Context;
use furlong_analysis::render::{Charts, Style};
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};
use std::os::fd::AsFd;
use std::path::Path;

/// Writes a result. A reader that has seen enough and left (`| head`) is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_more(text).map(drop)
}

/// Writes a part of a result, and says whether more of it would be read.
pub fn print_more(text: &str) -> anyhow::Result<bool> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true).context("cannot write the result to stdout"),
    }
}

/// Writes a result to a file in the place of what is there, or to stdout.
pub fn deliver(text: &str, file: Option<&Path>) -> anyhow::Result<()> {
    match file {
        None => print(text),
        Some(path) if path.is_dir() => {
            Err(Usage(format!("-o {}: that is a folder; name a file in it", path.display())).into())
        }
        Some(path) => writing::replace(path, text.as_bytes()),
    }
}

/// Writes a line to stderr. Where that is closed nobody wants to know, so it is no error.
pub fn tell(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(stderr().lock(), "{line}");
}

/// Colour and width for results on stdout.
pub fn style() -> Style {
    Style { colour: colour(), width: width(), charts: Charts::Auto }
}

/// Columns of the terminal, or of a page where there is none.
pub fn width() -> usize {
    furlong_os::terminal::columns(stdout().as_fd()).unwrap_or(100)
}

/// Whether results may have colours: on a terminal, unless NO_COLOR says otherwise (no-color.org).
pub fn colour() -> bool {
    stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
