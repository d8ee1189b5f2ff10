//! A workload in a TOML file with the options of `furlong recommend`.

use crate::arguments::WorkloadOptions;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use furlong_adapter_files::manifest::without_excerpt;
use furlong_console::exit::Usage;
use furlong_os::file_system::read_text;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The value of an option in a file.
#[derive(Deserialize)]
#[serde(untagged, expecting = "write a string, a list of strings, a number, true or false")]
enum WrittenValue {
    Flag(bool),
    Number(u64),
    Text(String),
    List(Vec<String>),
}

impl WrittenValue {
    /// Returns the option as command-line arguments.
    fn typed(self, name: &str) -> Vec<String> {
        let with = |value: String| format!("--{name}={value}");
        match self {
            WrittenValue::Flag(true) => vec![format!("--{name}")],
            WrittenValue::Flag(false) => Vec::new(),
            WrittenValue::Number(number) => vec![with(number.to_string())],
            WrittenValue::Text(text) => vec![with(text)],
            WrittenValue::List(texts) => texts.into_iter().map(with).collect(),
        }
    }
}

/// The maximum size of a workload file in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads a workload. Options of the command line (`typed`) override those in the file.
///
/// # Errors
/// Returns a usage error if the file cannot be read, or if an entry is not a valid option.
pub fn read(path: &Path, typed: &ArgMatches) -> anyhow::Result<WorkloadOptions> {
    let shown = path.display();
    let text = read_text(path, LONGEST)
        .map_err(|error| Usage(format!("--workload: cannot read {shown}: {error}")))?;
    let mut options = parse(&text).map_err(|what| Usage(format!("{shown}: {what}")))?;
    // clap also stores a flag that was not given, with its default `false`.
    let mut typed = typed.clone();
    let ids: Vec<_> = typed.ids().cloned().collect();
    for id in ids {
        if typed.value_source(id.as_str()) != Some(ValueSource::CommandLine) {
            typed.try_clear_id(id.as_str())?;
        }
    }
    options.update_from_arg_matches(&typed)?;
    Ok(options)
}

/// Reads the text of a workload.
///
/// # Errors
/// Returns the first error of the text.
pub fn parse(text: &str) -> Result<WorkloadOptions, String> {
    let written: BTreeMap<String, WrittenValue> =
        toml::from_str(text).map_err(|error| without_excerpt(text, &error))?;
    let words = written.into_iter().flat_map(|(name, value)| value.typed(&name));
    parsed(words).map_err(|error| without_usage(&error.to_string()).to_owned())
}

fn parsed(words: impl Iterator<Item = String>) -> Result<WorkloadOptions, clap::Error> {
    let command = WorkloadOptions::augment_args(Command::new("workload")).no_binary_name(true);
    WorkloadOptions::from_arg_matches(&command.try_get_matches_from(words)?)
}

/// Returns an error text without clap's prefix and usage lines.
fn without_usage(error: &str) -> &str {
    let end = ["\n\nUsage:", "\n\nFor more"].iter().filter_map(|rest| error.find(rest)).min();
    error[..end.unwrap_or(error.len())].trim_start_matches("error: ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments;
    use furlong_model::{ByteSize, Need};

    /// Returns the workload of a file with this text, with these options on the command line.
    fn meant(text: &str, typed: &[&str]) -> WorkloadOptions {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let typed = arguments::command().get_matches_from([&["furlong", "recommend"], typed].concat());
        read(file.path(), typed.subcommand_matches("recommend").unwrap()).unwrap()
    }

    #[test]
    fn what_is_typed_counts_before_what_is_in_the_file() {
        let text =
            "size = '64KiB'\nask = '8'\nneeds = ['boundaries', 'fd-passing']\nconsumers = 2\nspin = true\n";
        let both = meant(text, &["--size", "128", "--needs", "persistence", "--accept-shared-memory"]);
        let expected = WorkloadOptions {
            size: Some(ByteSize(128)),
            request: Some(ByteSize(8)),
            needs: vec![Need::Persistence],
            receivers: Some(2),
            spin: true,
            accept_shared_memory: true,
            ..WorkloadOptions::default()
        };
        assert_eq!(both, expected);
        let file_alone = WorkloadOptions {
            size: Some(ByteSize(64 << 10)),
            needs: vec![Need::Boundaries, Need::FdPassing],
            accept_shared_memory: false,
            ..expected
        };
        assert_eq!(meant(text, &[]), file_alone);
    }

    #[test]
    fn what_says_nothing_leaves_all_to_be_asked() {
        assert_eq!(meant("spin = false\nneeds = []\n", &[]), WorkloadOptions::default());
    }
}
