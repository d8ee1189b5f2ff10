//! Layout of help texts: a summary for `-h`, and the whole text for `--help`, in lines that fit the terminal.

use clap::builder::PossibleValue;
use clap::{Arg, Command};
use furlong_analysis::text::wrap;

/// The last line of every page but the first, which lists the exit statuses.
const EXIT_CODES: &str = "Exit statuses: see furlong --help";
/// Minimum number of columns of help. A narrower terminal breaks the lines.
const NARROWEST: usize = 40;
/// Columns of help at most.
const WIDEST: usize = 100;
/// Columns before an example.
const EXAMPLE: usize = 2;
/// Further columns before the continuation of an example.
const CONTINUED: usize = 4;
/// Columns of the widest summary that has the values of an option, with the default.
const SUMMARY: usize = 68;

/// Returns the command with all help texts laid out for a terminal of this width.
pub(super) fn laid_out(command: Command, exit_codes: &str, width: usize) -> Command {
    let width = width.clamp(NARROWEST, WIDEST);
    let examples = command.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
    let whole = lines(&format!("{examples}{exit_codes}"), width);
    command
        .term_width(width)
        .after_help("")
        .after_long_help(whole)
        .mut_args(summarized)
        .mut_subcommands(|part| laid_out(part, EXIT_CODES, width))
}

/// Returns the option with the first clause of its help and its values in one line for `-h`, and the whole help for `--help`.
fn summarized(argument: Arg) -> Arg {
    let Some(help) = argument.get_help().map(ToString::to_string) else { return argument };
    let whole = argument.get_long_help().map_or_else(|| help.clone(), ToString::to_string);
    let is_end = |at: &usize| {
        let is_bracketed = help[..*at].matches('[').count() > help[..*at].matches(']').count();
        !is_bracketed && ["; ", ". "].iter().any(|end| help[*at..].starts_with(end))
    };
    let end = help.char_indices().map(|(at, _)| at).find(is_end);
    let summary = &help[..end.unwrap_or(help.len())];
    let values = values(&argument);
    if values.is_empty() {
        return if summary == whole { argument } else { argument.help(summary.to_owned()).long_help(whole) };
    }
    let names = values.iter().map(PossibleValue::get_name).collect::<Vec<_>>().join(", ");
    let (text, default) = summary.split_at(summary.find(" [").unwrap_or(summary.len()));
    let with_names = format!("{text}: {names}{default}");
    let of_clap = argument.get_default_values().iter().map(|value| " [default: ]".len() + value.len());
    let fits = with_names.len() + of_clap.sum::<usize>() <= SUMMARY;
    let summary = if fits { with_names } else { summary.to_owned() };
    let whole = format!("{whole}\n\n{}", described(&values, &names));
    argument.help(summary).long_help(whole).hide_possible_values(true)
}

/// Returns the values that help shows of an option, or none if it has no list of values.
fn values(argument: &Arg) -> Vec<PossibleValue> {
    if !argument.get_action().takes_values() || argument.is_hide_possible_values_set() {
        return Vec::new();
    }
    argument.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect()
}

/// Returns the values with their descriptions, in lines that begin with spaces, so that a manual page does not join them.
fn described(values: &[PossibleValue], names: &str) -> String {
    let line = |value: &PossibleValue| Some(format!("\n  {}: {}", value.get_name(), value.get_help()?));
    let lines: Option<String> = values.iter().map(line).collect();
    lines.map_or_else(|| format!("Values: {names}"), |lines| format!("Values:{lines}"))
}

/// Returns a text in lines of at most this width: paragraphs are filled, and what follows two spaces in a line, such as the
/// comment of an example, has its continuation below it.
fn lines(text: &str, width: usize) -> String {
    let mut filled: Vec<String> = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        match filled.last_mut() {
            // Two lines of one paragraph, or of one comment.
            Some(before) if continues(before, line, indent) => {
                before.push(' ');
                before.push_str(line.trim_start());
            }
            _ => filled.push(line.to_owned()),
        }
    }
    filled.iter().map(|line| fitted(line, width)).collect::<Vec<_>>().join("\n")
}

/// Whether a line continues the one before: as a paragraph, or below its comment.
fn continues(before: &str, line: &str, indent: usize) -> bool {
    let is_paragraph = indent == 0 && !before.starts_with(' ') && !before.ends_with(':');
    let is_comment = indent > 2 && comment(before) == Some(indent);
    !before.is_empty() && !line.is_empty() && (is_paragraph || is_comment)
}

/// Returns the column where the second part of an indented line begins, behind two spaces or more.
fn comment(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let gap = indent + line.trim_start().find("  ")?;
    (indent > 0).then(|| gap + line[gap..].len() - line[gap..].trim_start().len())
}

