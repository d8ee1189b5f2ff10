//! Rules on imports, on top of [`imports`](super::imports).

use super::imports::{Modules, circles, is_word, used_paths, without_tests};
use super::layers::members;
use super::rust_text::without_comments_and_strings;
use super::{members_without_unsafe, root, sources};
use std::path::Path;

/// Returns the product files of a crate by their names in the repository, without code that is compiled only for
/// tests.
pub fn product(folder: &Path) -> Vec<(String, String)> {
    let source = folder.join("src");
    let files = sources(source.to_str().unwrap());
    let modules = Modules::new(&source, &files);
    let built = files.iter().filter(|(path, _)| modules.files().any(|file| file == path));
    built.map(|(path, text)| (name_of(path), without_tests(text).0)).collect()
}

fn name_of(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

/// Returns whether the code imports this path or one that begins with it, or names one that begins with it.
fn names_path(code: &str, path: &str) -> bool {
    let (used, code) = used_paths(&without_comments_and_strings(code));
    let path = format!("{path}::");
    // A path may begin with `::`.
    let begins = |before: &str| !before.strip_suffix("::").unwrap_or(before).ends_with(is_word);
    used.iter().any(|used| format!("{used}::").trim_start_matches("::").starts_with(&path))
        || code.match_indices(&path).any(|(at, _)| begins(&code[..at]))
}

#[test]
fn platforms_lie_below_the_face_of_os() {
    for (name, text) in members_without_unsafe().flat_map(|member| product(&member.path())) {
        for path in ["std::os", "libc", "windows_sys"] {
            assert!(!names_path(&text, path), "{name} imports {path}, which os is for");
        }
    }
}

#[test]
fn a_mechanism_of_one_platform_lies_in_its_folder() {
    for (name, text) in product(&root().join("crates/mechanism")) {
        for platform in ["linux", "windows"] {
            let imports = names_path(&text, &format!("furlong_os::{platform}"));
            let lies = name.contains(&format!("/{platform}/"));
            assert!(!imports || lies, "{name} imports furlong_os::{platform}, but is in another directory");
        }
    }
}

#[test]
fn paths_are_found_in_groups_and_in_code() {
    for code in [
        "use std::os::fd::AsFd;",
        "use std::{io, os::fd::AsFd};",
        "use std::{\n    io,\n    os as system,\n};",
        "pub use ::std::os;",
        "fn f() { std::os::fd::g() }",
        "fn f() { ::std::os::fd::g() }",
    ] {
        assert!(names_path(code, "std::os"), "{code}");
    }
    for code in
        ["use std::{io, ostrich};", "use furlong_std::os;", "fn f() { a::std::os::g(my_std::os::g()) }"]
    {
        assert!(!names_path(code, "std::os"), "{code}");
    }
}

#[test]
fn no_crate_compiles_a_file_outside_its_source() {
    for (name, text) in members().iter().flat_map(|member| product(&member.path())) {
        for path in ["path = \"../", "include!(\"../"] {
            assert!(!text.contains(path), "{name} has {path}: depend on the crate of that file");
        }
    }
}

#[test]
fn no_two_files_import_each_other() {
    let mut found = String::new();
    for member in members() {
        let source = member.path().join("src");
        let files = sources(source.to_str().unwrap());
        let modules = Modules::new(&source, &files);
        for circle in circles(&modules.imports()) {
            let circle: Vec<_> = circle.iter().map(|file| name_of(file)).collect();
            found += &format!("{},\n  which imports the first again\n", circle.join("\n  imports "));
        }
    }
    assert!(found.is_empty(), "{found}");
}
