//! Unique names for anchors and files, derived from arbitrary text.

use std::collections::BTreeSet;

/// Maximum number of letters of a name.
const LONGEST: usize = 80;

/// The names that were given.
#[derive(Debug)]
pub struct Ids {
    given: BTreeSet<String>,
}

/// Anchors that the page has itself.
const OF_THE_PAGE: [&str; 4] = ["top", "contents", "theme", "main"];

impl Ids {
    /// Returns a set that contains only the page's own anchors.
    pub fn for_page() -> Ids {
        Ids { given: OF_THE_PAGE.map(str::to_owned).into() }
    }

    /// Returns a new unique name that resembles `wanted`, in lower-case letters, digits and hyphens.
    pub fn give(&mut self, wanted: &str) -> String {
        let slug = slug(wanted);
        let numbered = (2..).map(|number| format!("{slug}-{number}"));
        let mut candidates = [slug.clone()].into_iter().chain(numbered);
        let id = candidates.find(|id| !self.given.contains(id)).unwrap_or(slug);
        self.given.insert(id.clone());
        id
    }
}

/// Returns the text as lower-case letters, digits, and single hyphens between them; never empty.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars().take(LONGEST) {
        match letter {
            letter if letter.is_ascii_alphanumeric() => slug.push(letter.to_ascii_lowercase()),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "x".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_given_once() {
        let mut ids = Ids::for_page();
        assert_eq!(ids.give("Top"), "top-2");
        assert_eq!(ids.give("Distribution/other-core, 128B"), "distribution-other-core-128b");
        assert_eq!(ids.give("distribution other-core 128b"), "distribution-other-core-128b-2");
        assert_eq!(ids.give("../../etc/passwd\0"), "etc-passwd");
        assert_eq!([ids.give("<>"), ids.give("")], ["x", "x-2"]);
        assert!(ids.give(&"y".repeat(1000)).len() <= LONGEST + 2);
    }
}
