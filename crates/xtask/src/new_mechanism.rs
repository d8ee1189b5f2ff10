//! Writes a new mechanism's file and its line in the list. What it writes works at once and passes every
//! conformance test: a pair of pipes, to be changed into what it is to become.

use crate::root;
use anyhow::{Context, bail, ensure};
use std::fs;
use std::path::Path;

const TEMPLATE: &str = include_str!("../templates/mechanism.rs");

/// Writes `crates/mechanism/src/KIND/linux/NAME.rs` and enters it in the folder's `mod.rs` and in `list.rs`.
pub fn write(kind: &str, name: &str) -> anyhow::Result<()> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    ensure!(plain, "'{name}' is no name: use lower-case letters, digits and hyphens, as in posix-mq");
    let module = name.replace('-', "_");
    let type_name: String = name.split('-').map(capitalised).collect();
    let source = root().join("crates/mechanism/src");
    let kinds = kinds(&source)?;
    ensure!(kinds.iter().any(|known| known == kind), "'{kind}' is no kind: {} are", kinds.join(", "));
    let folder = source.join(kind).join("linux");

    let file = folder.join(format!("{module}.rs"));
    if file.exists() {
        bail!("{} is there already", file.display());
    }
    let (modules, list) = (folder.join("mod.rs"), source.join("list.rs"));
    let modules_text = fs::read_to_string(&modules).context("read mod.rs")?;
    let list_text = fs::read_to_string(&list).context("read list.rs")?;
    let modules_text = with_module(&modules_text, &module).context("mod.rs has no list of modules")?;
    let path = format!("crate::{kind}::linux::{module}::{type_name}");
    let list_text = with_line(&list_text, &path).context("list.rs has no list")?;

    fs::write(&file, TEMPLATE.replace("Template", &type_name).replace("template", name))?;
    fs::write(modules, modules_text)?;
    fs::write(list, list_text)?;
    println!("wrote {}; it works, and is a pair of pipes until you change it", file.display());
    println!("next: cargo test -p furlong-bench --test conformance {name}/");
    Ok(())
}

/// The folders that have mechanisms of Linux, in the alphabet's order.
fn kinds(source: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(source).with_context(|| format!("list {}", source.display()))?;
    let mut kinds: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("linux/mod.rs").exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    kinds.sort();
    Ok(kinds)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// The text with one module more, before the first that comes after it in the alphabet.
fn with_module(text: &str, module: &str) -> Option<String> {
    const DECLARED: &str = "pub(crate) mod ";
    let line = format!("{DECLARED}{module};");
    let declared = |other: &&str| other.starts_with(DECLARED);
    let next = text.lines().filter(declared).find(|other| **other > *line);
    let anchor = next.or_else(|| text.lines().rfind(declared))?;
    let replacement = if next.is_some() { format!("{line}\n{anchor}") } else { format!("{anchor}\n{line}") };
    Some(text.replacen(anchor, &replacement, 1))
}

/// The list with one mechanism more, at its end.
fn with_line(text: &str, path: &str) -> Option<String> {
    let (before, after) = text.split_once(";\n    in memory:\n    segment::")?;
    Some(format!("{before},\n    {path};\n    in memory:\n    segment::{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_entered_in_its_place() {
        let [alpha, bravo, delta, gamma] =
            ["alpha", "bravo", "delta", "gamma"].map(|name| format!("pub(crate) mod {name};\n"));
        let text = format!("//! Letters.\n\n{alpha}{delta}");
        assert_eq!(with_module(&text, "gamma").unwrap(), format!("{text}{gamma}"));
        assert_eq!(with_module(&text, "bravo").unwrap(), format!("//! Letters.\n\n{alpha}{bravo}{delta}"));
    }

    #[test]
    fn every_kind_and_the_real_list_take_one_more() {
        let source = root().join("crates/mechanism/src");
        let kinds = kinds(&source).unwrap();
        assert_eq!(kinds, ["datagrams", "memory", "notifications", "queues", "streams"]);
        for kind in kinds {
            let text = fs::read_to_string(source.join(kind).join("linux/mod.rs")).unwrap();
            assert!(with_module(&text, "zulu").unwrap().ends_with("\npub(crate) mod zulu;\n"));
        }
        let list = fs::read_to_string(source.join("list.rs")).unwrap();
        assert!(with_line(&list, "a::New").unwrap().contains(",\n    a::New;\n    in memory:"));
    }

    #[test]
    fn bad_names_and_kinds_are_refused() {
        for name in ["", "Pipe", "-x", "x-", "../x", "pipe"] {
            assert!(write("streams", name).is_err(), "{name}");
        }
        for kind in ["", "contract", "streams/linux", "../src"] {
            assert!(write(kind, "new").is_err(), "{kind}");
        }
    }
}
