//! Layout of help texts: a summary for `-h`, and the whole text for `--help`, in lines that fit the terminal.

use clap::{Arg, Command};
use furlong_analysis::text::wrap;

/// The last line of every page but the first, which lists the exit statuses.
const EXIT_CODES: &str = "Exit statuses: see furlong --help";
/// Minimum number of columns of help. A narrower terminal breaks the lines.
const NARROWEST: usize = 40;
/// Columns of help at most.
const WIDEST: usize = 100;

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

/// Returns the option with the first clause of its help for `-h` and the whole help for `--help`.
fn summarized(argument: Arg) -> Arg {
    let Some(help) = argument.get_help().map(ToString::to_string) else { return argument };
    let whole = argument.get_long_help().map_or_else(|| help.clone(), ToString::to_string);
    let end = ["; ", ". "].iter().filter_map(|end| help.find(end)).min();
    let summary = end.map_or(help.as_str(), |end| &help[..end]).to_owned();
    if summary == whole { argument } else { argument.help(summary).long_help(whole) }
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

/// Returns a line in lines of at most this width. Continuations begin below the comment, or below the line if the comment begins
/// too far to the right.
fn fitted(line: &str, width: usize) -> String {
    if line.len() <= width {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start().len();
    let column = comment(line).unwrap_or(indent);
    let (lead, rest) = line.split_at(column);
    let is_near = column < width * 3 / 5;
    let hanging = if is_near { column } else { (indent + 4).min(width / 2) };
    let below = format!("\n{}", " ".repeat(hanging));
    let lead = if is_near { lead.to_owned() } else { format!("{}{below}", lead.trim_end()) };
    let room = width.saturating_sub(hanging).max(NARROWEST / 2);
    lead + &wrap(rest, room, 0).replace('\n', &below)
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
