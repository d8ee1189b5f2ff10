//! Checks invariants of ARCHITECTURE.md that no compiler enforces, on the text of the code.

#[path = "tidy/import_rules.rs"]
mod import_rules;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/pages.rs"]
mod pages;
#[path = "tidy/patterns.rs"]
mod patterns;
#[path = "tidy/rust_text.rs"]
mod rust_text;
#[path = "tidy/sentences.rs"]
mod sentences;
#[path = "tidy/shared_build.rs"]
mod shared_build;
#[path = "tidy/words.rs"]
mod words;

use furlong_mechanism::Mechanism;
use furlong_mechanism::list::{Visitor, visit_all};
use furlong_model::Wait;
use import_rules::product;
use layers::{Member, members};
use pages::all_pages;
use rust_text::{count_unsafe, forbids_unsafe};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Returns every Rust file below `folder`, with its text.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}

#[test]
fn every_file_says_what_it_is() {
    for (path, text) in ["crates", "driver", "fuzz/src"].into_iter().flat_map(sources) {
        assert!(text.starts_with("//! "), "{} does not begin with //!", path.display());
    }
}

/// The crates that make system calls: the face of the operating system, the stand-alone library, and its C interface.
const WITH_UNSAFE: [&str; 3] = ["crates/os", "crates/channel", "crates/channel-c"];

fn members_without_unsafe() -> impl Iterator<Item = Member> {
    members().into_iter().filter(|member| !WITH_UNSAFE.contains(&&*member.folder))
}

#[test]
fn unsafe_code_is_in_the_os_crate_and_in_the_channels_memory() {
    for member in members_without_unsafe() {
        for file in &member.roots {
            assert!(
                forbids_unsafe(&fs::read_to_string(file).unwrap()),
                "{} allows unsafe code",
                file.display()
            );
        }
        // This benchmark imitates a C program.
        let by_hand = root().join("crates/bench/benches/overhead");
        for (path, text) in sources(&member.folder) {
            let is_safe = path.starts_with(&by_hand) || count_unsafe(&text) == 0;
            assert!(is_safe, "{} has unsafe code", path.display());
        }
    }
    for (path, text) in sources("crates/channel/src") {
        let of_platform = path.iter().any(|part| part == "linux" || part == "windows");
        let allowed = match path.file_name().unwrap().to_str() {
            _ if of_platform => usize::MAX,
            Some("memory.rs" | "storage.rs") => usize::MAX,
            // The promise of a user that the other process is trusted, and the call that records it.
            Some("channel.rs") => 2,
            _ => 0,
        };
        assert!(count_unsafe(&text) <= allowed, "{} has unsafe code", path.display());
    }
}

/// Returns the names of all mechanisms.
fn names() -> BTreeSet<&'static str> {
    struct Names(BTreeSet<&'static str>);
    impl Visitor for Names {
        fn visit<M: Mechanism>(&mut self) {
            self.0.insert(M::CAPABILITIES.name);
        }
    }
    let mut names = Names(BTreeSet::new());
    visit_all(&mut names);
    names.0
}

/// Returns whether a string of the code is the mechanism's name, or a benchmark of it such as `pipe/block`.
fn has_name(code: &str, name: &str) -> bool {
    ["\"", "/", "\\\""].iter().any(|end| code.contains(&format!("\"{name}{end}")))
}

/// Files that contain names of wait strategies, some of which are also names of mechanisms.
const WITH_WAITS: [&str; 3] =
    ["crates/model/src/wait.rs", "crates/analysis/src/costs.rs", "crates/programs/src/render.rs"];

/// Files whose error messages show a benchmark as an example.
const WITH_EXAMPLES: [&str; 1] = ["crates/analysis/src/experiment/rows.rs"];

#[test]
fn no_mechanism_is_named_outside_its_file() {
    let names = names();
    assert!(names.contains("pipe"));
    // `os` has system calls, and some mechanisms have the same names.
    let members = members().into_iter().filter(|member| member.is_product() && member.folder != "crates/os");
    let mut own_files: BTreeMap<&str, String> = BTreeMap::new();
    for member in members {
        for (path, code) in product(&member.path()) {
            // Fixtures are data of tests, which name mechanisms as users do.
            let named = names.iter().filter(|name| !path.contains("/fixture/") && has_name(&code, name));
            for name in named {
                let is_allowed = match (member.folder.as_str(), *name) {
                    // The system calls that mechanisms declare.
                    ("crates/mechanism", "futex" | "splice") => true,
                    ("crates/mechanism", _) => *own_files.entry(name).or_insert(path.clone()) == path,
                    // A scheduling policy has the same name.
                    ("crates/model", "fifo") => path.ends_with("/requested_condition/scheduling.rs"),
                    // The driver's channels.
                    ("driver/command", "channel") => true,
                    (_, name) if Wait::ALL.iter().any(|wait| wait.name() == name) => {
                        WITH_WAITS.contains(&&*path)
                    }
                    (_, name) => name == "pipe" && WITH_EXAMPLES.contains(&&*path),
                };
                assert!(is_allowed, "{path} names the mechanism {name}");
            }
        }
    }
}

