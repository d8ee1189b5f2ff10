//! Every command in the README, in docs/ and in the examples of the help parses as written.

use crate::arguments::{Arguments, AskedArrival, Verb, command as definition};
use crate::experiments;
use crate::verbs::{recommend, replay, run};
use clap::{Command, FromArgMatches};
use std::fs;
use std::path::Path;

/// Beginning of a command line of furlong that cargo runs. Arguments follow `--`.
const CARGO: &str = "cargo run --release";

/// Rows of adapters that no test installs.
const OF_ADAPTERS: [&str; 4] = ["python-", "tensors-", "mpi-", "./mine"];

/// Returns the arguments of a furlong command as a shell splits them, up to a pipe, a redirection or a comment; `None` for
/// other commands.
fn arguments(line: &str) -> Option<Vec<String>> {
    let is_quick_set = |rest: &str| rest.trim().is_empty() || rest.trim().starts_with('#');
    let behind = match line.trim().strip_prefix(CARGO) {
        Some(rest) if is_quick_set(rest) => "",
        Some(rest) => rest.strip_prefix(" -- ")?,
        None => {
            line.trim().strip_prefix("furlong").filter(|rest| rest.is_empty() || rest.starts_with(' '))?
        }
    };
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in behind.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                // Two quotes are an empty word.
                word.get_or_insert_default();
            }
            (None, '|' | '>' | '&' | ';') => break,
            (None, '#') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    Some(words)
}

/// Returns the lines in the shell blocks of a page, and the code spans in the tables of the README.
fn lines_of_page(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut lines, mut in_shell) = (Vec::new(), false);
    for line in text.replace("\\\n", " ").lines() {
        match line.trim().strip_prefix("```") {
            Some(language) => in_shell = !in_shell && language.trim() == "sh",
            None if in_shell => lines.push(line.to_owned()),
            None if line.starts_with("| ") && path.ends_with("README.md") => {
                lines.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
            }
            None => {}
        }
    }
    lines
}

/// Returns the lines under `Examples:` in the help of a command and its parts. Two spaces separate an example from its
/// comment.
fn lines_of_help(command: &mut Command) -> Vec<String> {
    let help = command.render_long_help().to_string();
    let (_, examples) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("no examples in {help}"));
    let examples = examples.lines().take_while(|line| line.starts_with("  "));
    let mut lines: Vec<String> =
        examples.filter_map(|line| line.trim().split("  ").next()).map(str::to_owned).collect();
    assert!(lines.iter().any(|line| arguments(line).is_some()), "no command in {help}");
    let parts = command.get_subcommands_mut().filter(|part| part.get_name() != "help");
    lines.extend(parts.flat_map(lines_of_help));
    lines
}

/// Runs the checks that each verb makes before it measures.
fn check(verb: &Verb) -> anyhow::Result<()> {
    match verb {
        // The trace need not exist.
        Verb::Run(asked) if asked.arrival.iter().any(|arrival| matches!(arrival, AskedArrival::Trace(_))) => {
            Ok(())
        }
        Verb::Run(asked) => run::Request::of(asked).map(drop),
        Verb::Recommend(asked) if asked.file.is_none() => recommend::check(&asked.workload).map(drop),
        Verb::Replay(asked) => experiments::requested(asked)?
            .into_iter()
            .try_for_each(|one| replay::change(one, asked).map(drop)),
        _ => Ok(()),
    }
}

#[test]
fn every_documented_command_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let lines = pages.chain([root.join("README.md")]).flat_map(|page| lines_of_page(&page));
    let mut whole = definition();
    whole.build();
    let mut understood = 0;
    for line in lines.chain(lines_of_help(&mut whole)) {
        let Some(words) = arguments(&line) else { continue };
        let typed = definition().try_get_matches_from([&["furlong".to_owned()], &words[..]].concat());
        let typed = typed.unwrap_or_else(|error| panic!("{line}: {error}"));
        let verb = Arguments::from_arg_matches(&typed).unwrap().verb;
        let names_adapter = OF_ADAPTERS.iter().any(|name| line.contains(name));
        if let Some(verb) = verb.filter(|_| !names_adapter) {
            check(&verb).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
        understood += 1;
    }
    assert!(understood > 150, "{understood}");
}

#[test]
fn arguments_are_split_as_by_a_shell() {
    let split = |line| arguments(line).map(|words| words.join("_"));
    assert_eq!(split("furlong run 'a b' -s 1  # all").as_deref(), Some("run_a b_-s_1"));
    assert_eq!(split("furlong export --slo 'p99<20ms' > a.csv").as_deref(), Some("export_--slo_p99<20ms"));
    assert_eq!(split("cargo run --release   # the quick set").as_deref(), Some(""));
    assert_eq!(split("cargo run --release -- list --why").as_deref(), Some("list_--why"));
    for line in
        ["cargo test --release --workspace", "furlongs", "cargo run --release -p xtask", "", "# furlong"]
    {
        assert_eq!(split(line), None, "{line}");
    }
}
