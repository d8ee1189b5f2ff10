//! A terminal, provided by `script` from util-linux.

use super::{FinishedCommand, Place, RunningCommand, look_for};
use std::io::{PipeWriter, Write};
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(60);

/// A terminal that runs a line of shell, in which furlong is `"$FURLONG"`.
pub struct Terminal<'a> {
    pub running: RunningCommand<'a>,
    keyboard: PipeWriter,
    /// The number of bytes of the output that were already searched.
    seen: usize,
}

impl Terminal<'_> {
    /// The character that Ctrl-C types.
    pub const INTERRUPT: &'static str = "\u{3}";

    /// Starts the line on a new terminal.
    pub fn start<'a>(place: &'a Place, line: &str) -> Terminal<'a> {
        let (keys, keyboard) = std::io::pipe().expect("a pipe");
        let mut script = place.program("script");
        script
            .args(["--quiet", "--return", "--flush", "--command", line, "/dev/null"])
            .stdin(keys)
            .env("SHELL", "/bin/sh")
            // Without TERM, nothing is drawn, because the terminal's abilities are unknown.
            .env("TERM", "xterm");
        Terminal { running: place.start(&mut script), keyboard, seen: 0 }
    }

    /// Waits until these words are shown, after the words of earlier calls, and then types `keys`.
    #[track_caller]
    pub fn at(&mut self, words: &str, keys: &str) {
        let shown = look_for(A_WHILE, || {
            let shown = self.running.stdout();
            let found = shown.get(self.seen..)?.find(words)?;
            Some(self.seen + found + words.len())
        });
        self.seen = shown.unwrap_or_else(|| panic!("no '{words}' in {:?}", self.running.stdout()));
        self.keyboard.write_all(keys.as_bytes()).expect("a terminal that reads");
    }

    /// Waits for the end and returns the whole output.
    pub fn finish(self) -> FinishedCommand {
        self.running.finish_within(Duration::from_secs(120))
    }
}
