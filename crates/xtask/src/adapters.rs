//! `cargo xtask adapters test`: the adapters that furlong brings are installed from its binary, and each is checked.

use crate::root;
use crate::target::target;
use anyhow::{Context, bail};
use furlong_adapter_files::{Manifest, sources};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Adapters that `.ci/run` checks: the libraries that the published experiments name, and a language.
pub const IN_CI: [&str; 4] = ["zeromq", "boost", "grpc", "python"];

/// Result of one adapter.
struct AdapterResult {
    name: String,
    what: &'static str,
    seconds: u64,
}

/// Installs and checks the adapters of these names, or all, and returns their number.
///
/// # Errors
/// Returns an error with the number of adapters that did not pass, after all were tried.
pub fn test(names: &[&str]) -> anyhow::Result<usize> {
    let known = sources::manifests();
    if let Some(name) = names.iter().find(|name| !known.iter().any(|manifest| manifest.name == **name)) {
        bail!("no adapter is called {name}");
    }
    let chosen = |manifest: &&Manifest| names.is_empty() || names.contains(&manifest.name.as_str());
    let manifests: Vec<&Manifest> = known.iter().filter(chosen).collect();
    install_packages(&manifests)?;
    let (furlong, data) = (build()?, target()?.join("adapters-test"));
    let mut all = Vec::new();
    for manifest in manifests {
        let begin = Instant::now();
        let run = |part: &str| {
            println!("xtask: furlong adapter {part} {}", manifest.name);
            let mut command = Command::new(&furlong);
            command.args(["adapter", part, &manifest.name]).env("XDG_DATA_HOME", &data);
            command.status().with_context(|| format!("start {}", furlong.display()))
        };
        let what = if !run("install")?.success() {
            "not installed"
        } else if !run("check")?.success() {
            "FAILED"
        } else {
            "passed"
        };
        all.push(AdapterResult { name: manifest.name.clone(), what, seconds: begin.elapsed().as_secs() });
    }
    println!("\nxtask: adapters");
    for AdapterResult { name, what, seconds } in &all {
        println!("{name:<12} {what:<14} {seconds:>4} s");
    }
    match all.iter().filter(|tested| tested.what != "passed").count() {
        0 => Ok(all.len()),
        failed => bail!("{failed} of {} adapters did not pass", all.len()),
    }
}

/// Installs the Debian packages that the manifests name, if this runs as root and they are missing.
fn install_packages(manifests: &[&Manifest]) -> anyhow::Result<()> {
    let needs = manifests.iter().flat_map(|manifest| &manifest.needs);
    let lists = needs.filter_map(|need| need.get.strip_prefix("apt install "));
    let mut packages: Vec<&str> = lists.flat_map(str::split_whitespace).collect();
    packages.sort_unstable();
    packages.dedup();
    packages.retain(|package| !is_installed(package));
    if packages.is_empty() {
        return Ok(());
    }
    println!("xtask: Debian packages that are missing: {}", packages.join(" "));
    if !furlong_os::identity::is_administrator() {
        println!("xtask: root would install them; adapters that need them are not installed");
        return Ok(());
    }
    for arguments in
        [vec!["update", "-qq"], [vec!["install", "-y", "-qq", "--no-install-recommends"], packages].concat()]
    {
        let status = Command::new("apt-get").args(&arguments).status().context("start apt-get")?;
        if !status.success() {
            bail!("apt-get {} ended with {status}", arguments.join(" "));
        }
    }
    Ok(())
}

/// Returns whether dpkg knows a package as installed. A command of the same name from another source also suffices.
fn is_installed(package: &str) -> bool {
    let known = Command::new("dpkg-query").args(["-W", "-f", "${Status}", package]).output();
    let by_dpkg = known.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("ok installed"));
    let commands = match package {
        "golang-go" => &["go"][..],
        "nodejs" => &["node"],
        "default-jdk" => &["java", "javac"],
        other => &[other],
    };
    by_dpkg
        || commands
            .iter()
            .all(|command| furlong_adapter_files::manifest::find_command(command, Path::new("/")).is_some())
}

/// Builds the tested furlong.
fn build() -> anyhow::Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "-p", "furlong"])
        .current_dir(root())
        .status()
        .context("start cargo")?;
    if !status.success() {
        bail!("furlong cannot be built");
    }
    Ok(target()?.join("release/furlong"))
}
