//! What `furlong runs` takes.

use clap::{Args, Subcommand};
use furlong_console::ListFormat;

const EXAMPLES: &str = "A run is the name that it was saved under, @last for the newest one, @last~1 for the one before, or a glob.

Examples:
  furlong runs list                              all saved runs, the newest last
  furlong runs show @last                        its figures once more; nothing is measured";

/// What `furlong runs` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct RunsOptions {
    #[command(subcommand)]
    pub verb: RunsVerb,
}

/// What can be done with saved runs.
#[derive(Debug, Clone, Subcommand)]
pub enum RunsVerb {
    /// List all saved runs: name, time and command
    #[command(after_help = "Examples:\n  furlong runs list\n  furlong runs list --format json")]
    List {
        /// Form of the result
        #[arg(long, value_enum, default_value_t = ListFormat::Table)]
        format: ListFormat,
    },
    /// Show the figures of a saved run as the verb printed them that measured it
    #[command(after_help = "Examples:\n  furlong runs show @last\n  furlong runs show before")]
    Show {
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
    /// Give a saved run another name
    #[command(after_help = "Examples:\n  furlong runs rename after with-large-pages")]
    Rename {
        /// A saved run: its name, @last or @last~1
        #[arg(value_name = "RUN")]
        run: String,
        /// Its new name, which no other run has
        #[arg(value_name = "NAME")]
        name: String,
    },
}