#[test]
fn name_is_found_alone_and_before_a_wait() {
    for code in ["\"pipe\"", "\"pipe/block\"", "\"row = \\\"pipe/block\\\"\"", "\"row = \\\"pipe\\\"\""] {
        assert!(has_name(code, "pipe"), "{code}");
    }
    for code in ["\"pipes\"", "\"a pipe\"", "pipe/block"] {
        assert!(!has_name(code, "pipe"), "{code}");
    }
}

#[test]
fn shared_futex_words_use_shared_operations() {
    for (path, text) in sources("crates/os/src") {
        assert!(!text.contains("FUTEX_PRIVATE_FLAG"), "{}: wakes are lost across processes", path.display());
        assert!(!text.contains("_PRIVATE)"), "{}: wakes are lost across processes", path.display());
    }
}

/// Returns the parts of a name: `RunningTrial`, `running_trial` and "running trial" all have two.
fn parts(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for letter in line.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if (begins || !letter.is_alphanumeric()) && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        if let (true, Some(part)) = (letter.is_alphanumeric(), parts.last_mut()) {
            part.push(letter);
        }
        before = letter;
    }
    parts
}

#[test]
fn no_name_is_a_metaphor() {
    // Split in half, so that this file does not contain the words.
    let joined = |halves: &[[&str; 2]]| halves.iter().map(|halves| halves.concat()).collect::<Vec<_>>();
    let anywhere = joined(&[
        ["play", "er"],
        ["sce", "ne"],
        ["ven", "ue"],
        ["confe", "ss"],
        ["obitu", "ary"],
        ["hu", "mp"],
        ["bur", "den"],
    ]);
    // Only as types, because in lower case they are ordinary English words, and one is a Rust word.
    let types = joined(&[["Sta", "ge"], ["Ca", "st"], ["Trou", "ble"]]);
    for (path, text) in sources("crates") {
        for (number, line) in (1..).zip(text.lines()) {
            for part in parts(line) {
                let word = part.to_lowercase();
                let is_gone = anywhere.iter().any(|gone| word == *gone || word == format!("{gone}s"))
                    || types.contains(&part);
                assert!(!is_gone, "{}:{number} says {part}: take the field's word", path.display());
            }
        }
    }
}

/// Phrases that readers did not understand, in text and in pages.
const PHRASES: [&str; 7] = [
    "leaves least to you",
    "nothing is told apart",
    "rows in one place tie",
    "of so rare ones",
    "who waits sleeps",
    "who waits keeps",
    "not to be had",
];

/// Returns the words of a text in small letters with one space between them, without the marks of comments and of
/// continued lines, so that a phrase may be broken by the end of a line.
fn running_words(text: &str) -> String {
    let words = text.lines().flat_map(|line| {
        let line = line.trim().trim_end_matches('\\');
        let mark = ["//!", "///", "//", "* "].into_iter().find_map(|mark| line.strip_prefix(mark));
        mark.unwrap_or(line).split_whitespace()
    });
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

#[test]
fn words_run_on_across_comments_and_continued_lines() {
    for text in [
        "//! Not to\n//!\n//! be had",
        "/// not to\n/// be had",
        "/*\n * not to\n * be had */",
        "\"not to \\\n  be had\"",
    ] {
        assert!(running_words(text).contains("not to be had"), "{text}");
    }
}

#[test]
fn phrases_that_readers_did_not_understand_do_not_come_back() {
    let mut texts = [sources("crates"), sources("driver"), sources("fuzz/src")].concat();
    texts.retain(|(path, _)| !path.starts_with(root().join("crates/xtask/tests")));
    let pages = all_pages().into_iter().map(|page| (page.clone(), fs::read_to_string(page).unwrap()));
    texts.extend(pages);
    for name in ["METHODOLOGY.md", "driver/README.md", "docs/format/README.md"] {
        assert!(texts.iter().any(|(path, _)| path.ends_with(name)), "{name}");
    }
    for (path, text) in texts {
        let text = running_words(&text);
        for phrase in PHRASES {
            assert!(!text.contains(phrase), "{} says '{phrase}'", path.display());
        }
    }
}
