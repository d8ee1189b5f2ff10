//! The languages of printed programs: some of the languages of processes.

use furlong_model::InvalidName;
use std::{fmt, str::FromStr};

/// A language of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// C11 with the GNU library.
    C,
    /// Rust, one file for `rustc` that uses only the standard library, and furlong-channel if the program demonstrates
    /// it.
    Rust,
    /// Python 3 with its standard library.
    Python,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 3] = [Language::C, Language::Rust, Language::Python];

    /// Returns the name in options.
    pub const fn name(self) -> &'static str {
        self.process_language().name()
    }

    /// Returns the language of a process that runs such a program.
    pub const fn process_language(self) -> furlong_model::Language {
        match self {
            Language::C => furlong_model::Language::C,
            Language::Rust => furlong_model::Language::Rust,
            Language::Python => furlong_model::Language::Python,
        }
    }

    /// Returns the name in sentences.
    pub const fn title(self) -> &'static str {
        match self {
            Language::C => "C",
            Language::Rust => "Rust",
            Language::Python => "Python",
        }
    }

    /// Returns the file name of a program.
    pub fn file_name(self) -> String {
        format!("pair.{}", self.ending())
    }

    /// Returns the extension of source files.
    pub const fn ending(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Rust => "rs",
            Language::Python => "py",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Language {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let found = Language::ALL.into_iter().find(|language| language.name() == text);
        found.ok_or_else(|| InvalidName::new("language", text, Language::ALL.map(Language::name)))
    }
}
