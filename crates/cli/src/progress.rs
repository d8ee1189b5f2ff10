//! How far a run is, on stderr: a line, below the rows that lead so far, or a chart of its trials. Nothing where stderr is no
//! terminal.

use crate::output;
use furlong_analysis::{OverTime, Standings, TrialTimes};
use furlong_model::Trial;
use furlong_render::{over_time, standings};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Display;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// How often the rows that lead are drawn anew, at most: who reads them wants them to stand still for a moment.
const REDRAWN: Duration = Duration::from_millis(500);

/// The most rows of each group that are drawn.
const LEADERS: usize = 3;

/// The fewest lines of a terminal on which they are drawn: on a lower one they would go as soon as all groups are there.
const FEWEST_LINES: usize = 24;

/// What is shown of a run under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Nothing.
    Nothing,
    /// How far it is.
    Line,
    /// Which rows lead, and how far it is.
    Leaders,
    /// All trials so far.
    Chart,
}

/// A line that says how far the run is, or what stands in its place. It draws only when told to, so that the process keeps
/// one thread.
pub struct Progress {
    line: ProgressBar,
    above: Above,
}

/// What is drawn beside the line, of the trials so far.
enum Above {
    Nothing,
    Leaders { standings: Standings, drawn: Option<Instant> },
    Chart(Vec<OverTime>),
}

impl Progress {
    /// What is to be shown, if there is a terminal.
    pub fn new(shown: Shown) -> Progress {
        let shown = if stderr().is_terminal() { shown } else { Shown::Nothing };
        let target = match shown {
            Shown::Nothing => ProgressDrawTarget::hidden(),
            _ => ProgressDrawTarget::stderr(),
        };
        let line = ProgressBar::with_draw_target(None, target);
        let template = match shown {
            Shown::Chart => "{msg}",
            _ => "{prefix}{bar:20} {pos}/{len} trials, {eta} left  {msg}",
        };
        // The template is ours: a mistake in it leaves the plain style.
        if let Ok(style) = ProgressStyle::with_template(template) {
            line.set_style(style);
        }
        let above = match shown {
            Shown::Nothing | Shown::Line => Above::Nothing,
            Shown::Leaders => Above::Leaders { standings: Standings::default(), drawn: None },
            Shown::Chart => Above::Chart(Vec::new()),
        };
        Progress { line, above }
    }

    /// `done` of `total` trials are done, and one of `what` begins.
    pub fn show(&mut self, done: usize, total: usize, what: &dyn Display) {
        if self.line.is_finished() {
            self.line.reset();
        }
        match &mut self.above {
            Above::Chart(rows) => {
                let drawn = over_time(rows, output::style_on_stderr());
                self.line.set_message(format!("{drawn}Ctrl-C ends the run."));
                return;
            }
            Above::Leaders { standings, drawn } if drawn.is_none_or(|at| at.elapsed() >= REDRAWN) => {
                self.line.set_prefix(leaders(standings));
                *drawn = Some(Instant::now());
            }
            Above::Leaders { .. } | Above::Nothing => {}
        }
        self.line.set_length(total as u64);
        self.line.set_position(done as u64);
        self.line.set_message(what.to_string());
    }

    /// A trial is done.
    pub fn add(&mut self, trial: &Trial) {
        match &mut self.above {
            Above::Nothing => {}
            Above::Leaders { standings, .. } => standings.add(trial),
            Above::Chart(rows) => {
                let Some(times) = TrialTimes::of(trial) else { return };
                match rows.iter_mut().find(|row| row.case == trial.case) {
                    Some(row) => row.trials.push(times),
                    None => rows.push(OverTime { case: trial.case.clone(), trials: vec![times] }),
                }
            }
        }
    }

    /// Removes what was drawn.
    pub fn clear(&self) {
        self.line.finish_and_clear();
    }
}

/// As many rows of each group as the terminal has lines for, and nothing where it has too few.
fn leaders(so_far: &Standings) -> String {
    let (style, lines) = (output::style_on_stderr(), output::lines_on_stderr());
    if lines < FEWEST_LINES {
        return String::new();
    }
    let drawn = |most| standings(&so_far.leaders(most), style);
    // The line below may take two, and what is as high as the terminal scrolls.
    let fits = |text: &String| text.lines().count() + 3 <= lines;
    (1..=LEADERS).rev().map(drawn).find(fits).unwrap_or_default()
}
