//! Lists the files of `adapters/`, so that they become part of this program.
//!
//! A package for crates.io has nothing of what lies beside its own folder, and no folder that is a package itself, as some
//! adapters are: `cargo xtask dist --check` writes the list with the files' text into it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Endings of files that somebody wrote; what builds make has none of them.
const WRITTEN: [&str; 19] = [
    "c", "capnp", "cpp", "go", "h", "hpp", "java", "js", "json", "lock", "md", "mjs", "mod", "py", "rs",
    "sh", "sum", "toml", "xml",
];

/// Folders that builds make.
const MADE: [&str; 5] = ["target", "node_modules", "__pycache__", "build", "classes"];

fn main() -> io::Result<()> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("files.rs");
    let Ok(root) = package.join("../../adapters").canonicalize() else {
        return fs::copy(package.join("packaged.txt"), list).map(|_| ());
    };
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    find(&root, &mut files)?;
    files.sort();
    let mut text = "&[\n".to_owned();
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file);
        text.push_str(&format!("    ({name:?}, {:?}),\n", fs::read_to_string(&file)?));
    }
    text.push_str("]\n");
    fs::write(list, text)
}

/// Adds the files below a folder.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is = |list: &[&str], part: Option<&std::ffi::OsStr>| {
            part.is_some_and(|part| list.iter().any(|one| part == *one))
        };
        if path.is_dir() {
            // Without this, cargo does not see a file that is new in a folder.
            println!("cargo::rerun-if-changed={}", path.display());
            if !is(&MADE, path.file_name()) {
                find(&path, files)?;
            }
        } else if is(&WRITTEN, path.extension()) {
            files.push(path);
        }
    }
    Ok(())
}
