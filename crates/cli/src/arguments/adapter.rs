//! Options of `furlong adapter`.

use clap::{Args, Subcommand};
use furlong_console::ListFormat;
use std::path::PathBuf;

const ADAPTER_EXAMPLES: &str =
    "An adapter is a program that implements benchmarks of a library or a language. furlong contains the source code of the \
listed adapters. docs/adapters.md describes how to write another one.

Examples:
  furlong adapter list                           adapters, and their missing tools
  furlong adapter install python                 build and install an adapter
  furlong run 'python-*' pipe                    run its benchmarks, and a pipe
  furlong adapter new --lang python mine         create your own adapter";

/// Options of `furlong adapter`.
#[derive(Debug, Clone, Args)]
#[command(after_help = ADAPTER_EXAMPLES)]
pub struct AdapterOptions {
    /// Command
    #[command(subcommand)]
    pub part: AdapterPart,
}

/// Commands of `furlong adapter`.
#[derive(Debug, Clone, Subcommand)]
pub enum AdapterPart {
    /// List adapters, whether they are installed, and missing tools
    List(AdapterListOptions),
    /// Build adapters with the tools of this machine, and install them
    Install(AdapterInstallOptions),
    /// Remove installed adapters
    Remove(AdapterNamesOptions),
    /// Check an adapter against the protocol and its claims
    Check(AdapterCheckOptions),
    /// Create an adapter that passes the check, for you to change
    New(AdapterNewOptions),
}

/// Options of `furlong adapter list`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  furlong adapter list
  furlong adapter list --format json")]
pub struct AdapterListOptions {
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

/// Options of `furlong adapter install`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Adapters are installed into furlong's data directory. Installed adapters are built again. Every command is \
printed before it runs.

Examples:
  furlong adapter install python go
  furlong adapter install --all                  all adapters for which this machine has the tools"
)]
pub struct AdapterInstallOptions {
    /// Names of adapters in the list
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub names: Vec<String>,
    /// All adapters in the list
    #[arg(long)]
    pub all: bool,
}

/// Options of `furlong adapter remove`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  furlong adapter remove python")]
pub struct AdapterNamesOptions {
    /// Names of adapters in the list
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
}

/// Options of `furlong adapter check`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "The check exchanges messages of many sizes with every claimed pattern and wait strategy, and verifies every byte. It also \
ends the programs early, by the end of their requests and by SIGTERM. No process or file may remain.

Examples:
  furlong adapter check ./mine
  furlong adapter check python"
)]
pub struct AdapterCheckOptions {
    /// Directory of an adapter, or name of an installed adapter
    #[arg(value_name = "ADAPTER")]
    pub adapter: PathBuf,
}

/// Options of `furlong adapter new`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  furlong adapter new --lang python mine
  furlong adapter check ./mine
  furlong run --adapter ./mine pipe")]
pub struct AdapterNewOptions {
    /// Language: python, node, go, java, c, c++ or rust
    #[arg(long, value_name = "LANGUAGE")]
    pub lang: String,
    /// Name of the adapter, its directory and its benchmark
    #[arg(value_name = "NAME")]
    pub name: String,
}
