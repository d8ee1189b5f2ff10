//! Everything that a new mechanism needs in addition to its own code. The generated files work immediately and pass
//! every test of a mechanism: a pair of pipes, to be replaced by the new mechanism.

use anyhow::{Context, ensure};
use std::fs;
use std::path::Path;

const TEMPLATE: &str = include_str!("../templates/mechanism.rs");
const PROGRAMS: &str = include_str!("../templates/mechanism.toml");
const SOURCE: &str = "crates/mechanism/src";

/// A mechanism that does not exist yet.
struct NewMechanism<'a> {
    name: &'a str,
    /// Directory of the file in `crates/mechanism/src`.
    kind: &'a str,
    module: String,
    type_name: String,
}

/// A change to a file that exists: its path in the repository, and the text that it becomes, unless the place for the
/// change is not found in it.
type Step = (String, fn(&str, &NewMechanism<'_>) -> Option<String>);

/// Writes the file of a mechanism into the repository at `root`, and enters it wherever mechanisms are listed.
///
/// # Errors
/// Returns an error if the name or the kind is invalid, or if a file lacks the place of a change. Then nothing was
/// written.
pub fn write(root: &Path, kind: &str, name: &str) -> anyhow::Result<()> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    ensure!(
        plain,
        "'{name}' is not a valid name: use lower-case letters, digits and hyphens, as in posix-mq"
    );
    let kinds = kinds(&root.join(SOURCE))?;
    ensure!(
        kinds.iter().any(|known| known == kind),
        "'{kind}' is not a valid kind: use one of {}",
        kinds.join(", ")
    );
    let new = NewMechanism {
        name,
        kind,
        module: name.replace('-', "_"),
        type_name: name.split('-').map(capitalised).collect(),
    };
    let file = root.join(SOURCE).join(kind).join("linux").join(format!("{}.rs", new.module));
    ensure!(!file.exists(), "{} already exists", file.display());
    let code = TEMPLATE.replace("Template", &new.type_name).replace("template", name);
    let mut texts = vec![(file.clone(), code)];
    for (path, change) in steps(kind) {
        let text = fs::read_to_string(root.join(&path)).with_context(|| format!("cannot read {path}"))?;
        let changed = change(&text, &new).with_context(|| format!("{path} has no place for {name}"))?;
        texts.push((root.join(path), changed));
    }
    for (path, text) in &texts {
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", path.display());
    }
    println!(
        "{name} works, and is a pair of pipes until you change {}.\n\
         next: cargo test --release -p furlong-bench --test conformance {name}/ -- --include-ignored",
        file.display()
    );
    Ok(())
}

/// Returns the changes to existing files.
fn steps(kind: &str) -> [Step; 4] {
    [
        (format!("{SOURCE}/{kind}/linux/mod.rs"), |text, new| with_module(text, &new.module)),
        (format!("{SOURCE}/list.rs"), |text, new| {
            with_line(text, &format!("crate::{}::linux::{}::{}", new.kind, new.module, new.type_name))
        }),
        ("crates/programs/templates/mechanisms.toml".to_owned(), with_programs),
        ("CHANGELOG.md".to_owned(), with_change),
    ]
}

/// Returns the list of programs with those of the template, which is a pair of pipes.
fn with_programs(text: &str, new: &NewMechanism<'_>) -> Option<String> {
    let heading = format!("[{}]", new.name);
    let known = text.lines().any(|line| line == heading);
    (!known).then(|| format!("{}\n\n{}", text.trim_end(), PROGRAMS.replace("template-name", new.name)))
}

/// Returns the list of changes with the mechanism first in the newest version.
fn with_change(text: &str, new: &NewMechanism<'_>) -> Option<String> {
    let (before, after) = text.split_once("\n## ")?;
    let (version, after) = after.split_once("\n\n")?;
    Some(format!("{before}\n## {version}\n\n- `{}`: what it is, in one line.\n\n{after}", new.name))
}

/// Returns the directories that have mechanisms of Linux, in alphabetical order.
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

/// Returns the text with another module, inserted in alphabetical order.
fn with_module(text: &str, module: &str) -> Option<String> {
    let name = |line: &str| line.trim_start_matches("pub(crate) ").strip_prefix("mod ").map(str::to_owned);
    let declared = || text.lines().filter_map(|line| Some((line, name(line)?)));
    let line = format!("pub(crate) mod {module};");
    let next = declared().find(|(_, other)| *other > format!("{module};"));
    let (anchor, _) = next.clone().or_else(|| declared().next_back())?;
    let replacement = if next.is_some() { format!("{line}\n{anchor}") } else { format!("{anchor}\n{line}") };
    Some(text.replacen(anchor, &replacement, 1))
}

/// Returns the list with another mechanism at its end.
fn with_line(text: &str, path: &str) -> Option<String> {
    let (before, after) = text.split_once(";\n    in memory:\n    segment::")?;
    Some(format!("{before},\n    {path};\n    in memory:\n    segment::{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn a_module_is_entered_in_its_place() {
        let [alpha, bravo, delta, gamma] =
            ["alpha", "bravo", "delta", "gamma"].map(|name| format!("pub(crate) mod {name};\n"));
        let text = format!("//! Letters.\n\n{alpha}{delta}");
        assert_eq!(with_module(&text, "gamma").unwrap(), format!("{text}{gamma}"));
        assert_eq!(with_module(&text, "bravo").unwrap(), format!("//! Letters.\n\n{alpha}{bravo}{delta}"));
        // A private module is sorted in too.
        assert_eq!(with_module("mod alpha;\n", "bravo").unwrap(), format!("mod alpha;\n{bravo}"));
    }

    /// Copies the changed files, and the directories that define the kinds.
    fn copy() -> (tempfile::TempDir, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let kinds = kinds(&root().join(SOURCE)).unwrap();
        for (path, _) in kinds.iter().flat_map(|kind| steps(kind)) {
            fs::create_dir_all(folder.path().join(&path).parent().unwrap()).unwrap();
            fs::copy(root().join(&path), folder.path().join(&path)).unwrap();
        }
        (folder, kinds)
    }

    #[test]
    fn every_kind_and_every_list_take_one_more() {
        let (folder, kinds) = copy();
        assert_eq!(kinds, ["datagrams", "memory", "notifications", "queues", "streams"]);
        let text = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
        let programs = "crates/programs/templates/mechanisms.toml";
        let known = text(programs).parse::<toml::Table>().unwrap();
        for kind in &kinds {
            let name = format!("zulu-{kind}");
            write(folder.path(), kind, &name).unwrap();
            let code = text(&format!("{SOURCE}/{kind}/linux/zulu_{kind}.rs"));
            assert!(code.contains(&format!("name: \"{name}\"")) && !code.to_lowercase().contains("template"));
            assert!(
                text(&format!("{SOURCE}/{kind}/linux/mod.rs"))
                    .ends_with(&format!("\npub(crate) mod zulu_{kind};\n"))
            );
            let line = format!("\n    crate::{kind}::linux::zulu_{kind}::Zulu{},\n", capitalised(kind));
            let list = text(&format!("{SOURCE}/list.rs")).replace(";\n    in memory", ",\n    in memory");
            assert!(list.contains(&line), "{list}");
            let change = format!("\n- `{name}`: what it is, in one line.\n");
            assert_eq!(text("CHANGELOG.md").matches(&change).count(), 1);
        }
        let programs = text(programs).parse::<toml::Table>().unwrap();
        assert_eq!(programs.len(), known.len() + kinds.len());
        for kind in &kinds {
            assert_eq!(programs[&format!("zulu-{kind}")], known["pipe"]);
        }
    }

    #[test]
    fn what_is_there_already_is_left_alone() {
        let (folder, _) = copy();
        let list = folder.path().join(SOURCE).join("list.rs");
        let before = fs::read_to_string(&list).unwrap();
        // A name that exists in another kind, and a list in an unexpected form.
        let error = write(folder.path(), "queues", "pipe").unwrap_err().to_string();
        assert!(error.contains("mechanisms.toml has no place for pipe"), "{error}");
        fs::write(folder.path().join("CHANGELOG.md"), "# Changelog\n").unwrap();
        assert!(write(folder.path(), "streams", "zulu").is_err());
        assert_eq!(fs::read_to_string(&list).unwrap(), before);
        assert!(!folder.path().join(SOURCE).join("streams/linux/zulu.rs").exists());
    }

    #[test]
    fn bad_names_and_kinds_are_refused() {
        for name in ["", "Pipe", "-x", "x-", "../x", "pipe"] {
            assert!(write(&root(), "streams", name).is_err(), "{name}");
        }
        for kind in ["", "contract", "streams/linux", "../src"] {
            assert!(write(&root(), kind, "new").is_err(), "{kind}");
        }
    }
}
