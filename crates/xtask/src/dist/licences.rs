//! The licences of all that is linked into the program, with their texts.

use super::platform::{FEATURES, Platform};
use crate::driver::step;
use crate::tool;
use anyhow::{Context, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Licence files, which each artefact contains.
pub const FILES: [&str; 4] = ["LICENSE-MIT", "LICENSE-APACHE", THIRD_PARTY, STANDARD_LIBRARY];
/// Licences of crates and of the C libraries.
const THIRD_PARTY: &str = "THIRD-PARTY-LICENCES";
/// Licences of the standard library, from the Rust project.
const STANDARD_LIBRARY: &str = "RUST-STANDARD-LIBRARY.html";
/// C libraries that the compiler links. Debian's copyright file refers to a separate file for each of these licences.
const ARCHIVES: [(&str, &str); 2] = [("libc.a", "LGPL-2.1"), ("libgcc_eh.a", "GPL-3")];

/// Writes all licence files into a directory; `crates` are the licences of crates, as [`crate_licences`] returns them.
pub fn gather(platform: Platform, crates: &str, folder: &Path) -> anyhow::Result<()> {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(crate::root().join(name), folder.join(name))
            .with_context(|| format!("cannot copy {name}"))?;
    }
    let rust = step::text(Command::new("rustc").args(["--print", "sysroot"]).current_dir(crate::root()))?;
    let rust = Path::new(&rust).join("share/doc/rust/COPYRIGHT-library.html");
    fs::copy(&rust, folder.join(STANDARD_LIBRARY))
        .with_context(|| format!("cannot copy {}", rust.display()))?;
    let archives = ARCHIVES.map(|(archive, licence)| archive_licence(platform, archive, licence));
    let archives = archives.into_iter().collect::<anyhow::Result<String>>()?;
    fs::write(folder.join(THIRD_PARTY), [crates, &archives].concat())?;
    Ok(())
}

/// Checks that the licence files in a directory name each crate that cargo links into the program.
pub fn check(platform: Platform, folder: &Path) -> anyhow::Result<()> {
    let mut tree = Command::new("cargo");
    tree.args(["tree", "--locked", "--package", "furlong", "--target", platform.triple]);
    tree.args(FEATURES).args(["--edges", "normal", "--prefix", "none", "--no-dedupe", "--format", "{p}"]);
    let tree = step::text(tree.current_dir(crate::root()))?;
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let said = read(THIRD_PARTY)?;
    // Cargo prints a directory after a crate of this repository.
    for line in tree.lines().filter(|line| !line.contains(" (/")) {
        let mut words = line.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let entry = format!("\n{name} {}: ", version.trim_start_matches('v'));
        if !said.contains(&entry) {
            bail!("{} does not name {name} {version}", folder.join(THIRD_PARTY).display());
        }
    }
    for (name, words) in [
        (THIRD_PARTY, "GNU LESSER GENERAL PUBLIC LICENSE"),
        (STANDARD_LIBRARY, "The Rust Standard Library is dual-licensed"),
        ("LICENSE-MIT", "Permission is hereby granted"),
        ("LICENSE-APACHE", "Apache License"),
    ] {
        if !read(name)?.contains(words) {
            bail!("{} has no licence in it", folder.join(name).display());
        }
    }
    Ok(())
}

/// Returns the licences of all crates from `cargo about`, which takes a while. Every platform links the same crates.
pub fn crate_licences() -> anyhow::Result<String> {
    let mut about = tool::ABOUT.command()?;
    let here = Path::new("crates/xtask/src/dist");
    about.args(["generate", "--frozen", "--fail", "--manifest-path", "crates/cli/Cargo.toml"]);
    about.args(FEATURES).arg("--config").arg(here.join("about.toml")).arg(here.join("about.hbs"));
    Ok(String::from_utf8(step::output(&mut about)?.stdout)?)
}

/// Returns Debian's copyright text of the package that contains a library.
fn archive_licence(platform: Platform, archive: &str, licence: &str) -> anyhow::Result<String> {
    let path = step::text(Command::new(platform.compiler).arg(format!("-print-file-name={archive}")))?;
    let path = fs::canonicalize(&path).with_context(|| format!("{} has no {archive}", platform.compiler))?;
    let owner = step::text(Command::new("dpkg-query").arg("--search").arg(path))?;
    let package = owner.split(':').next().unwrap_or_default();
    let version =
        step::text(Command::new("dpkg-query").args(["--show", "--showformat=${Version}", package]))?;
    let read = |path: String| fs::read_to_string(&path).with_context(|| format!("cannot read {path}"));
    Ok(format!(
        "\n{:=<80}\n{archive} of Debian's {package} {version}\n\n{}\n\n{:=<80}\n{licence}\n\n{}",
        "",
        read(format!("/usr/share/doc/{package}/copyright"))?.trim_end(),
        "",
        read(format!("/usr/share/common-licenses/{licence}"))?
    ))
}
