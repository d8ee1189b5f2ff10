//! The kernel of the guest: Debian's own for clouds, unpacked and never installed, and the headers of the
//! same build.

use crate::folders::{Folders, empty_folder, files_in};
use crate::{packages, step, vmlinux};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that always depends on the newest kernel for clouds, which is small and has all that the
/// driver needs.
const NEWEST: &str = "linux-image-cloud-amd64";

/// A kernel to build for and to boot.
pub struct Kernel {
    /// Release as `uname -r` prints it.
    pub version: String,
    /// Headers that modules for this kernel are built against.
    pub headers: PathBuf,
    /// Image that QEMU boots.
    pub image: PathBuf,
}

/// Returns the version and the headers of the newest kernel, which are installed if missing. This suffices to build a
/// module.
pub fn headers() -> anyhow::Result<(String, PathBuf)> {
    let version = newest()?;
    let package = format!("linux-headers-{version}");
    packages::provide(&[packages::TOOLS.as_slice(), &[&package]].concat())?;
    let headers = PathBuf::from(format!("/usr/src/{package}"));
    if !headers.join("Makefile").is_file() {
        bail!("the package {package} is installed, but {} is not there: install it again", headers.display());
    }
    Ok((version, headers))
}

/// Returns the newest kernel, which is downloaded once and kept.
pub fn provide(folders: &Folders) -> anyhow::Result<Kernel> {
    let (version, headers) = headers()?;
    let folder = folders.cache.join("kernel").join(&version);
    let image = folder.join("image");
    if !image.is_file() {
        step::timed(&format!("fetching the kernel {version}"), || {
            empty_folder(&folder)?;
            fetch(&version, &folder)?;
            unpack(&version, &folder, &image)
        })?;
    }
    Ok(Kernel { version, headers, image })
}

/// Returns the version of the newest cloud kernel that apt knows.
fn newest() -> anyhow::Result<String> {
    if std::env::consts::ARCH != "x86_64" {
        bail!("the guest is an x86-64 machine, and this one is {}", std::env::consts::ARCH);
    }
    if let Some(version) = known()? {
        return Ok(version);
    }
    if !packages::is_root()? {
        bail!("apt knows no {NEWEST}: let root run apt-get update");
    }
    packages::update()?;
    known()?.with_context(|| format!("apt knows no {NEWEST}: its sources must name Debian's main archive"))
}

fn known() -> anyhow::Result<Option<String>> {
    let output = Command::new("apt-cache")
        .args(["depends", NEWEST])
        .output()
        .context("cannot start apt-cache: the harness of the driver needs Debian")?;
    Ok(version_in(&String::from_utf8_lossy(&output.stdout)))
}

/// Parses the version from the output of `apt-cache depends` for the package that depends on the newest kernel.
fn version_in(depends: &str) -> Option<String> {
    let names = depends.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    names
        .filter_map(|name| name.strip_prefix("linux-image-"))
        .find(|version| version.starts_with(|first: char| first.is_ascii_digit()))
        .map(str::to_owned)
}

/// Fetches the package of the kernel. If that fails, root updates the package lists and the download is retried.
fn fetch(version: &str, folder: &Path) -> anyhow::Result<()> {
    let package = format!("linux-image-{version}");
    // By default, apt downloads as an unprivileged user, which cannot write here.
    let download = || {
        let arguments = ["-o", "APT::Sandbox::User=root", "-qq", "download", &package];
        step::output(packages::apt(&arguments).current_dir(folder))
    };
    if download().is_ok() {
        return Ok(());
    }
    if packages::is_root()? {
        packages::update()?;
    }
    download().map(drop).with_context(|| format!("cannot fetch the package {package}"))
}

/// Unpacks the kernel of the only package in `folder` to `image`, decompressed if possible.
fn unpack(version: &str, folder: &Path, image: &Path) -> anyhow::Result<()> {
    let packages = files_in(folder)?;
    let package = packages.iter().find(|file| file.extension().is_some_and(|extension| extension == "deb"));
    let package = package.with_context(|| format!("apt-get left no package in {}", folder.display()))?;
    let tree = folder.join("tree");
    step::output(Command::new("dpkg-deb").arg("-x").arg(package).arg(&tree))?;
    let compressed = tree.join("boot").join(format!("vmlinuz-{version}"));
    let bytes = std::fs::read(&compressed)
        .with_context(|| format!("the package has no kernel at {}", compressed.display()))?;
    let kernel = vmlinux::inside(&bytes).unwrap_or_else(|error| {
        eprintln!("xtask: the kernel boots compressed, which takes longer: {error:#}");
        bytes
    });
    // Under its own name only when it is whole.
    let partly = folder.join("image.part");
    std::fs::write(&partly, kernel)
        .and_then(|()| std::fs::rename(&partly, image))
        .context("no kernel kept")?;
    for rest in [tree, package.clone()] {
        let removed =
            if rest.is_dir() { std::fs::remove_dir_all(&rest) } else { std::fs::remove_file(&rest) };
        removed.with_context(|| format!("cannot remove {}", rest.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::version_in;

    #[test]
    fn the_version_is_in_the_name_of_what_is_depended_on() {
        let depends = "linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-56-cloud-amd64\n";
        assert_eq!(version_in(depends).as_deref(), Some("6.1.0-56-cloud-amd64"));
        let newer = "linux-image-cloud-amd64\n  PreDepends: dpkg\n  Depends: linux-base\n  \
                     Depends: linux-image-6.12.95+deb13-cloud-amd64\n  Recommends: linux-image-7.0\n";
        assert_eq!(version_in(newer).as_deref(), Some("6.12.95+deb13-cloud-amd64"));
    }

    #[test]
    fn without_one_there_is_none() {
        assert_eq!(version_in(""), None);
        assert_eq!(version_in("linux-image-cloud-amd64\n  Depends: linux-image-cloud-amd64\n"), None);
        assert_eq!(version_in("N: Unable to locate package linux-image-cloud-amd64\n"), None);
    }
}
