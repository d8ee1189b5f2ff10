//! Sets the version of the program: the version of the package, then a plus and the commit.

use std::process::Command;

fn main() {
    let mut version = env!("CARGO_PKG_VERSION").to_owned();
    // If the source is unpacked in an unrelated repository, there is no commit to name.
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

/// Returns the output of a git command; `None` if git is not installed or the command fails.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("--no-optional-locks").args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}
