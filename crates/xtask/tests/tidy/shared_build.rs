//! `cargo run --release` and `cargo test --release --workspace` compile the same dependencies with the same features, so that
//! the second command uses the build of the first one.

use super::root;
use std::collections::BTreeSet;
use std::process::Command;

/// Packages with their features, as `cargo tree` prints them for these arguments.
fn packages(arguments: &[&str]) -> BTreeSet<String> {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p} [{f}]"])
        .args(arguments);
    let output = tree.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn tests_add_no_feature_to_the_dependencies_of_the_program() {
    let program = packages(&["--package", "furlong", "--edges", "normal,build"]);
    let tested = packages(&["--workspace", "--edges", "normal,build,dev"]);
    let differ: Vec<_> = program.difference(&tested).collect();
    assert!(
        program.len() > 50 && differ.is_empty(),
        "dev-dependencies switch on features, so tests compile these again: {differ:#?}"
    );
}
