//! Names out of fixed lists: reading one, and what to say of a word that is none.

/// A word that is not one of the known names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {what} is called '{given}'; there are: {known}")]
pub struct InvalidName {
    what: &'static str,
    given: String,
    known: String,
}

impl InvalidName {
    /// `given` is no `what`; `known` are the names there are.
    pub fn new<'a>(what: &'static str, given: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        InvalidName { what, given: given.to_owned(), known }
    }
}
