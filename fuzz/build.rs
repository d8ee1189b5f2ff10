//! Sets the version that `crates/cli` prints. No fuzz target shows it.

fn main() {
    println!("cargo::rustc-env=FURLONG_VERSION=0.1.0");
    println!("cargo::rerun-if-changed=build.rs");
}
