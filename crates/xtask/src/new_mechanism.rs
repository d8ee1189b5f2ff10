//! Writes a new mechanism's file and its line in the list. What it writes works at once and passes every
//! conformance test: a pair of pipes, to be changed into what it is to become.

use crate::root;
use anyhow::{Context, bail, ensure};
use std::fs;

const TEMPLATE: &str = include_str!("../templates/mechanism.rs");

/// Writes `crates/mechanism/src/NAME.rs` and enters it in `lib.rs` and `list.rs`.
pub fn write(name: &str) -> anyhow::Result<()> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    ensure!(plain, "'{name}' is no name: use lower-case letters, digits and hyphens, as in posix-mq");
    let module = name.replace('-', "_");
    let type_name: String = name.split('-').map(capitalised).collect();
    let folder = root().join("crates/mechanism/src");

    let file = folder.join(format!("{module}.rs"));
    if file.exists() {
        bail!("{} is there already", file.display());
    }
    let (library, list) = (folder.join("lib.rs"), folder.join("list.rs"));
    let library_text = fs::read_to_string(&library).context("read lib.rs")?;
    let list_text = fs::read_to_string(&list).context("read list.rs")?;
    let library_text = with_module(&library_text, &module).context("lib.rs has no list of modules")?;
    let list_text = with_line(&list_text, &module, &type_name).context("list.rs has no list")?;

    fs::write(&file, TEMPLATE.replace("Template", &type_name).replace("template", name))?;
    fs::write(library, library_text)?;
    fs::write(list, list_text)?;
    println!("wrote {}; it works, and is a pair of pipes until you change it", file.display());
    println!("next: cargo test -p furlong-bench --test conformance {name}/");
    Ok(())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// The library with one module more, before the first that comes after it in the alphabet.
fn with_module(text: &str, module: &str) -> Option<String> {
    let declared = |line: &&str| line.starts_with("mod ") || line.starts_with("pub mod ");
    let name_of = |line: &str| line.trim_start_matches("pub ").trim_start_matches("mod ").to_owned();
    let line = format!("mod {module};");
    let next = text.lines().filter(declared).find(|other| name_of(other) > name_of(&line));
    let anchor = next.or_else(|| text.lines().rfind(declared))?;
    let replacement = if next.is_some() { format!("{line}\n{anchor}") } else { format!("{anchor}\n{line}") };
    Some(text.replacen(anchor, &replacement, 1))
}

/// The list with one mechanism more, at its end.
fn with_line(text: &str, module: &str, type_name: &str) -> Option<String> {
    let (before, after) = text.split_once(";\n    in memory:\n    segment::")?;
    let entry = format!("{before},\n    crate::{module}::{type_name};\n    in memory:\n    segment::{after}");
    Some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_entered_in_its_place() {
        let text = "mod alpha;\npub mod beta;\nmod delta;\n";
        assert_eq!(
            with_module(text, "gamma").unwrap(),
            "mod alpha;\npub mod beta;\nmod delta;\nmod gamma;\n"
        );
        assert_eq!(
            with_module(text, "bravo").unwrap(),
            "mod alpha;\npub mod beta;\nmod bravo;\nmod delta;\n"
        );
    }

    #[test]
    fn the_real_list_takes_a_line() {
        let text = fs::read_to_string(root().join("crates/mechanism/src/list.rs")).unwrap();
        assert!(with_line(&text, "new", "New").unwrap().contains(",\n    crate::new::New;\n    in memory:"));
    }

    #[test]
    fn bad_names_are_refused() {
        for name in ["", "Pipe", "-x", "x-", "../x", "pipe"] {
            assert!(write(name).is_err(), "{name}");
        }
    }
}
