//! What `furlong compare` takes.

use clap::{Args, ValueEnum};
use furlong_model::Percent;

const COMPARE_EXAMPLES: &str =
    "A run is the name that it was saved under (furlong run --save NAME), @last for the newest one and
@last~1 for the one before, a glob over saved names, or a path to a file, from any machine.
Nothing is measured.

Examples:
  furlong compare before after                   a ratio and a verdict for each row that both have
  furlong compare @last~1 @last                  the two newest runs
  furlong compare before 'after-*'               several, each against the first
  furlong compare before after --margin 10% --fail-on regression
                                                 for a script: 3 if a row is worse
  furlong compare before after --format markdown
                                                 for a pull request
  furlong compare before after --format junit    for a system of continuous integration
  furlong compare a1 b1 a2 b2 a3 b3 a4 b4 --pairs
                                                 runs measured in turn: one verdict over all of them
  furlong compare --by host results              many runs: each row over the hosts, and hosts that stand out, with why
  furlong compare --by label results             runs with another label (furlong run --label after) against the first

Verdicts: worse or better if chance between trials does not explain the difference (rank-sum test,
Holm-corrected over all rows) and all of the ratio's 95 % interval is beyond the margin; same if all
of it is within; else inconclusive. Where both runs have counts (furlong count --save NAME), those are
compared too: noise does not change how many system calls a message makes.";

/// What `furlong compare` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareOptions {
    /// Saved runs, the baseline first: names, @last, @last~1, globs such as 'after-*', or paths; with --by also folders, of
    /// which every file that ends in .jsonl is read, with those of folders in them
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Compare many runs: those of each host with all others, or groups of one kernel or label with the group of the oldest run; of one host, the unit is the run
    #[arg(long, value_enum, value_name = "WHAT")]
    pub by: Option<CompareBy>,
    /// Compare runs of one host that were measured in turn, A B A B: the 1st, 3rd, … with the 2nd, 4th, …; the unit is the run
    #[arg(long, conflicts_with = "by")]
    pub pairs: bool,
    /// Changes of a row up to this count as the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub margin: Percent,
    /// Exit with 3 if a row is worse (regression) or makes more system calls (more-calls), or with 4 if one is inconclusive;
    /// with 4 too if nothing can be judged; may be repeated
    #[arg(long, value_enum, value_name = "VERDICT", value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,
    /// With --fail-on: exit with 0 where nothing can be judged
    #[arg(long, requires = "fail_on")]
    pub allow_inconclusive: bool,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = CompareFormat::Table)]
    pub format: CompareFormat,
}

/// What many runs are put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareBy {
    /// The host, as the records call it (run --host)
    Host,
    /// The release of the kernel
    Kernel,
    /// What the user called the conditions (run --label)
    Label,
}

/// Forms of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For people
    Table,
    /// One object
    Json,
    /// One line a row
    Csv,
    /// For documents
    Markdown,
    /// JUnit's XML, for continuous integration: a row that is worse is a failure
    Junit,
}

/// What a script may take for a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A row is worse
    Regression,
    /// A row is inconclusive
    Inconclusive,
    /// A row makes more system calls
    MoreCalls,
}
