//! Sanitization of text from records for printing.

pub use furlong_model::{format_digits, three_digits, wrap};
use furlong_model::{format_ns, is_unseen};
use std::collections::BTreeMap;

/// Maximum length of a printed text from a record, in characters, so that one record does not fill a terminal.
const LONGEST: usize = 300;
/// Maximum length of a sentence that contains such texts.
const LONGEST_SENTENCE: usize = 1200;

/// Returns `text` in one line, without control characters and characters that change the text direction.
pub fn plain(text: &str) -> String {
    plain_up_to(LONGEST, text)
}

/// Sanitizes a sentence that may contain several texts from records.
pub fn plain_sentence(text: &str) -> String {
    plain_up_to(LONGEST_SENTENCE, text)
}

fn plain_up_to(longest: usize, text: &str) -> String {
    let safe = |c: char| if is_unseen(c) { ' ' } else { c };
    let mut safe: String = text.chars().take(longest).map(safe).collect();
    if text.chars().nth(longest).is_some() {
        safe.push('…');
    }
    safe.trim().to_owned()
}

/// Returns the first `most` of `names` and the number of the others.
pub fn listed(names: &[String], most: usize) -> String {
    listed_with(names, most, ", ")
}

/// Returns [`listed`] with another separator.
pub fn listed_with(names: &[String], most: usize, separator: &str) -> String {
    let more = match names.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.iter().take(most).cloned().collect::<Vec<_>>().join(separator) + &more
}

/// Returns `text` with an upper-case first letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}

/// Formats a count per round trip with two decimals, or as `?` if it was not counted.
pub fn decimals(figure: Option<f64>) -> String {
    figure.map_or_else(|| "?".to_owned(), |figure| format!("{figure:.2}"))
}

/// Formats a count with three digits and its thousands as a letter: `18.7 k`.
pub fn format_count(count: f64) -> String {
    let (value, unit) = match count {
        count if count < 999.5 => (count, ""),
        count if count < 999.5e3 => (count / 1e3, " k"),
        count if count < 999.5e6 => (count / 1e6, " M"),
        _ => (count / 1e9, " G"),
    };
    three_digits(value) + unit
}

/// Returns a rate with three digits: `18.7k/s`.
pub fn format_per_second(per_second: f64) -> String {
    format_count(per_second).replace(' ', "") + "/s"
}

/// Formats an interval of times. If both ends have the same unit, it occurs once: `34.2-39.0 us`.
pub fn times_between([low, high]: [f64; 2]) -> String {
    let (low, high) = (format_ns(low), format_ns(high));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((value, unit)), Some((_, other))) if unit == other => format!("{value}-{high}"),
        _ => format!("{low}-{high}"),
    }
}

/// Rounds a ratio as [`format_ratio`] prints it, with `round` for the last digit.
pub(crate) fn significant(ratio: f64, round: fn(f64) -> f64) -> f64 {
    let scale = 10_f64.powi(ratio_decimals(ratio) as i32);
    // A product such as 1.15 * 100 is a little below the whole number.
    let scaled = ratio * scale;
    let rounded = if (scaled - scaled.round()).abs() < 1e-6 { scaled.round() } else { round(scaled) };
    rounded / scale
}

/// Formats a ratio with three significant digits, and with one more near 1.
pub fn format_ratio(ratio: f64) -> String {
    format!("{ratio:.*}", ratio_decimals(ratio))
}

/// Formats an interval of ratios. Its upper end is open if the lower end of the divisor is 0.
pub fn ratios_between([low, high]: [f64; 2]) -> String {
    const OPEN: f64 = 1e6;
    match high < OPEN {
        true => [low, high].map(format_ratio).join("-"),
        false => format!(">{}", format_ratio(low)),
    }
}

fn ratio_decimals(ratio: f64) -> usize {
    match ratio.abs() {
        v if v != 1.0 && (0.99..1.01).contains(&v) => 3,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    }
}

/// Formats the components of a program, each with its name and version.
pub fn versions(versions: &BTreeMap<String, String>) -> String {
    let versions: Vec<_> = versions.iter().map(|(what, version)| format!("{what} {version}")).collect();
    versions.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_a_terminal_become_spaces() {
        assert_eq!(plain("a\u{1b}[31mb\r\nc\u{202e}d"), "a [31mb  c d");
        assert_eq!(plain("grüße, 読む ±"), "grüße, 読む ±");
        assert_eq!(plain(&"x".repeat(1000)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn long_lists_are_cut() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&names, 3), "a, b, c");
        assert_eq!(listed(&names, 1), "a and 2 more");
        assert_eq!(listed(&[], 1), "");
    }

    #[test]
    fn interval_of_a_ratio_to_nothing_is_open() {
        assert_eq!([[0.14, 1e9], [0.5, 12.0]].map(ratios_between), [">0.14", "0.50-12.0"]);
    }

    #[test]
    fn counts_have_three_digits() {
        for (count, text) in
            [(0.0, "0.00"), (133.0, "133"), (18_657.0, "18.7 k"), (1.72e6, "1.72 M"), (2e9, "2.00 G")]
        {
            assert_eq!(format_count(count), text);
        }
    }
}
