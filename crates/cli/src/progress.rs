//! Progress of a run on stderr: a line, a line below the leading rows, or a chart of the trials. Nothing is drawn if
//! stderr is not a terminal.

use crate::arguments::CommonOptions;
use crate::output;
use furlong_analysis::{OverTime, Standings, TrialTimes};
use furlong_model::Trial;
use furlong_render::{over_time, standings};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Display;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// The minimum time between two updates of the leading rows, so that the user can read them.
const REDRAWN: Duration = Duration::from_millis(500);

/// The maximum number of leading rows of each group.
const LEADERS: usize = 3;

/// The minimum number of terminal lines for the leading rows. On a lower terminal they would disappear as soon as all
/// groups have rows.
const FEWEST_LINES: usize = 24;

/// The kind of progress that is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressKind {
    /// Nothing.
    Nothing,
    /// The number of finished trials.
    Line,
    /// The leading rows and the number of finished trials.
    Leaders,
    /// All trials so far.
    Chart,
}

impl From<&CommonOptions> for ProgressKind {
    fn from(options: &CommonOptions) -> Self {
        if options.no_progress { ProgressKind::Nothing } else { ProgressKind::Line }
    }
}

/// The line with the progress of the run, or the chart instead of it. It is drawn only on request, so that the
/// process has a single thread.
pub struct Progress {
    line: ProgressBar,
    above: TrialDisplay,
}

/// The drawing of the trials so far, above the line or instead of it.
enum TrialDisplay {
    Nothing,
    Leaders { standings: Standings, drawn: Option<Instant> },
    Chart(Vec<OverTime>),
}

impl Progress {
    /// Creates the progress; it draws nothing if stderr is not a terminal.
    pub fn new(shown: ProgressKind) -> Progress {
        let shown = if stderr().is_terminal() { shown } else { ProgressKind::Nothing };
        let target = match shown {
            ProgressKind::Nothing => ProgressDrawTarget::hidden(),
            _ => ProgressDrawTarget::stderr(),
        };
        let line = ProgressBar::with_draw_target(None, target);
        let template = match shown {
            ProgressKind::Chart => "{msg}",
            _ => "{prefix}{bar:20} {pos}/{len} trials, {eta} left  {msg}",
        };
        // The template is a constant: a mistake in it only leaves indicatif's default style.
        if let Ok(style) = ProgressStyle::with_template(template) {
            line.set_style(style);
        }
        let above = match shown {
            ProgressKind::Nothing | ProgressKind::Line => TrialDisplay::Nothing,
            ProgressKind::Leaders => TrialDisplay::Leaders { standings: Standings::default(), drawn: None },
            ProgressKind::Chart => TrialDisplay::Chart(Vec::new()),
        };
        Progress { line, above }
    }

    /// Draws that `done` of `total` trials are finished and that a trial of `what` begins.
    pub fn show(&mut self, done: usize, total: usize, what: &dyn Display) {
        if self.line.is_finished() {
            self.line.reset();
        }
        match &mut self.above {
            TrialDisplay::Chart(rows) => {
                let drawn = over_time(rows, output::style_on_stderr());
                self.line.set_message(format!("{drawn}Ctrl-C ends the run."));
                return;
            }
            TrialDisplay::Leaders { standings, drawn } if drawn.is_none_or(|at| at.elapsed() >= REDRAWN) => {
                self.line.set_prefix(leaders(standings));
                *drawn = Some(Instant::now());
            }
            TrialDisplay::Leaders { .. } | TrialDisplay::Nothing => {}
        }
        self.line.set_length(total as u64);
        self.line.set_position(done as u64);
        self.line.set_message(what.to_string());
    }

    /// Adds a finished trial.
    pub fn add(&mut self, trial: &Trial) {
        match &mut self.above {
            TrialDisplay::Nothing => {}
            TrialDisplay::Leaders { standings, .. } => standings.add(trial),
            TrialDisplay::Chart(rows) => {
                let Some(times) = TrialTimes::of(trial) else { return };
                match rows.iter_mut().find(|row| row.case == trial.case) {
                    Some(row) => row.trials.push(times),
                    None => rows.push(OverTime { case: trial.case.clone(), trials: vec![times] }),
                }
            }
        }
    }

    /// Removes the drawing.
    pub fn clear(&self) {
        self.line.finish_and_clear();
    }
}

/// Returns as many leading rows of each group as fit on the terminal, or nothing if the terminal has too few lines.
fn leaders(so_far: &Standings) -> String {
    let (style, lines) = (output::style_on_stderr(), output::lines_on_stderr());
    if lines < FEWEST_LINES {
        return String::new();
    }
    let drawn = |most| standings(&so_far.leaders(most), style);
    // Three lines stay free: the line below may wrap to two, and text of the terminal's full height would scroll.
    let fits = |text: &String| text.lines().count() + 3 <= lines;
    (1..=LEADERS).rev().map(drawn).find(fits).unwrap_or_default()
}
