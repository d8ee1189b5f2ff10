//! Options of `furlong compare`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use furlong_model::{Axis, Percent};

const COMPARE_EXAMPLES: &str =
    "A run is a saved name (furlong run --save NAME), @last for the newest run, @last~1 for the run before it, a glob over
saved names, or a path to a file of any machine. Nothing is measured.

Examples:
  furlong compare before after                   ratio and verdict of each common benchmark
  furlong compare @last~1 @last                  the two newest runs
  furlong compare before 'after-*'               several runs, each against the first
  furlong compare before after --margin 10% --fail-on regression
                                                 for a script: exit status 3 if a benchmark is worse
  furlong compare before after --format markdown
                                                 for a pull request
  furlong compare before after --format junit    for continuous integration
  furlong compare a1 b1 a2 b2 a3 b3 a4 b4 --pairs
                                                 runs measured in turn: one verdict over all pairs
  furlong compare @last --between sched          two values in one run (furlong run pipe --sched other --sched fifo:50)
  furlong compare --by host results              many hosts: outliers, with the likely cause
  furlong compare --by label results             runs of one label (furlong run --label after) against another

Verdicts: 'worse' or 'better' if the difference is significant (rank-sum test, Holm-corrected over all benchmarks) and the
whole 95 % interval of the ratio is beyond the margin. 'same' if the whole interval is within the margin. 'inconclusive'
otherwise. If both runs have counts (furlong count --save NAME), the system calls per message are compared too.";

/// The axes, by their names.
fn axis() -> impl TypedValueParser<Value = Axis> {
    let find = |name: String| Axis::all().find(|axis| axis.name() == name).ok_or("no such axis");
    PossibleValuesParser::new(Axis::all().map(Axis::name)).try_map(find)
}

/// Options of `furlong compare`.
#[derive(Debug, Clone, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareOptions {
    /// Saved runs, the baseline first: names, @last, globs or paths. With --by also directories, of which every .jsonl file is read,
    /// recursively
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Group runs. Each host is compared with all others, and each kernel or label with the group of the
    /// oldest run. On one host, the statistical unit is the run
    #[arg(long, value_enum, value_name = "WHAT")]
    pub by: Option<CompareBy>,
    /// Compare runs that were measured in turn: A B A B. The 1st, 3rd, … are compared with the 2nd, 4th, … of one host. The
    /// statistical unit is the run
    #[arg(long, conflicts_with = "by")]
    pub pairs: bool,
    /// Compare the values of an option in one run, such as window or sched. The options are access, buffer, window, think-time, arrival and the
    /// conditions of furlong run. The baseline is the lowest value: other, batch, idle, fifo, rr
    #[arg(long, value_name = "OPTION", conflicts_with_all = ["by", "pairs"], hide_possible_values = true, value_parser = axis())]
    pub between: Option<Axis>,
    /// Treat changes up to PERCENT as the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub margin: Percent,
    /// Fail for this verdict. The exit status is 3 for regression and more-calls, and 4 for inconclusive or if nothing can be judged. Can
    /// be repeated
    #[arg(long, value_enum, value_name = "VERDICT", value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,
    /// With --fail-on: exit with status 0 if nothing can be judged
    #[arg(long, requires = "fail_on")]
    pub allow_inconclusive: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = CompareFormat::Table)]
    pub format: CompareFormat,
}

/// Keys of groups of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareBy {
    /// Host name in the records (run --host)
    Host,
    /// Release of the kernel
    Kernel,
    /// Label of the run (run --label)
    Label,
}

/// Forms of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Text
    Table,
    /// One object
    Json,
    /// One line per benchmark
    Csv,
    /// For documents
    Markdown,
    /// JUnit XML for continuous integration: a worse benchmark is a failure
    Junit,
}

/// Verdicts that can be failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A benchmark is worse
    Regression,
    /// A benchmark is inconclusive
    Inconclusive,
    /// A benchmark makes more system calls
    MoreCalls,
}
