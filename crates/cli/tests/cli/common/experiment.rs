//! Experiments for tests, which take seconds instead of the minutes of the published ones.

use super::{FinishedCommand, Place};
use furlong_analysis::{Replay, ReplayRow, ReplayStatus};
use std::fs;
use std::process::Command;

/// Two rows that furlong measures and one that it does not have, with figures, claims and a fault.
pub const ROUND_TRIPS: &str = r#"name = "mine"
title = "Is the pipe still slower than the queue?"
author = "the tests"
year = 2020
machine = "an old machine"

[measure]
kind = "round-trip"
sizes = ["128"]
count = 1000
per_trial = 300
trials = 3
order_by = "mean_us"

[[row]]
name = "the pipe"
row = "pipe/block"
published = [{ mean_us = 20, messages_per_second = 50_000 }]

[[row]]
name = "the queue"
row = "posix-mq/block"
published = [{ mean_us = 10, messages_per_second = 100_000 }]

[[row]]
name = "the driver"
row = "telegraph/select-first"
missing = "its module is not loaded here"
published = [{ mean_us = 15, messages_per_second = 66_667 }]

[[claim]]
text = "The queue is a thousand times as fast as the pipe."
faster = "the queue"
than = "the pipe"
times = 1000

[[claim]]
text = "The driver beats the pipe."
faster = "the driver"
than = "the pipe"

[[fault]]
text = "Nobody looked at what arrived."
"#;

/// Returns an experiment that transfers a region of `size` `repetitions` times through mapped memory, with one row
/// per backing.
pub fn handovers(backings: &[&str], size: &str, repetitions: u32, trials: u32) -> String {
    let rows = backings.iter().map(|name| format!("[[row]]\nname = \"{name}\"\nbacking = \"{name}\"\n"));
    format!(
        "name = \"regions\"\ntitle = \"Which backing?\"\n[measure]\nkind = \"handover\"\nsizes = [\"{size}\"]\n\
         repetitions = {repetitions}\ntrials = {trials}\norder_by = \"real_s\"\n{}",
        rows.collect::<String>()
    )
}

impl Place {
    /// Writes an experiment into `mine.toml`.
    pub fn write_experiment(&self, experiment: &str) {
        fs::write(self.path("mine.toml"), experiment).expect("a file in a place of our own");
    }

    /// Returns the command that replays an experiment.
    pub fn replaying(&self, experiment: &str, options: &[&str]) -> Command {
        self.write_experiment(experiment);
        self.furlong(["replay", "./mine.toml", "--format", "json"].iter().chain(options).copied())
    }

    /// Replays an experiment to its end. If a row is void, the replay is repeated once: in such short trials, a stall
    /// of the machine is enough to break a law.
    pub fn replay(&self, experiment: &str, options: &[&str]) -> FinishedCommand {
        let finished = self.finish(&mut self.replaying(experiment, options));
        if finished.code != Some(1) || !finished.replay().rows.iter().any(is_void) {
            return finished;
        }
        eprintln!("tried again, because a row is void: {}", finished.stdout);
        self.finish(&mut self.replaying(experiment, options))
    }
}

/// Returns whether the figures of a row cannot be true.
pub fn is_void(row: &ReplayRow) -> bool {
    row.status == ReplayStatus::Void
}

impl FinishedCommand {
    /// Returns the replay that `replay --format json` printed.
    #[track_caller]
    pub fn replay(&self) -> Replay {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}

/// Returns the row with this name, at its first size.
#[track_caller]
pub fn row<'a>(replay: &'a Replay, name: &str) -> &'a ReplayRow {
    let found = replay.rows.iter().find(|row| row.mechanism == name);
    found.unwrap_or_else(|| panic!("no {name} in {:#?}", replay.rows))
}
