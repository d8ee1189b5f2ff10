//! Printed figures as intervals: a figure stands for all values that round to it.

/// The range of values of a figure with a few digits, or of a printed interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub low: f64,
    pub high: f64,
}

impl Figure {
    /// Reads `52.0 us`, `1.16x`, `18.9 k`, `2.0 %` or `31,561`; times are in nanoseconds.
    pub fn read(text: &str) -> Option<Figure> {
        let text = text.trim();
        let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | ',' | '+' | '-')).unwrap_or(text.len());
        let (digits, unit) = (text[..end].replace(',', ""), text[end..].trim());
        let scale = match unit {
            "" | "x" | "%" | "ns" => 1.0,
            "us" | "k" => 1e3,
            "ms" | "M" => 1e6,
            "s" | "G" => 1e9,
            _ => return None,
        };
        let value: f64 = digits.parse().ok()?;
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = 0.500_001 * 10_f64.powi(-(decimals as i32));
        Some(Figure { low: (value - half) * scale, high: (value + half) * scale })
    }

    /// Reads `51.2-52.8 us`, `697 ns-7.10 us` or `1.29 to 1.31`.
    pub fn read_interval(text: &str) -> Option<Figure> {
        let (low, high) = text.split_once(" to ").or_else(|| text.split_once('-'))?;
        let unit = high.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',')).to_owned();
        let low =
            if low.ends_with(|c: char| c.is_ascii_digit()) { low.to_owned() + &unit } else { low.to_owned() };
        let (low, high) = (Figure::read(&low)?, Figure::read(high)?);
        Some(Figure { low: low.low, high: high.high })
    }

    /// Returns whether the two ranges have a value in common.
    pub fn meets(self, other: Figure) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Returns whether every value is below all values of `other`.
    pub fn is_below(self, other: Figure) -> bool {
        self.high < other.low
    }

    pub fn times(self, other: Figure) -> Figure {
        Figure { low: self.low * other.low, high: self.high * other.high }
    }

    pub fn by(self, other: Figure) -> Figure {
        Figure { low: self.low / other.high, high: self.high / other.low }
    }

    pub fn minus(self, other: Figure) -> Figure {
        Figure { low: self.low - other.high, high: self.high - other.low }
    }

    pub fn plus(self, other: Figure) -> Figure {
        Figure { low: self.low + other.low, high: self.high + other.high }
    }
}

impl From<f64> for Figure {
    fn from(value: f64) -> Figure {
        Figure { low: value, high: value }
    }
}

/// Returns the texts in the holes (`{}`) of a pattern that `text` has.
pub fn holes<'a>(text: &'a str, pattern: &str) -> Option<Vec<&'a str>> {
    let mut parts = pattern.split("{}");
    let first = parts.next()?;
    let mut rest = &text[text.find(first)? + first.len()..];
    let mut found = Vec::new();
    for part in parts {
        let end = if part.is_empty() { rest.len() } else { rest.find(part)? };
        found.push(rest[..end].trim());
        rest = &rest[end + part.len()..];
    }
    Some(found)
}

/// Returns the whole numbers in the holes of a pattern; `no` and `none` are 0.
pub fn counts(text: &str, pattern: &str) -> Option<Vec<usize>> {
    let number =
        |word: &str| if matches!(word, "no" | "none") { Some(0) } else { word.replace(',', "").parse().ok() };
    holes(text, pattern)?.into_iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_hold_all_values_that_are_printed_so() {
        let ends = |text: &str| Figure::read(text).map(|figure| (figure.low.round(), figure.high.round()));
        assert_eq!(ends("52.0 us"), Some((51_950.0, 52_050.0)));
        assert_eq!(ends("18.9 k"), Some((18_850.0, 18_950.0)));
        assert_eq!(ends("31,561"), Some((31_560.0, 31_562.0)));
        assert_eq!([ends("~"), ends("–"), ends("pipe")], [None; 3]);
        let interval =
            |text: &str| Figure::read_interval(text).map(|ends| (ends.low.round(), ends.high.round()));
        assert_eq!(interval("697 ns-7.10 us"), Some((696.0, 7_105.0)));
        assert_eq!(interval("51.2-52.8 us"), Some((51_150.0, 52_850.0)));
        assert_eq!(interval("1.29 to 2.31"), Some((1.0, 2.0)));
    }

    #[test]
    fn holes_are_the_words_between() {
        assert_eq!(holes("a is 3 times b.", "{} is {} times {}."), Some(vec!["a", "3", "b"]));
        assert_eq!(counts("Of 3 pairs, none tie", "Of {} pairs, {} tie"), Some(vec![3, 0]));
        assert_eq!(counts("Of 3 pairs", "Of {} rows"), None);
    }
}
