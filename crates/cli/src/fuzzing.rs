//! Entry points of the fuzzer (`fuzz/`): a workload in a file, and the programs that are generated for it.

use crate::verbs::recommend::{check, file};
use furlong_model::{Wait, Workload};
use furlong_programs::{EndBoundaries, Language, program};

/// Returns the workload of a file, if the file is valid.
pub fn workload(text: &str) -> Option<Workload> {
    file::parse(text).ok().and_then(|options| check(&options).ok())
}

/// Generates the programs of a row for a workload, in every language.
pub fn programs(mechanism: &str, wait: Wait, workload: &Workload) {
    let between = EndBoundaries::of(&workload.boundaries);
    for language in [Language::C, Language::Rust, Language::Python] {
        let made = program(mechanism, wait, workload.pattern, workload.size_bytes, between, language);
        let text = made.map(|made| made.text);
        assert!(text.is_err() || text.is_ok_and(|text| text.ends_with('\n')), "a program is cut off");
    }
}
