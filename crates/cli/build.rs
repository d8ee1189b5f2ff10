//! Gives the program its version: the package's, and behind a plus the commit that it is built from.

use std::process::Command;

fn main() {
    let mut version = env!("CARGO_PKG_VERSION").to_owned();
    // Unpacked in a repository of somebody else's, there is no commit to name.
    if git(&["ls-files", "--error-unmatch", "build.rs"]).is_some() {
        if let Some(commit) =
            git(&["describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=.modified"])
        {
            version = format!("{version}+{commit}");
        }
        if let Some(commits) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
            println!("cargo::rerun-if-changed={commits}");
        }
        println!("cargo::rerun-if-changed=..");
        println!("cargo::rerun-if-changed=../../driver");
    }
    println!("cargo::rustc-env=FURLONG_VERSION={version}");
}

/// What git prints, where it is installed and ends well.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("--no-optional-locks").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}
