//! Gives the library the version that `crates/cli` prints, which no fuzz target shows.

fn main() {
    println!("cargo::rustc-env=FURLONG_VERSION=0.1.0");
    println!("cargo::rerun-if-changed=build.rs");
}
