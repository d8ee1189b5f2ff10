//! Checks that no file of `analysis` contains sentences, because rendering words the results. The exceptions are
//! listed here.

use super::import_rules::product;
use super::root;
use super::rust_text::strings;

/// Number of words from which a text counts as a sentence or a part of one.
const WORDS: usize = 4;

/// Files and directories of `crates/analysis/src` that may contain text, each with the reason.
const EXCEPTIONS: [(&str, &str); 19] = [
    ("experiment/", "errors in a file of a user"),
    ("recommend/candidates.rs", "it is in a record of the run"),
    ("recommend/constraints.rs", "it is in a record of the run"),
    ("recommend/integration_costs.rs", "it is in a record of the run"),
    ("compare/environment.rs", "the names of facts"),
    ("cache_line.rs", "the reason why a case has no result"),
    ("checks.rs", "the reason why a case has no result"),
    ("consistent.rs", "the reason why a case has no result"),
    ("declared.rs", "the reason why a case has no result"),
    ("little.rs", "the reason why a case has no result"),
    ("replay/handover.rs", "the reason why a case has no result"),
    ("replay/rows.rs", "missing trials, next to the texts of the experiment"),
    ("replay/starts.rs", "missing trials, next to the texts of the experiment"),
    ("reached.rs", "the reason why a case has no result"),
    ("saturation.rs", "the reason why a case has no result"),
    ("self_check.rs", "the reason why a case has no result"),
    ("skipped.rs", "the reason why a case has no result"),
    ("sound.rs", "the reason why a case has no result"),
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
