//! Options of `furlong export`, `furlong completions` and `furlong man`.

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

const EXPORT_EXAMPLES: &str =
    "A run is a name, @last, a glob or a path, as in furlong compare. Nothing is measured.

Examples:
  furlong export                                 the newest run as comma-separated values
  furlong export 'after-*' -o runs.csv           several runs in one file, with a column for the run
  furlong export before --format json            a list with one object per run
  furlong export @last --format openmetrics -o furlong.prom
                                                 for a monitoring system, through a textfile collector
  furlong export '*' --format parquet -o runs.parquet
                                                 the columns of CSV with their types

Run files are JSON lines, which databases can read. docs/queries.md has queries for DuckDB.";

/// Options of `furlong export`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportOptions {
    /// Saved runs: names, @last, @last~1, globs or paths [default: @last]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub format: ExportFormat,
    /// Write to FILE instead of stdout. An existing file is replaced
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Comma-separated values, one line per benchmark
    Csv,
    /// A list with one object per run
    Json,
    /// Tables for a document
    Markdown,
    /// Metrics for a monitoring system
    Openmetrics,
    /// Columns of CSV with their types, for a database (if furlong was compiled with it)
    Parquet,
}

const COMPLETIONS_EXAMPLES: &str = "Examples:
  furlong completions bash > furlong.bash        then: source furlong.bash
  furlong completions zsh > _furlong             in a directory of $fpath
  furlong completions fish > furlong.fish        in ~/.config/fish/completions";

/// Options of `furlong completions`.
#[derive(Debug, Clone, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsOptions {
    /// Shell
    #[arg(value_enum)]
    pub shell: Shell,
}

const MAN_EXAMPLES: &str = "Examples:
  furlong man > furlong.1                        the page of furlong; then: man -l furlong.1
  furlong man run -o furlong-run.1               the page of a command
  furlong man --all -o man1                      every page, for a package";

/// Options of `furlong man`.
#[derive(Debug, Clone, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManOptions {
    /// Command whose page is printed [default: furlong]
    #[arg(value_name = "COMMAND")]
    pub verb: Option<String>,
    /// Write every page into the directory of -o
    #[arg(long, requires = "output", conflicts_with = "verb")]
    pub all: bool,
    /// Write to PATH instead of stdout: a file, or with --all a directory
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}
