//! A package for Debian and its kin.

use super::Release;
use super::files::Files;
use crate::driver::step;
use anyhow::Context;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Makes the package. It depends on nothing, since the program needs no library.
pub fn debian(release: &Release, files: &Files) -> anyhow::Result<PathBuf> {
    let version = release.version;
    let path = release.folder.join(format!("furlong_{version}_amd64.deb"));
    let control = files.root.join("DEBIAN");
    fs::create_dir(&control).context("cannot make DEBIAN")?;
    let text = format!(
        "Package: furlong\n\
         Version: {version}\n\
         Architecture: amd64\n\
         Section: utils\n\
         Priority: optional\n\
         Maintainer: The furlong authors <furlong@localhost>\n\
         Suggests: dkms\n\
         Description: measures every way two processes on one machine can exchange data\n \
         Pipes, sockets, queues, shared memory, signals and more, in one loop with every payload\n \
         verified: a ranking with intervals, where the time goes, and which one to take.\n"
    );
    fs::write(control.join("control"), text)?;
    // The same bytes for the same files: names in order, and one time for all.
    step::output(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", "-Zxz", "--build"])
            .arg(&files.root)
            .arg(&path)
            .env("SOURCE_DATE_EPOCH", &release.time),
    )?;
    fs::remove_dir_all(control)?;
    Ok(path)
}
