//! Options of `furlong runs`.

use clap::{Args, Subcommand};
use furlong_console::ListFormat;

const EXAMPLES: &str =
    "A run is a saved name, @last for the newest run, @last~1 for the run before it, or a glob.

Examples:
  furlong runs list                              all saved runs, the newest last
  furlong runs show @last                        figures of the newest run";

/// Options of `furlong runs`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct RunsOptions {
    #[command(subcommand)]
    pub verb: RunsVerb,
}

/// Commands for saved runs.
#[derive(Debug, Clone, Subcommand)]
pub enum RunsVerb {
    /// List all saved runs: name, time and command
    #[command(after_help = "Examples:\n  furlong runs list\n  furlong runs list --format json")]
    List {
        /// Output format
        #[arg(long, value_enum, default_value_t = ListFormat::Table)]
        format: ListFormat,
    },
    /// Print the figures of a saved run again
    #[command(after_help = "Examples:\n  furlong runs show @last\n  furlong runs show --brief before")]
    Show {
        /// Print the placements side by side, as furlong without a verb does
        #[arg(long)]
        brief: bool,
        /// Saved runs: names, @last, @last~1, globs such as 'after-*', or paths
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
    },
    /// Delete saved runs
    #[command(after_help = "Examples:\n  furlong runs remove 'after-*'")]
    Remove {
        /// Saved runs: names, @last, @last~1, or globs such as 'after-*'
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
    },
    /// Rename a saved run
    #[command(after_help = "Examples:\n  furlong runs rename after with-large-pages")]
    Rename {
        /// Saved run: a name, @last or @last~1
        #[arg(value_name = "RUN")]
        run: String,
        /// New name, which no other run has
        #[arg(value_name = "NAME")]
        name: String,
    },
}
