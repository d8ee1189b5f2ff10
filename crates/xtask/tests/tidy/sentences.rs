//! Checks that no file of `analysis` contains sentences, because rendering words the results. The exceptions are
//! listed here.

use super::import_rules::product;
use super::root;
use super::rust_text::strings;

/// Number of words from which a text counts as a sentence or a part of one.
const WORDS: usize = 4;

/// Files and directories of `crates/analysis/src` that may contain text, each with the reason.
const EXCEPTIONS: [(&str, &str); 19] = [
    ("experiment/", "says what is wrong with a file of a user"),
    ("recommend/candidates.rs", "a record of the run has it"),
    ("recommend/constraints.rs", "a record of the run has it"),
    ("recommend/integration_costs.rs", "a record of the run has it"),
    ("compare/environment.rs", "the names of facts"),
    ("cache_line.rs", "why a case has no speed"),
    ("checks.rs", "why a case has no speed"),
    ("consistent.rs", "why a case has no speed"),
    ("declared.rs", "why a case has no speed"),
    ("little.rs", "why a case has no speed"),
    ("replay/handover.rs", "why a case has no speed"),
    ("replay/rows.rs", "what a run lacks, beside what its experiment says"),
    ("replay/starts.rs", "what a run lacks, beside what its experiment says"),
    ("reached.rs", "why a case has no speed"),
    ("saturation.rs", "why a case has no speed"),
    ("self_check.rs", "why a case has no speed"),
    ("skipped.rs", "why a case has no speed"),
    ("sound.rs", "why a case has no speed"),
    ("ranking.rs", "the title of a group"),
];

/// Returns the string literals of code, except those of `#[error]`, which error types may have.
fn texts(code: &str) -> Vec<&str> {
    let is_error = |at: usize| code[..at].trim_end().ends_with("#[error(");
    strings(code).into_iter().filter(|(at, _)| !is_error(*at)).map(|(_, text)| text).collect()
}

/// Counts the words of a text, without its placeholders.
fn words(text: &str) -> usize {
    let mut depth = 0;
    let constant: String = text
        .chars()
        .filter(|letter| {
            depth += i32::from(*letter == '{') - i32::from(*letter == '}');
            depth == 0
        })
        .collect();
    constant.split_whitespace().filter(|word| word.starts_with(char::is_alphabetic)).count()
}

#[test]
fn judging_makes_no_sentences() {
    let mut used = Vec::new();
    for (name, code) in product(&root().join("crates/analysis")) {
        let file = name.strip_prefix("crates/analysis/src/").unwrap();
        let exception = EXCEPTIONS
            .iter()
            .position(|(path, _)| file == *path || (path.ends_with('/') && file.starts_with(path)));
        // Text invented for tests is not a judgement.
        if file.starts_with("fixture/") {
            continue;
        }
        for text in texts(&code).iter().filter(|text| words(text) >= WORDS) {
            assert!(exception.is_some(), "{name} says \"{text}\": give a value, and say it in crates/render");
            used.extend(exception);
        }
    }
    for (number, (path, _)) in EXCEPTIONS.iter().enumerate() {
        assert!(used.contains(&number), "{path} says nothing any more: strike it off the list");
    }
}

#[test]
fn texts_are_told_from_code_and_words_from_what_is_filled_in() {
    let code = "#[error(\"not a text\")] let a = ('\"', \"one \\\" {two} three\", \"\");";
    let found = texts(code);
    assert_eq!(found, ["one \\\" {two} three", ""]);
    assert_eq!((words(found[0]), words("{a} of {} rows: 5 %")), (2, 2));
}
