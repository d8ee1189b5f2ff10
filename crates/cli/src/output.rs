//! Results on stdout, and their style.

pub use furlong_console::output::{print, tell, tell_coloured, tell_error, width};

use furlong_os::AsHandle;
use furlong_render::{Charts, Style};
use std::io::{IsTerminal, stderr, stdout};

/// Returns the colours and the width for results on stdout.
pub fn style() -> Style {
    Style { colour: colour(), width: width(), charts: Charts::Auto }
}

/// Returns whether results may have colours: stdout is a terminal, and NO_COLOR does not forbid colours
/// (no-color.org).
pub fn colour() -> bool {
    stdout().is_terminal() && wants_colour()
}

/// Returns the style of charts on stderr, which is a terminal.
pub fn style_on_stderr() -> Style {
    // A terminal of unknown width counts as 80 columns wide, as in indicatif, which draws the progress.
    let width = furlong_os::terminal::columns(stderr().as_handle()).unwrap_or(80);
    Style { colour: wants_colour(), width, charts: Charts::Auto }
}

/// Returns the number of lines of the terminal on stderr; 24 if it is unknown.
pub fn lines_on_stderr() -> usize {
    furlong_os::terminal::lines(stderr().as_handle()).unwrap_or(24)
}

fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
