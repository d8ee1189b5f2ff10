//! What `furlong adapter` and its parts take.

use clap::{Args, Subcommand};
use furlong_console::ListFormat;
use std::path::PathBuf;

const ADAPTER_EXAMPLES: &str =
    "An adapter is a program that carries mechanisms, such as a library's or a language's own. The \
source of those that are listed is in this program; anybody can write another (docs/adapters.md).

Examples:
  furlong adapter list                           what there is, and what is missing for it
  furlong adapter install python                 build and install one of them
  furlong run 'python-*' pipe                    its rows are rows like others
  furlong adapter new --lang python mine         begin one of your own";

/// What `furlong adapter` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = ADAPTER_EXAMPLES)]
pub struct AdapterOptions {
    /// What to do with adapters
    #[command(subcommand)]
    pub part: AdapterPart,
}

/// The parts of `furlong adapter`.
#[derive(Debug, Clone, Subcommand)]
pub enum AdapterPart {
    /// List the adapters that there are, whether they are installed, and what is missing
    List(AdapterListOptions),
    /// Build adapters with this machine's own tools, and install them into furlong's data folder
    Install(AdapterInstallOptions),
    /// Remove installed adapters
    Remove(AdapterNamesOptions),
    /// Check whether an adapter does what the protocol asks and what it claims
    Check(AdapterCheckOptions),
    /// Write a new adapter that passes the check, to be changed into one of your own
    New(AdapterNewOptions),
}

/// What `furlong adapter list` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  furlong adapter list
  furlong adapter list --format json")]
pub struct AdapterListOptions {
    /// Form of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}

/// What `furlong adapter install` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Every command is printed before it runs. What is installed already is built anew.

Examples:
  furlong adapter install python go
  furlong adapter install --all                  all that this machine has the tools for")]
pub struct AdapterInstallOptions {
    /// The adapters, by their names in the list
    #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
    pub names: Vec<String>,
    /// All in the list
    #[arg(long)]
    pub all: bool,
}

/// What `furlong adapter remove` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  furlong adapter remove python")]
pub struct AdapterNamesOptions {
    /// The adapters, by their names in the list
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
}

/// What `furlong adapter check` takes.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "It says hello, exchanges messages of many sizes in each way that is claimed, checks every byte, and ends the \
programs before they have done anything, by the end of their requests and by SIGTERM: nothing may be left then.

Examples:
  furlong adapter check ./mine
  furlong adapter check python"
)]
pub struct AdapterCheckOptions {
    /// The folder of an adapter, or the name of an installed one
    #[arg(value_name = "ADAPTER")]
    pub adapter: PathBuf,
}

/// What `furlong adapter new` takes.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  furlong adapter new --lang python mine
  furlong adapter check ./mine
  furlong run --adapter ./mine pipe")]
pub struct AdapterNewOptions {
    /// The language to write it in: python, node, go, java, c, c++ or rust
    #[arg(long, value_name = "LANGUAGE")]
    pub lang: String,
    /// The adapter's name, which its folder and its row have too
    #[arg(value_name = "NAME")]
    pub name: String,
}
