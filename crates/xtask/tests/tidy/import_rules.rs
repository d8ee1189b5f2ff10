//! What may import what: rules on top of [`imports`](super::imports).

use super::imports::{Modules, circles, without_tests};
use super::layers::members;
use super::{members_without_unsafe, root, sources};
use std::path::Path;

/// The files of what is built of a crate, by their names in the repository, without what is compiled for tests alone.
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

#[test]
fn platforms_lie_below_the_face_of_os() {
    let of_platforms = ["std::os::", "libc::", "windows_sys::"];
    for (name, text) in members_without_unsafe().flat_map(|member| product(&member.path())) {
        // A path of furlong_os ends like one of std's.
        let text = text.replace("furlong_os::", "");
        for path in of_platforms {
            assert!(!text.contains(path), "{name} imports {path}, which os is for");
        }
    }
}

#[test]
fn a_mechanism_of_one_platform_lies_in_its_folder() {
    for (name, text) in product(&root().join("crates/mechanism")) {
        for platform in ["linux", "windows"] {
            let imports = text.contains(&format!("furlong_os::{platform}"));
            let lies = name.contains(&format!("/{platform}/"));
            assert!(!imports || lies, "{name} imports furlong_os::{platform} and lies elsewhere");
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
