//! A type is named by a noun, and no function is named `of_…`.

use super::rust_text::without_comments_and_strings;
use super::{root, sources};

/// Keywords that define a type or a trait.
const DEFINING: [&str; 6] = ["struct", "enum", "union", "trait", "type", "named_enum"];

/// Nouns that end like participles or adverbs.
const NOUNS: [&str; 16] = [
    "Backing",
    "Coalescing",
    "Drawing",
    "Family",
    "Finding",
    "Meaning",
    "Need",
    "Numbering",
    "Recording",
    "Reply",
    "Ring",
    "Scheduling",
    "Seed",
    "Setting",
    "Sharing",
    "Timing",
];

/// Irregular participles, pronouns, adverbs and prepositions that are not a name alone.
const NOT_NOUNS: &str = "About Above Across After Again Alike All Also Another Any Apart Awake Became Before Begun Behind \
    Below Beside Between Beyond Both Broken Built Chosen Cut Done Drawn Each Earlier Elsewhere Else Every Found Given Grown \
    Heard Held Here How Kept Known Later Left Lent Lost Made Met Mine Most Nobody None Nothing Now Once One Only Others \
    Otherwise Ours Put Said Same Seen Sent Several Shown Slept Some Sound Spent Such Taken That Theirs Then There These \
    This Those Together Told Under Unmade Unread Unsound Until What When Where Which Who Whose Why Within Without Written \
    Wrong Yet";

/// Returns the names after these keywords.
fn defined<'a>(code: &'a str, keywords: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.clone().zip(words.skip(1)).filter(|(keyword, _)| keywords.contains(keyword)).map(|(_, name)| name)
}

/// Returns whether a type's name is one word that is a participle, a pronoun, an adverb or a preposition.
fn is_no_noun(name: &str) -> bool {
    let is_one_word = name.starts_with(char::is_uppercase) && !name[1..].contains(char::is_uppercase);
    let looks_derived = ["ed", "ing", "ly"].iter().any(|end| name.ends_with(end));
    is_one_word
        && (looks_derived && !NOUNS.contains(&name) || NOT_NOUNS.split_whitespace().any(|word| word == name))
}

/// Returns the names in all Rust code that a rule rejects, with their files.
fn rejected(keywords: &[&str], is_rejected: impl Fn(&str) -> bool) -> Vec<String> {
    let files = ["crates", "fuzz/src", "adapters"].into_iter().flat_map(sources);
    let mut found = Vec::new();
    for (path, text) in files {
        let code = without_comments_and_strings(&text);
        let file = path.strip_prefix(root()).unwrap().display();
        let names = defined(&code, keywords).filter(|name| is_rejected(name));
        found.extend(names.map(|name| format!("{file}: {name}")));
    }
    found
}

#[test]
fn types_are_named_by_nouns() {
    let found = rejected(&DEFINING, is_no_noun);
    assert!(found.is_empty(), "name these types by a noun, such as RetransmitTimeout: {found:#?}");
}

#[test]
fn no_function_is_named_of() {
    let found = rejected(&["fn"], |name| name.starts_with("of_"));
    assert!(found.is_empty(), "name these functions by a verb, or from_, for_ or read_: {found:#?}");
}

#[test]
fn rules_find_the_names_that_they_forbid() {
    let code = "pub struct Beyond<'a>(u8); enum Reached { Far } trait Lending {} type Wrong = u8; struct Ring; fn of_all() {}";
    let types: Vec<_> = defined(code, &DEFINING).filter(|name| is_no_noun(name)).collect();
    assert_eq!(types, ["Beyond", "Reached", "Lending", "Wrong"]);
    assert_eq!(defined(code, &["fn"]).collect::<Vec<_>>(), ["of_all"]);
}
