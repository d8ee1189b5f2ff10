//! Describes the time and the command of a run.

use furlong_analysis::text::plain;

/// Quotes a word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+~".contains(c);
    let word = plain(word);
    if !word.is_empty() && word.chars().all(is_plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Quotes the command for a shell, without the directories of the program.
pub fn shell(argv: &[String]) -> String {
    let program = argv.first().map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
    program.iter().chain(argv.iter().skip(1)).map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Formats a time as `2026-11-21 21:42 UTC`.
pub fn date(unix_s: u64) -> String {
    let (days, seconds) = (unix_s / 86_400, unix_s % 86_400);
    // Days are counted from the first of March of year 0, in eras of 400 years, so that leap days come last.
    let days = days.min(3_000_000) + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + next;
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_825_599), "2000-02-29 11:59 UTC");
        assert_eq!(date(1_795_296_000), "2026-11-21 21:20 UTC");
        assert_eq!(date(4_107_542_399), "2100-02-28 23:59 UTC");
        assert!(date(u64::MAX).ends_with("UTC"));
    }

    #[test]
    fn commands_can_be_typed_again() {
        let argv =
            ["target/release/furlong", "run", "unix-*", "-s", "64..1MiB:x4", "it's"].map(str::to_owned);
        assert_eq!(shell(&argv), "furlong run 'unix-*' -s 64..1MiB:x4 'it'\\''s'");
        assert_eq!(shell(&[]), "");
    }
}
