//! Imports between the files of a crate, read from their text: `use` lines, and paths that begin with `crate`,
//! `super` or `self`. Test code does not count. Paths that begin with a child module do not count either, because
//! parents call children that use their types.
//!
//! A name that a module re-exports counts as imported from the file that defines it. A `mod.rs` that only declares
//! and re-exports is therefore not an import.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

type Name = Vec<String>;

/// The modules of one crate, by their path from its root.
pub struct Modules(BTreeMap<Name, Module>);

struct Module {
    file: PathBuf,
    /// Text of the module without comments, tests and `use` lines.
    code: String,
    imports: Vec<Import>,
    /// Re-exports: each path ends with the name, or with `*`.
    exports: Vec<Import>,
}

/// A written path, and its name in the module.
#[derive(Clone)]
struct Import {
    path: Name,
    name: String,
}

impl Modules {
    /// Returns the modules of the files below `source`, the crate's `src`.
    pub fn new(source: &Path, files: &[(PathBuf, String)]) -> Modules {
        let mut modules = BTreeMap::new();
        let mut tests: Vec<Name> = Vec::new();
        for (file, text) in files {
            let mut path: Name = file
                .strip_prefix(source)
                .unwrap()
                .with_extension("")
                .iter()
                .map(|part| part.to_str().unwrap().to_owned())
                .collect();
            if matches!(path.last().map(String::as_str), Some("mod" | "lib" | "main")) {
                path.pop();
            }
            let (code, test_modules) = without_tests(text);
            tests.extend(test_modules.into_iter().map(|name| [path.clone(), vec![name]].concat()));
            let (code, imports, exports) = split_uses(&code);
            modules.insert(path, Module { file: file.clone(), code, imports, exports });
        }
        modules.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
        Modules(modules)
    }

    /// Returns the files that are not only for tests.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.values().map(|module| module.file.as_path())
    }

    /// Returns each file with the files that it imports.
    pub fn imports(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        self.0.iter().map(|(at, module)| (module.file.as_path(), self.imports_of(at, module))).collect()
    }

    fn imports_of<'a>(&'a self, at: &Name, module: &'a Module) -> BTreeSet<&'a Path> {
        let re_exported = module.exports.iter().filter(|export| has_word(&module.code, &export.name));
        let mut found: BTreeSet<&Path> = module
            .imports
            .iter()
            .chain(re_exported)
            .flat_map(|import| self.files_of(at, module, import))
            .collect();
        for path in rooted_paths(&module.code) {
            found.extend(self.absolute(at, &path).and_then(|path| self.file(&path)));
        }
        found.remove(module.file.as_path());
        found
    }

    /// Returns the files that define the imported items. For an imported module, these are the files of its items
    /// that are used.
    fn files_of(&self, at: &Name, module: &Module, import: &Import) -> Vec<&Path> {
        let Some(path) = self.absolute(at, &import.path) else { return Vec::new() };
        if !self.0.contains_key(&path) {
            return self.file(&path).into_iter().collect();
        }
        let used = match import.name.as_str() {
            "*" => self.names(&path).into_iter().filter(|name| has_word(&module.code, name)).collect(),
            name => words_behind(&module.code, &format!("{name}::")),
        };
        let used = used.into_iter().filter_map(|name| self.file(&[path.clone(), vec![name]].concat()));
        used.collect()
    }

    /// Returns the names that a glob import of this module makes known.
    fn names(&self, at: &Name) -> BTreeSet<String> {
        let module = &self.0[at];
        let globs = module.exports.iter().filter(|export| export.name == "*");
        let globs = globs.filter_map(|export| self.0.get(&self.absolute(at, &export.path)?));
        let defined = globs.chain([module]).flat_map(|module| defined(&module.code));
        defined.chain(module.exports.iter().map(|export| export.name.clone())).collect()
    }

    /// Returns the path from the crate's root. Returns `None` for a path of another crate.
    fn absolute(&self, at: &Name, path: &[String]) -> Option<Name> {
        let (mut from, mut rest) = (at.clone(), path);
        match rest.first()?.as_str() {
            "crate" => (from, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    from.pop();
                    rest = &rest[1..];
                }
            }
            child if !self.0.contains_key(&[at.clone(), vec![child.to_owned()]].concat()) => return None,
            _ => {}
        }
        from.extend_from_slice(rest);
        Some(from)
    }

    /// Returns the file that defines the item of this path from the root.
    fn file(&self, path: &[String]) -> Option<&Path> {
        let depth = (0..=path.len()).rev().find(|depth| self.0.contains_key(&path[..*depth]))?;
        let (at, rest) = (path[..depth].to_vec(), &path[depth..]);
        let module = &self.0[&at];
        let Some(name) = rest.first() else { return Some(&module.file) };
        let further = |export: &Import, rest: &[String]| {
            self.absolute(&at, &export.path).and_then(|path| self.file(&[path, rest.to_vec()].concat()))
        };
        if let Some(export) = module.exports.iter().find(|export| export.name == *name) {
            return further(export, &rest[1..]).or(Some(&module.file));
        }
        let globs = module.exports.iter().filter(|export| export.name == "*");
        let found = globs.filter(|_| !defines(&module.code, name)).find_map(|export| {
            let path = self.absolute(&at, &export.path)?;
            self.0.get(&path).filter(|module| defines(&module.code, name)).map(|module| module.file.as_path())
        });
        found.or(Some(&module.file))
    }
}

