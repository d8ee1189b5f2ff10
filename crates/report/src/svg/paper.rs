//! Medium of a picture, which decides its colours and its size.

/// Medium of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paper {
    /// A page, whose style sheet has the colours.
    Wide,
    /// A page on the width of a phone, whose style sheet has the colours.
    Narrow,
    /// A separate file, with a title.
    File,
}
