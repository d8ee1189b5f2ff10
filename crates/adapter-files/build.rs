//! Lists the files of `adapters/`, so that they become part of this program.
//!
//! The package on crates.io contains no files outside its own directory, and cargo omits directories that are
//! packages themselves. Some adapters are such packages. `cargo xtask dist --check` therefore writes the list and the
//! text of the files into the package.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Extensions of source files. Build outputs have none of these extensions.
const WRITTEN: [&str; 19] = [
    "c", "capnp", "cpp", "go", "h", "hpp", "java", "js", "json", "lock", "md", "mjs", "mod", "py", "rs",
    "sh", "sum", "toml", "xml",
];

/// Directories that builds create.
const MADE: [&str; 5] = ["target", "node_modules", "__pycache__", "build", "classes"];

fn main() -> io::Result<()> {
    // When the script runs, not when it is compiled: cargo does not compile it again for a moved clone.
    let folder = |name| PathBuf::from(std::env::var_os(name).unwrap_or_default());
    let (package, list) = (folder("CARGO_MANIFEST_DIR"), folder("OUT_DIR").join("files.rs"));
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

/// Adds the source files below a directory.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is = |list: &[&str], part: Option<&std::ffi::OsStr>| {
            part.is_some_and(|part| list.iter().any(|one| part == *one))
        };
        if path.is_dir() {
            // Without this line, cargo does not notice a new file in the directory.
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