/// Circles of imports: each as the files on the way from its first back to it, no file in two of them.
pub fn circles<'a>(imports: &BTreeMap<&'a Path, BTreeSet<&'a Path>>) -> Vec<Vec<&'a Path>> {
    let mut found: Vec<Vec<&Path>> = Vec::new();
    for &start in imports.keys() {
        if found.iter().flatten().any(|file| *file == start) {
            continue;
        }
        let mut before: BTreeMap<&Path, &Path> = BTreeMap::new();
        let mut next = VecDeque::from([start]);
        while let Some(file) = next.pop_front().filter(|_| !before.contains_key(start)) {
            for &imported in imports.get(file).into_iter().flatten() {
                if !before.contains_key(imported) {
                    before.insert(imported, file);
                    next.push_back(imported);
                }
            }
        }
        if before.contains_key(start) {
            let mut circle = vec![start];
            while let Some(&file) = before.get(circle[circle.len() - 1]).filter(|file| **file != start) {
                circle.push(file);
            }
            circle[1..].reverse();
            found.push(circle);
        }
    }
    found
}

/// Returns each path that the `use` lines of the code name, and the code without those lines.
pub fn used_paths(text: &str) -> (Vec<String>, String) {
    let (code, imports, exports) = split_uses(text);
    (imports.iter().chain(&exports).map(|import| import.path.join("::")).collect(), code)
}

/// Returns the text without comments and without test code, and the names of the test modules.
pub fn without_tests(text: &str) -> (String, Vec<String>) {
    let (mut code, mut modules) = (String::new(), Vec::new());
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    while let Some(line) = lines.next() {
        if !["#[cfg(test)]", "#[cfg(all(test, "].iter().any(|start| line.trim().starts_with(start)) {
            code.push_str(line);
            code.push('\n');
            continue;
        }
        let Some(item) = lines.find(|line| !line.trim_start().starts_with("#[")) else { break };
        let declared = item.trim().trim_start_matches("pub(crate) ").strip_prefix("mod ");
        modules.extend(declared.and_then(|rest| rest.strip_suffix(';')).map(str::to_owned));
        if item.ends_with('{') || item.ends_with('(') {
            let end = format!("{}}}", &item[..item.len() - item.trim_start().len()]);
            lines.find(|line| line.starts_with(&end));
        }
    }
    (code, modules)
}

/// Returns the code without its `use` lines, their imports, and their re-exports.
fn split_uses(text: &str) -> (String, Vec<Import>, Vec<Import>) {
    let (mut code, mut imports, mut exports) = (String::new(), Vec::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let (visible, rest) = match line.trim_start().strip_prefix("pub") {
            Some(rest) => {
                (true, rest.split_once(") ").filter(|_| rest.starts_with('(')).map_or(rest, |it| it.1))
            }
            None => (false, line),
        };
        let Some(tree) = rest.trim_start().strip_prefix("use ") else {
            code.push_str(line);
            code.push('\n');
            continue;
        };
        let mut tree = tree.to_owned();
        while !tree.contains(';') {
            let Some(line) = lines.next() else { break };
            tree.push_str(line.trim());
        }
        let tree = tree.split(';').next().unwrap_or_default();
        expand(&[], tree, if visible { &mut exports } else { &mut imports });
    }
    (code, imports, exports)
}

/// Expands a tree such as `a::{b, c::{self, d as e}}` into its paths.
fn expand(before: &[String], tree: &str, found: &mut Vec<Import>) {
    let tree = tree.trim();
    if let Some((path, inner)) = tree.split_once('{') {
        let segments = path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned);
        let before: Name = before.iter().cloned().chain(segments).collect();
        let inner = inner.strip_suffix('}').unwrap_or(inner);
        let mut depth = 0;
        let parts = inner.split(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        parts.filter(|part| !part.trim().is_empty()).for_each(|part| expand(&before, part, found));
        return;
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
    let mut path: Name =
        before.iter().cloned().chain(path.split("::").map(|part| part.trim().to_owned())).collect();
    let name = match path.last().map(String::as_str) {
        Some("self") if path.len() > 1 => path.pop().and_then(|_| path.last().cloned()),
        Some("*") => path.pop(),
        _ => path.last().cloned(),
    };
    let name = alias.map(str::to_owned).or(name).unwrap_or_default();
    found.push(Import { path, name });
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether the code contains the word.
fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !is_word(c)).any(|other| other == word)
}

