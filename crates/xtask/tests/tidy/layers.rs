//! The crates of the workspace, as cargo lists them, and their layers, as ARCHITECTURE.md lists them.

use super::root;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate of the workspace.
pub struct Member {
    name: String,
    /// Directory that contains its `src`, as in ARCHITECTURE.md: `crates/os`, `driver/command`.
    pub folder: String,
    /// The first files of its libraries and programs.
    pub roots: Vec<PathBuf>,
    /// Names of its dependencies on any platform, without those of its tests.
    dependencies: Vec<String>,
}

impl Member {
    fn read(package: &Value) -> Member {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let all = |key: &str| package[key].as_array().unwrap().iter();
        let product = all("targets").filter(|target| {
            !["test", "bench", "example", "custom-build"].contains(&target["kind"][0].as_str().unwrap())
        });
        let roots: Vec<_> = product.map(|target| PathBuf::from(text(&target["src_path"]))).collect();
        let source = roots[0].ancestors().find(|folder| folder.ends_with("src")).unwrap();
        let folder = source.parent().unwrap().strip_prefix(root()).unwrap().display().to_string();
        let product = all("dependencies").filter(|dependency| dependency["kind"] != "dev");
        let dependencies = product.map(|dependency| text(&dependency["name"])).collect();
        Member { name: text(&package["name"]), folder, roots, dependencies }
    }

    pub fn path(&self) -> PathBuf {
        root().join(&self.folder)
    }

    /// Returns whether users of furlong receive this crate: the table gives it a layer.
    pub fn is_product(&self) -> bool {
        layers()[&self.folder].is_some()
    }
}

/// Returns all crates of the workspace.
pub fn members() -> Vec<Member> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().iter().map(Member::read).collect()
}

/// Returns the layers in ARCHITECTURE.md's table by the crate's folder. Crates outside the product have none.
fn layers() -> BTreeMap<String, Option<u32>> {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = page.split("\n## ").find(|section| section.starts_with("Layers\n")).unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let layer = |rest: &str| match rest.split(" |").next().unwrap() {
        "–" => None,
        number => Some(number.parse().unwrap_or_else(|_| panic!("'{number}' is not a layer"))),
    };
    rows.map(|(folder, rest)| (folder.to_owned(), layer(rest))).collect()
}

#[test]
fn each_crate_imports_crates_of_lower_layers() {
    let (members, layers) = (members(), layers());
    let listed: Vec<_> = layers.keys().map(Path::new).collect();
    let mut folders: Vec<_> = members.iter().map(|member| Path::new(&member.folder)).collect();
    folders.sort();
    assert_eq!(folders, listed, "the workspace (left) has other crates than ARCHITECTURE.md's table (right)");
    for member in &members {
        let text = fs::read_to_string(&member.roots[0]).unwrap();
        let said =
            text.lines().find_map(|line| line.strip_prefix("//! Layer ")?.split([' ', '.', ',', ':']).next());
        let layer = layers[&member.folder].map(|layer| layer.to_string());
        assert!(said.is_none() || said == layer.as_deref(), "{} says layer {said:?}", member.folder);
        for other in members.iter().filter(|other| member.dependencies.contains(&other.name)) {
            let layers = [member, other].map(|of| layers[&of.folder]);
            // Crates outside the product may import any crate, and no product may import them.
            let is_allowed = match layers {
                [Some(from), Some(to)] => to < from,
                [from, _] => from.is_none(),
            };
            let (from, to) = (&member.folder, &other.folder);
            assert!(is_allowed, "{from} must not depend on {to}: layers {layers:?}");
        }
    }
}
