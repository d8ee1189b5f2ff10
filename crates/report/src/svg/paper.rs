//! Where a picture stands, which decides its colours and its size.

/// Where a picture stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paper {
    /// In a page, whose style sheet has the colours.
    Wide,
    /// The same for the width of a phone.
    Narrow,
    /// In a file of its own, with a title.
    File,
}
