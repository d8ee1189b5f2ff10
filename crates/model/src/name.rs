//! Names from fixed lists, and the error for an unknown name.

/// A word that is not a known name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {what} is called '{given}'; there are: {known}")]
pub struct InvalidName {
    what: &'static str,
    given: String,
    known: String,
}

impl InvalidName {
    /// Returns the error for `given`, which is not a `what`. `known` are the valid names.
    pub fn new<'a>(what: &'static str, given: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        InvalidName { what, given: given.to_owned(), known }
    }
}
