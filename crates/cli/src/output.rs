//! Where results go, and how they look there.

pub use furlong_console::output::{print, tell, tell_coloured, tell_error, width};

use furlong_os::AsHandle;
use furlong_render::{Charts, Style};
use std::io::{IsTerminal, stderr, stdout};

/// Colour and width for results on stdout.
pub fn style() -> Style {
    Style { colour: colour(), width: width(), charts: Charts::Auto }
}

/// Whether results may have colours: on a terminal, unless NO_COLOR says otherwise (no-color.org).
pub fn colour() -> bool {
    stdout().is_terminal() && wants_colour()
}

/// How what is drawn on stderr looks, which is a terminal.
pub fn style_on_stderr() -> Style {
    // A terminal that does not say is taken for one of 80 columns, as the library takes it that draws.
    let width = furlong_os::terminal::columns(stderr().as_handle()).unwrap_or(80);
    Style { colour: wants_colour(), width, charts: Charts::Auto }
}

/// Lines of the terminal that stderr is.
pub fn lines_on_stderr() -> usize {
    furlong_os::terminal::lines(stderr().as_handle()).unwrap_or(24)
}

fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