/// Returns a line in lines of at most this width. Continuations begin below the comment, or near the left edge if the comment begins
/// too far to the right.
fn fitted(line: &str, width: usize) -> String {
    if line.len() <= width {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start().len();
    let column = comment(line).unwrap_or(indent);
    let (lead, rest) = line.split_at(column);
    let is_near = column < width * 3 / 5;
    let is_example = indent == EXAMPLE && column == indent;
    let hanging = if is_near && !is_example { column } else { EXAMPLE + CONTINUED };
    let below = " ".repeat(hanging);
    let lead = match (is_near, lead.trim_end()) {
        (true, _) => lead.to_owned(),
        (false, "") => below.clone(),
        (false, example) => format!("{example}\n{below}"),
    };
    let room = width.saturating_sub(hanging).max(NARROWEST / 2);
    lead + &wrap(rest, room, 0).replace('\n', &format!("\n{below}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, command_for};
    use clap::CommandFactory;

    /// The help texts of a command and of all below it.
    fn helps(command: &mut Command, is_long: bool, texts: &mut Vec<String>) {
        let help = if is_long { command.render_long_help() } else { command.render_help() };
        texts.push(help.to_string());
        let parts = command.get_subcommands_mut().filter(|part| part.get_name() != "help");
        parts.for_each(|part| helps(part, is_long, texts));
    }

    fn texts(width: usize, is_long: bool) -> Vec<String> {
        let mut texts = Vec::new();
        helps(&mut command_for(width), is_long, &mut texts);
        texts
    }

    #[test]
    fn paragraphs_of_help_are_filled() {
        for width in [70, 100] {
            for text in texts(width, true) {
                let paragraphs: Vec<&str> = text.lines().collect();
                for pair in
                    paragraphs.windows(2).filter(|pair| !pair.iter().any(|line| line.starts_with(' ')))
                {
                    let next = pair[1].split(' ').next().unwrap_or_default();
                    let is_full = pair[0].len() + 1 + next.len() > width;
                    let is_one_paragraph = !pair[0].is_empty() && !next.is_empty() && !pair[0].ends_with(':');
                    assert!(is_full || !is_one_paragraph, "{width}: {pair:?}");
                }
            }
        }
    }

    #[test]
    fn help_is_laid_out_for_any_width() {
        for width in [0, 1, 20, 65535] {
            assert!(!texts(width, true).is_empty());
        }
    }

    #[test]
    fn continuations_are_indented() {
        for text in texts(80, true) {
            let Some((_, examples)) = text.split_once("Examples:\n") else { panic!("{text}") };
            let examples = examples.lines().take_while(|line| !line.is_empty());
            assert!(examples.clone().all(|line| line.starts_with("  ") && line.len() <= 80), "{text}");
        }
    }

    #[test]
    fn help_has_no_empty_line_between_an_example_and_its_comment() {
        for text in [60, 80].iter().flat_map(|width| texts(*width, true)) {
            let Some((_, examples)) = text.split_once("Examples:\n") else { panic!("{text}") };
            assert!(!examples.contains("\n\n "), "{text}");
        }
    }

    #[test]
    fn summary_has_one_short_line_for_each_option() {
        for text in texts(100, false) {
            let (_, options) = text.split_once("Usage:").unwrap_or_else(|| panic!("{text}"));
            for line in options.lines().filter(|line| line.starts_with("  ")) {
                let is_option = !line.starts_with("          ");
                let help = line.trim_start().split_once("  ").map_or("", |(_, help)| help);
                let is_short = help.split_whitespace().count() <= 15 && line.chars().count() <= 100;
                assert!(is_option && is_short, "{line}\n{text}");
            }
        }
    }

    #[test]
    fn options_of_a_long_summary_have_headings() {
        for text in texts(100, false) {
            let group = |heading: &str| text.split_once(heading).map_or("", |(_, group)| group);
            let ungrouped = group("\nOptions:\n").split("\n\n").next().unwrap_or_default();
            assert!(ungrouped.lines().count() <= 8, "{text}");
        }
    }

    #[test]
    fn summary_lists_values_before_the_default() {
        let summary = texts(100, false).join("");
        for line in [
            "Output format: table, json, csv, markdown [default: table]",
            "Draw charts below the tables: auto, always, never [default: auto]",
            "Shell: bash, elvish, fish, powershell, zsh",
        ] {
            assert!(summary.contains(line), "{line}");
        }
        assert!(!summary.contains("possible values"));
    }

    #[test]
    fn summary_is_shorter_than_the_whole_help() {
        let (summaries, whole) = (texts(100, false), texts(100, true));
        for (summary, whole) in summaries.iter().zip(&whole) {
            assert!(summary.lines().count() < whole.lines().count(), "{summary}");
            assert!(!summary.contains("Exit statuses:") && !summary.contains("Examples:"), "{summary}");
        }
    }

    #[test]
    fn exit_codes_are_listed_once() {
        let all = texts(100, true);
        let listed = all.iter().filter(|text| text.contains("129, 130, 143")).count();
        let named = all.iter().filter(|text| text.ends_with(&format!("{EXIT_CODES}\n"))).count();
        assert!(all.len() > 15, "{}", all.len());
        assert_eq!((listed, named), (1, all.len() - 1));
    }

    #[test]
    fn definition_has_no_layout() {
        assert!(Arguments::command().get_after_long_help().is_none());
    }
}
