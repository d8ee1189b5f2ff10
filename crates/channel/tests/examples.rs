//! The example that README gives is the program in `examples`, and it works between two processes.

use std::fs;
use std::path::Path;

#[test]
fn the_example_of_the_readme_is_the_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = fs::read_to_string(folder.join("examples/talk.rs")).unwrap();
    let (_, code) = program.split_once("\n\n").unwrap();
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains(&format!("```rust,no_run\n{code}```")), "README has another program");
}
