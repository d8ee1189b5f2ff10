//! Code reads the facts of a pattern, and rarely asks which pattern it is.

use super::import_rules::product;
use super::layers::{Member, members};
use super::rust_text::without_comments_and_strings;
use furlong_model::Pattern;

/// Directory of the patterns' own files and of their list.
const OWN: &str = "crates/model/src/pattern/";

/// Files elsewhere that may name a pattern. A new pattern touches none of them but the options of a workload.
const MOST: usize = 5;

#[test]
fn few_files_name_a_pattern() {
    let names = |code: &str| {
        let of =
            |kind: &str| Pattern::ALL.iter().any(|pattern| code.contains(&format!("{kind}::{pattern:?}")));
        of("Pattern") || of("Exchange")
    };
    let files = members().into_iter().filter(Member::is_product).flat_map(|member| product(&member.path()));
    let naming: Vec<String> = files
        .filter(|(path, _)| {
            !path.starts_with(OWN) && !path.contains("/fixture/") && !path.ends_with("/fuzzing.rs")
        })
        .filter(|(_, code)| names(&without_comments_and_strings(code)))
        .map(|(path, _)| path)
        .collect();
    assert!(naming.len() <= MOST, "{} files name a pattern: {naming:#?}", naming.len());
}
