//! How far a run is, on stderr: a line, or a chart of its trials. Nothing where stderr is no terminal.

use crate::output;
use furlong_analysis::{OverTime, TrialTimes};
use furlong_model::Trial;
use furlong_render::over_time;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Display;
use std::io::{IsTerminal, stderr};

/// A line that says how far the run is, or a chart that grows. It draws only when told to, so that the process keeps one
/// thread.
pub struct Progress {
    line: ProgressBar,
    /// The trials so far, where they are drawn.
    watched: Option<Vec<OverTime>>,
}

impl Progress {
    /// A line, if there is a terminal and `wanted`; a chart in its place if the run is `watched`.
    pub fn new(wanted: bool, watched: bool) -> Progress {
        let visible = wanted && stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let line = ProgressBar::with_draw_target(None, target);
        let template = if watched { "{msg}" } else { "{bar:20} {pos}/{len} trials, {eta} left  {msg}" };
        // The template is ours: a mistake in it leaves the plain style.
        if let Ok(style) = ProgressStyle::with_template(template) {
            line.set_style(style);
        }
        Progress { line, watched: (watched && visible).then(Vec::new) }
    }

    /// `done` of `total` trials are done, and one of `what` begins.
    pub fn show(&self, done: usize, total: usize, what: &dyn Display) {
        if self.line.is_finished() {
            self.line.reset();
        }
        match &self.watched {
            Some(rows) => {
                let drawn = over_time(rows, output::style_on_stderr());
                self.line.set_message(format!("{drawn}Ctrl-C ends the run."));
            }
            None => {
                self.line.set_length(total as u64);
                self.line.set_position(done as u64);
                self.line.set_message(what.to_string());
            }
        }
    }

    /// A trial is done.
    pub fn add(&mut self, trial: &Trial) {
        let Some((rows, times)) = self.watched.as_mut().zip(TrialTimes::of(trial)) else { return };
        match rows.iter_mut().find(|row| row.case == trial.case) {
            Some(row) => row.trials.push(times),
            None => rows.push(OverTime { case: trial.case.clone(), trials: vec![times] }),
        }
    }

    /// Removes the line or the chart.
    pub fn clear(&self) {
        self.line.finish_and_clear();
    }
}
