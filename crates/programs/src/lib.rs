//! A minimal correct pair of programs for each mechanism, in C, Rust and Python.
//!
//! Layer 1: only text. Nothing here runs, measures or makes a system call. `templates/mechanisms.toml` lists the parts
//! of each mechanism's programs, and `templates/` has their text, in pieces that several programs share.
#![forbid(unsafe_code)]

mod admission;
mod between;
mod header;
mod language;
mod mechanisms;
mod pieces;
mod render;

pub use between::EndBoundaries;
pub use language::Language;

use furlong_model::{Pattern, Wait};

/// A source file with both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Text of the file.
    pub text: String,
    /// Name of the file, for example `pair.c`.
    pub file_name: String,
    /// The command that compiles the program; `None` if it needs no compilation.
    pub build: Option<String>,
    /// The commands that run the program: one per end, first the one that serves or receives, or a single one if the
    /// program starts both ends. Each accepts the number of messages as an additional argument.
    pub run: Vec<String>,
    /// The accepted peers, if processes of other users or containers could connect.
    pub lets_in: Option<&'static str>,
}

/// The reason why there is no program, and a close alternative.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoProgram(String);

impl NoProgram {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        NoProgram(why.into())
    }
}

/// Returns the program that exchanges messages of `size_bytes` through `mechanism` with the wait strategy `wait`, for
/// two ends with the boundaries `between`.
///
/// For a request, `size_bytes` is the size of the answer.
///
/// # Errors
/// Returns the reason and a close alternative if there is no such program.
pub fn program(
    mechanism: &str,
    wait: Wait,
    pattern: Pattern,
    size_bytes: usize,
    between: EndBoundaries,
    language: Language,
) -> Result<Program, NoProgram> {
    let recipe = mechanisms::recipe(mechanism, wait, pattern, size_bytes, language)?;
    if between.two_programs && !recipe.has("roles") {
        let why = "the program forks, so both ends have one user and one container; use unix-stream, which is similar";
        return Err(NoProgram::new(why));
    }
    if between.apart() && recipe.has("library") {
        let why = "programs with furlong-channel accept one user in one container; its README shows how to accept \
                   others; or use unix-stream, which is similar";
        return Err(NoProgram::new(why));
    }
    render::render(mechanism, wait, pattern, size_bytes, between, language, recipe)
}

/// Returns every mechanism with each wait strategy for which there is a program in `language`.
pub fn supported(language: Language) -> impl Iterator<Item = (&'static str, Wait)> {
    mechanisms::recipes()
        .flat_map(move |(mechanism, recipe)| recipe.waits(language).map(move |wait| (mechanism, wait)))
}

/// Returns every mechanism that this crate knows, with a program or with a reason why there is none.
pub fn known() -> impl Iterator<Item = &'static str> {
    mechanisms::recipes().map(|(mechanism, _)| mechanism)
}
