//! A terminal: that of `script` from util-linux.

use super::{Finished, Place, Running, look_for};
use std::io::{PipeWriter, Write};
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

/// A terminal on which a line of shell runs, with `"$FURLONG"` in it.
pub struct Terminal<'a> {
    pub running: Running<'a>,
    keyboard: PipeWriter,
    /// How much of what is shown was looked at.
    seen: usize,
}

impl Terminal<'_> {
    /// What Ctrl-C types.
    pub const INTERRUPT: &'static str = "\u{3}";

    /// Starts the line there.
    pub fn start<'a>(place: &'a Place, line: &str) -> Terminal<'a> {
        let (keys, keyboard) = std::io::pipe().expect("a pipe");
        let mut script = place.program("script");
        script
            .args(["--quiet", "--return", "--flush", "--command", line, "/dev/null"])
            .stdin(keys)
            .env("SHELL", "/bin/sh")
            // Nothing is drawn where this is not set: the terminal may not know how.
            .env("TERM", "xterm");
        Terminal { running: place.start(&mut script), keyboard, seen: 0 }
    }

    /// Waits until these words are shown, after those that were waited for before, and then types.
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

    /// What was shown to the end.
    pub fn finish(self) -> Finished {
        self.running.finish_within(Duration::from_secs(120))
    }
}
