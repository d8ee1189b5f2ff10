//! What `furlong export`, `furlong completions` and `furlong man` take.

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

const EXPORT_EXAMPLES: &str = "A run is a name, @last, a glob or a path, as furlong compare takes it. Nothing is measured.

Examples:
  furlong export                                 the newest run as comma-separated values
  furlong export 'after-*' -o runs.csv           several runs in one sheet, each line with its run
  furlong export before --format json            a list of one object a run
  furlong export @last --format openmetrics -o furlong.prom
                                                 for a monitoring system (a textfile collector reads it)
  furlong export '*' --format parquet -o runs.parquet
                                                 the same sheet with a kind for each column

The files of runs themselves are JSON lines, which databases read as they are; docs/queries.md has queries for DuckDB.";

/// What `furlong export` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportOptions {
    /// Saved runs: names, @last, @last~1, globs such as 'after-*', or paths; @last if none is named
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub format: ExportFormat,
    /// Write to this file instead of stdout; an existing one is replaced
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Comma-separated values, a line a row
    Csv,
    /// A list of one object a run
    Json,
    /// Tables for a document
    Markdown,
    /// Metrics for a monitoring system
    Openmetrics,
    /// The columns of csv, each with its kind, for a database (only where furlong was compiled with it)
    Parquet,
}

const COMPLETIONS_EXAMPLES: &str = "Examples:
  furlong completions bash > furlong.bash        then: source furlong.bash
  furlong completions zsh > _furlong             in a folder of $fpath
  furlong completions fish > furlong.fish        in ~/.config/fish/completions";

/// What `furlong completions` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsOptions {
    /// The shell that completes
    #[arg(value_enum)]
    pub shell: Shell,
}

const MAN_EXAMPLES: &str = "Examples:
  furlong man > furlong.1                        this command's page; then: man -l furlong.1
  furlong man run -o furlong-run.1               the page of a verb
  furlong man --all -o man1                      every page as a file of a folder, for a package";

/// What `furlong man` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManOptions {
    /// A verb, for its own page
    #[arg(value_name = "VERB")]
    pub verb: Option<String>,
    /// Every page, each as a file of the folder that -o names
    #[arg(long, requires = "output", conflicts_with = "verb")]
    pub all: bool,
    /// Write to this file, or with --all into this folder, instead of stdout
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}
