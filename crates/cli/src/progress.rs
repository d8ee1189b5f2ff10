//! The progress line on stderr: none where stderr is no terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Display;
use std::io::{IsTerminal, stderr};

/// A line that says how far the run is. It draws only when told to, so that the process keeps one thread.
pub struct Progress(ProgressBar);

impl Progress {
    /// A line, if there is a terminal and `wanted`.
    pub fn new(wanted: bool) -> Progress {
        let visible = wanted && stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        // The template is ours: a mistake in it leaves the plain style.
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} trials, {eta} left  {msg}") {
            bar.set_style(style);
        }
        Progress(bar)
    }

    /// `done` of `total` trials are done, and one of `what` begins.
    pub fn show(&self, done: usize, total: usize, what: &dyn Display) {
        if self.0.is_finished() {
            self.0.reset();
        }
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
        self.0.set_message(what.to_string());
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
