//! The kernel's own source, which Debian has in one package of 140 MB: for its rules of style, and for a kernel that
//! Debian does not build.

use crate::folders::{empty_folder, files_in};
use crate::{packages, step};
use anyhow::Context;
use std::path::Path;
use std::process::Command;

/// Returns the first two numbers of a version, which Debian uses in the name of the source package.
///
/// # Errors
/// Returns an error if the version does not begin with two numbers.
pub fn series(kernel: &str) -> anyhow::Result<String> {
    let mut numbers = kernel.split(['.', '-', '+']);
    let plain = |number: &str| number.parse::<u32>().is_ok().then(|| number.to_owned());
    let mut next = || numbers.next().and_then(plain);
    let both = next().zip(next());
    let (first, second) = both.with_context(|| format!("the kernel {kernel} belongs to no series"))?;
    Ok(format!("{first}.{second}"))
}

/// Fetches the kernel source of a series into an empty `folder`. Unpacks the files named `only`, or all files, below
/// the subdirectory whose name is returned.
pub fn fetch(series: &str, folder: &Path, only: &[&str]) -> anyhow::Result<String> {
    let package = format!("linux-source-{series}");
    empty_folder(folder)?;
    let arguments = ["-o", "APT::Sandbox::User=root", "-qq", "download", &package];
    step::output(packages::apt(&arguments).current_dir(folder))?;
    let fetched = files_in(folder)?;
    let fetched = fetched.first().context("apt-get left no package")?;
    step::output(Command::new("dpkg-deb").arg("-x").arg(fetched).arg(folder))?;
    let archive = folder.join(format!("usr/src/{package}.tar.xz"));
    let wanted = only.iter().map(|file| format!("{package}/{file}"));
    step::output(Command::new("tar").arg("-C").arg(folder).arg("-xJf").arg(&archive).args(wanted))?;
    // These 280 MB are not needed any more.
    std::fs::remove_dir_all(folder.join("usr"))
        .and_then(|()| std::fs::remove_file(fetched))
        .with_context(|| format!("cannot remove the archive of {package} in {}", folder.display()))?;
    Ok(package)
}

#[cfg(test)]
mod tests {
    use super::series;

    #[test]
    fn a_series_is_two_numbers() {
        assert_eq!(series("6.1.0-56-cloud-amd64").unwrap(), "6.1");
        assert_eq!(series("6.12.95+deb13-cloud-amd64").unwrap(), "6.12");
        assert!(series("cloud-amd64").is_err());
        assert!(series("6").is_err());
    }
}
