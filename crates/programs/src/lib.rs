//! A minimal correct pair of programs for each mechanism, in C, Rust and Python.
//!
//! Layer 1: text alone. Nothing here runs, measures or asks the operating system. What the mechanisms are made of is in
//! `templates/mechanisms.toml`, and the programs' text in `templates/`, in pieces that several share.
#![forbid(unsafe_code)]

mod admission;
mod between;
mod header;
mod language;
mod mechanisms;
mod pieces;
mod render;

pub use between::Between;
pub use language::Language;

use furlong_model::{Pattern, Wait};

/// One source file that holds both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The file's text.
    pub text: String,
    /// The file's name, such as `pair.c`.
    pub file_name: String,
    /// The command that compiles it; `None` if nothing needs to be.
    pub build: Option<String>,
    /// The commands that run it: one for each end, the one that serves or receives first, or one alone if the
    /// program starts both ends by itself. Each takes the number of messages as one more argument.
    pub run: Vec<String>,
    /// Whom it lets in, where other users or containers could come.
    pub lets_in: Option<&'static str>,
}

/// Why there is no program, and what is near.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoProgram(String);

impl NoProgram {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        NoProgram(why.into())
    }
}

/// The program that exchanges messages of `size_bytes` by `mechanism` and waits by `wait`, for two ends with this
/// `between` them.
///
/// Of a request, `size_bytes` is the size of the answer.
///
/// # Errors
/// That there is none, why, and what is near.
pub fn program(
    mechanism: &str,
    wait: Wait,
    pattern: Pattern,
    size_bytes: usize,
    between: Between,
    language: Language,
) -> Result<Program, NoProgram> {
    let recipe = mechanisms::recipe(mechanism, wait, pattern, size_bytes, language)?;
    if between.two_programs && !recipe.has("roles") {
        let why = "the program forks, so that both ends are one user in one container; unix-stream is near";
        return Err(NoProgram::new(why));
    }
    if between.apart() && recipe.has("library") {
        let why = "the programs that take furlong-channel let in one user in one container; its README says how others are \
                   let in, and unix-stream is near";
        return Err(NoProgram::new(why));
    }
    render::render(mechanism, wait, pattern, size_bytes, between, language, recipe)
}

/// Every mechanism with each of its waits for which there is a program in `language`.
pub fn supported(language: Language) -> impl Iterator<Item = (&'static str, Wait)> {
    mechanisms::recipes()
        .flat_map(move |(mechanism, recipe)| recipe.waits(language).map(move |wait| (mechanism, wait)))
}

/// Every mechanism that this crate knows, with a program or with a reason why there is none.
pub fn known() -> impl Iterator<Item = &'static str> {
    mechanisms::recipes().map(|(mechanism, _)| mechanism)
}
