//! The program in README equals the one in `examples`, and every public type has an example.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn the_example_of_the_readme_is_the_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = fs::read_to_string(folder.join("examples/talk.rs")).unwrap();
    let (_, code) = program.split_once("\n\n").unwrap();
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains(&format!("```rust,no_run\n{code}```")), "README has another program");
}

/// Returns the Rust files below a directory. Skips the files for Windows, because their examples cannot run here, and
/// the module `tokio`, because its types share one example.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let folders = folders.into_iter().filter(|path| !path.ends_with("windows") && !path.ends_with("tokio"));
    folders.flat_map(|path| sources(&path)).chain(files).collect()
}

#[test]
fn every_public_type_has_an_example() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let exports = fs::read_to_string(folder.join("lib.rs")).unwrap();
    let is_exported = |name: &str| {
        let uses = exports.split("pub use ").skip(1).filter_map(|text| text.split(';').next());
        uses.flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric())).any(|word| word == name)
    };
    let mut count = 0;
    for path in sources(&folder) {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let kinds = ["pub struct ", "pub enum ", "pub trait "];
            let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) else { continue };
            let name = rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap();
            let above = lines[..at].iter().rev();
            let mut comment = above.take_while(|line| line.starts_with("///") || line.starts_with("#["));
            if is_exported(name) {
                assert!(comment.any(|line| line.starts_with("/// ```")), "{name} has no example");
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count}");
}
