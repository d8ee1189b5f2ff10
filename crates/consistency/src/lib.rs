//! Finds contradictions in the text that furlong prints about saved runs.
//!
//! It parses the text that users read: sentences, and tables by their headings. Each law concerns printed figures, so
//! it does not depend on the code that printed them. A printed figure stands for all values that round to it.
#![forbid(unsafe_code)]

mod brief;
mod compared;
mod counted;
mod explained;
mod exported;
mod figure;
mod page;
mod printed;
mod ranking;
mod recommended;
mod replayed;
mod said;

pub use brief::check as check_brief;
pub use exported::check_export;
pub use printed::{RunContradictions, check_with_before, unpack, unpack_all};

use page::Page;

/// Two statements of one text that cannot both be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The law that is broken.
    pub law: &'static str,
    /// The statements.
    pub text: String,
}

impl Contradiction {
    fn new(law: &'static str, text: impl Into<String>) -> Contradiction {
        Contradiction { law, text: text.into() }
    }
}

/// Returns a function that reports this text as a contradiction of a law if the law is broken.
fn breaks<'a>(
    found: &'a mut Vec<Contradiction>,
    text: impl Fn() -> String + 'a,
) -> impl FnMut(bool, &'static str) + 'a {
    move |is_broken, law| {
        if is_broken {
            found.push(Contradiction::new(law, text()));
        }
    }
}

/// Returns the contradictions in a text for a terminal or in Markdown.
pub fn check(text: &str) -> Vec<Contradiction> {
    let page = Page::read(text);
    let mut found = Vec::new();
    for laws in [
        ranking::check,
        said::check,
        explained::check,
        compared::check,
        counted::check,
        replayed::check,
        recommended::check,
    ] {
        laws(&page, &mut found);
    }
    found
}