/// Returns whether the code has an item of this name.
fn defines(code: &str, name: &str) -> bool {
    defined(code).any(|defined| defined == name)
}

/// Returns the names of the code's items.
fn defined(code: &str) -> impl Iterator<Item = String> {
    let kinds = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod"];
    kinds.into_iter().flat_map(move |kind| words_behind(code, &format!("{kind} ")))
}

/// Returns the words that follow `before`, if `before` starts a word and is not part of a path.
fn words_behind(code: &str, before: &str) -> BTreeSet<String> {
    let starts = code.match_indices(before).map(|(at, _)| at);
    let starts = starts.filter(|at| !code[..*at].ends_with(|c: char| is_word(c) || c == ':' || c == '$'));
    let words =
        starts.map(|at| code[at + before.len()..].split(|c: char| !is_word(c)).next().unwrap_or_default());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns the paths in the code that begin with `crate`, `super` or `self`.
fn rooted_paths(code: &str) -> Vec<Name> {
    let mut found = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root) {
            if code[..at].ends_with(|c: char| is_word(c) || c == ':') {
                continue;
            }
            let end = code[at..].find(|c: char| !is_word(c) && c != ':').map_or(code.len(), |len| at + len);
            let path: Name =
                code[at..end].split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the import cycles of a crate with these files, as text.
    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> =
            files.iter().map(|(name, text)| (Path::new("src").join(name), (*text).to_owned())).collect();
        let modules = Modules::new("src".as_ref(), &files);
        let join = |circle: &Vec<&Path>| {
            circle.iter().map(|file| file.to_str().unwrap()).collect::<Vec<_>>().join(" > ")
        };
        circles(&modules.imports()).iter().map(join).collect()
    }

    #[test]
    fn a_circle_is_found_however_it_is_written() {
        let lib = ("lib.rs", "mod a;\nmod b;\n");
        for back in [
            "use crate::a::A;",
            "use super::a::{self, B};\nfn f() { a::f() }",
            "use crate::{c, a::{x, y::{z}}};",
            "fn f() -> crate::a::A {}",
            "use crate::a as other;\nfn f() { other::f() }",
        ] {
            assert_eq!(
                circles_of(&[lib, ("a.rs", "use crate::b::B;"), ("b.rs", back)]),
                ["src/a.rs > src/b.rs"],
                "{back}"
            );
        }
        let three =
            [lib, ("a.rs", "use crate::b::B;"), ("b.rs", "use crate::c::C;"), ("c.rs", "use crate::a::A;")];
        assert_eq!(circles_of(&three), ["src/a.rs > src/b.rs > src/c.rs"]);
    }

    #[test]
    fn parent_that_calls_its_child_by_a_rooted_path_imports_it() {
        for call in ["self::b::f()", "super::a::b::f()"] {
            let parent = format!("mod b;\nstruct S;\nfn g() {{ {call} }}\n");
            assert_eq!(
                circles_of(&[("a/mod.rs", &parent), ("a/b.rs", "use super::S;")]),
                ["src/a/b.rs > src/a/mod.rs"],
                "{call}"
            );
        }
    }

    #[test]
    fn glob_import_imports_the_names_that_the_code_uses() {
        let a = ("a.rs", "use crate::*;\nstruct A(B);");
        let lib = ("lib.rs", "mod a;\nmod b;\npub use b::*;\n");
        for (b, expected) in [
            ("use crate::a::*;\nstruct B(A);", &["src/a.rs > src/b.rs"][..]),
            ("use crate::a::*;\nstruct B;", &[]),
        ] {
            assert_eq!(circles_of(&[lib, a, ("b.rs", b)]), expected, "{b}");
        }
    }

    #[test]
    fn a_parent_that_only_re_exports_is_no_part_of_a_circle() {
        let parent = "mod b;\nmod c;\npub use b::B;\npub(crate) use c::{C, D as E};\n";
        let files = [("a/mod.rs", parent), ("a/b.rs", "use super::C;"), ("a/c.rs", "")];
        assert!(circles_of(&files).is_empty());
        let files = [("a/mod.rs", parent), ("a/b.rs", "use super::E;"), ("a/c.rs", "use crate::a::B;")];
        assert_eq!(circles_of(&files), ["src/a/b.rs > src/a/c.rs"]);
        let used = format!("{parent}struct S(B);\n");
        assert_eq!(
            circles_of(&[("a/mod.rs", &used), ("a/b.rs", "use super::S;")]),
            ["src/a/b.rs > src/a/mod.rs"]
        );
    }

    #[test]
    fn tests_and_comments_import_nothing() {
        let test = "#[cfg(all(test, unix))]\nmod tests {\n    use crate::a::A;\n    mod inner {\n    }\n}\n#[cfg(test)]\nmod t;\n// use crate::a::A;\n";
        let files = [("a.rs", "use crate::b::B;"), ("b/mod.rs", test), ("b/t.rs", "use crate::a::A;")];
        assert!(circles_of(&files).is_empty());
    }
}
