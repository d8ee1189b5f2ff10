//! Options of `furlong tune`.

use super::run::RunOptions;
use clap::Args;

const TUNE_EXAMPLES: &str =
    "Every condition that is possible here is measured next to none, in one interleaved run. A placebo, which changes nothing, must tie.
Settings of the machine are restored after each trial.

Examples:
  furlong tune pipe                              scheduling, kernel settings and all other kinds of conditions
  furlong tune tcp -m one-way -s 32KiB           any workload of furlong run
  furlong tune pipe --sched fifo:50 --nice -5    only these two conditions
  furlong tune tcp --set net.core.busy_poll=50
                                                 only this setting
  furlong tune pipe --format json                one JSON object";

/// Options of `furlong tune`: those of a run.
#[derive(Debug, Clone, Args)]
#[command(after_help = TUNE_EXAMPLES)]
pub struct TuneOptions {
    #[command(flatten)]
    pub run: RunOptions,
}
