//! Values of a file with their lines, and checks for every part of a file.

use super::{ExperimentError, table::Text};
use crate::text::plain;
use furlong_model::ByteSize;
use std::{fmt::Display, ops::RangeInclusive, str::FromStr};
use toml::Spanned;

/// Maximum length of a text, in characters, which is what a table prints of a record.
const LONGEST_TEXT: usize = 300;
/// Maximum length of the name of an experiment, benchmark or start, in characters.
const LONGEST_NAME: usize = 40;

/// File that is being read.
pub(super) struct Source<'a> {
    text: &'a str,
    file: &'a str,
}

impl<'a> Source<'a> {
    /// Creates the source from the text of a file and its name.
    pub(super) fn new(text: &'a str, file: &'a str) -> Self {
        Source { text, file }
    }

    /// Creates an error at this byte of the text.
    pub(super) fn error(&self, at: usize, reason: impl Display) -> ExperimentError {
        let before = self.text.as_bytes().iter().take(at);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        ExperimentError { file: plain(self.file), line, reason: plain(&reason.to_string()) }
    }

    /// Creates an error for this value.
    pub(super) fn wrong<T>(&self, value: &Spanned<T>, reason: impl Display) -> ExperimentError {
        self.error(value.span().start, reason)
    }

    /// Checks a text.
    pub(super) fn text(&self, text: &Text) -> Result<String, ExperimentError> {
        self.bounded(text, LONGEST_TEXT)
    }

    /// Checks a text that may be missing.
    pub(super) fn optional_text(&self, text: Option<&Text>) -> Result<Option<String>, ExperimentError> {
        text.map(|text| self.text(text)).transpose()
    }

    /// Checks the name of a benchmark.
    pub(super) fn name(&self, name: &Text) -> Result<String, ExperimentError> {
        self.bounded(name, LONGEST_NAME)
    }

    /// Checks the name of an experiment, which users type.
    pub(super) fn identifier(&self, name: &Text) -> Result<String, ExperimentError> {
        let typed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if name.get_ref().chars().all(typed) && name.get_ref().starts_with(|first: char| first != '-') {
            return self.name(name);
        }
        let reason =
            format!("'{}' is not a valid name: write small letters, digits and hyphens", name.get_ref());
        Err(self.wrong(name, reason))
    }

    fn bounded(&self, text: &Text, longest: usize) -> Result<String, ExperimentError> {
        match text.get_ref().trim() {
            "" => Err(self.wrong(text, "the text is empty: write something, or remove the key")),
            trimmed if trimmed.chars().count() > longest => Err(self.wrong(
                text,
                format!("the text has {} characters, at most {longest} are allowed", trimmed.chars().count()),
            )),
            trimmed => Ok(trimmed.to_owned()),
        }
    }

    /// Parses a keyword.
    pub(super) fn parsed<T: FromStr<Err: Display>>(&self, word: &Text) -> Result<T, ExperimentError> {
        word.get_ref().parse().map_err(|error| self.wrong(word, error))
    }

    /// Parses a size of at least one byte.
    pub(super) fn size(&self, size: &Text) -> Result<usize, ExperimentError> {
        match self.parsed::<ByteSize>(size)? {
            ByteSize(0) => Err(self.wrong(size, "a size of 0 bytes carries nothing: write 1 or more")),
            ByteSize(bytes) => Ok(bytes),
        }
    }

    /// Checks a whole number within bounds.
    pub(super) fn whole<T: TryFrom<i64>>(
        &self,
        value: &Spanned<i64>,
        what: &str,
        range: RangeInclusive<i64>,
    ) -> Result<T, ExperimentError> {
        let within = Some(*value.get_ref()).filter(|number| range.contains(number));
        within.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            self.wrong(
                value,
                format!(
                    "{} is not a valid {what}: write a whole number from {least} to {most}",
                    value.get_ref()
                ),
            )
        })
    }

    /// Checks a number within bounds.
    pub(super) fn real(
        &self,
        value: &Spanned<f64>,
        what: &str,
        range: RangeInclusive<f64>,
    ) -> Result<f64, ExperimentError> {
        let number = *value.get_ref();
        if range.contains(&number) {
            return Ok(number);
        }
        let (least, most) = (range.start(), range.end());
        Err(self
            .wrong(value, format!("{number} is not a valid {what}: write a number from {least} to {most}")))
    }
}
