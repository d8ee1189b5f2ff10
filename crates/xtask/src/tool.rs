//! Programs from crates.io that xtask calls: each in one version, built once, in `target/tools`.

use crate::driver::step;
use std::process::Command;

/// A program, with the arguments of its `cargo install`.
pub struct Tool {
    name: &'static str,
    version: &'static str,
    features: &'static [&'static str],
}

/// Gathers the licences of dependencies.
pub const ABOUT: Tool = Tool { name: "cargo-about", version: "0.9.3", features: &["--features", "cli"] };
/// Rejects dependencies because of their licence, their source, or a duplicate version.
pub const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2", features: &[] };
/// Makes a book of Markdown; without the server that shows it while it is written.
pub const BOOK: Tool =
    Tool { name: "mdbook", version: "0.5.4", features: &["--no-default-features", "--features", "search"] };

/// Crates that are optimised even in a debug build. Without that, comparing licences takes five minutes instead of
/// one.
const OPTIMISED: [&str; 7] =
    ["spdx", "regex-automata", "aho-corasick", "memchr", "twox-hash", "rayon-core", "cargo-about"];

impl Tool {
    /// Returns a command for the program. If this version is missing, it is built first, as a debug build because it
    /// runs rarely. The data about dependencies that it reads is local then, so it needs no other network access.
    pub fn command(&self) -> anyhow::Result<Command> {
        let folder = crate::target::target()?.join("tools");
        let mut install = Command::new("cargo");
        install.args(["install", "--debug", "--locked", "--quiet", self.name, "--version", self.version]);
        install.args(self.features).arg("--root").arg(&folder);
        for name in OPTIMISED {
            install.arg("--config").arg(format!("profile.dev.package.{name}.opt-level=3"));
        }
        install.env("CARGO_TARGET_DIR", folder.join("build")).env("CARGO_PROFILE_DEV_DEBUG", "0");
        step::timed(&format!("having {} {}", self.name, self.version), || step::output(&mut install))?;
        step::output(Command::new("cargo").args(["fetch", "--locked"]).current_dir(crate::root()))?;
        let mut program = Command::new(folder.join("bin").join(self.name));
        program.current_dir(crate::root());
        Ok(program)
    }
}
