//! Packages for Debian and its kin: the command, and the driver's source for DKMS.

use super::Release;
use super::files::{Files, readable};
use crate::driver::step;
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package: its fields, and scripts that its installation runs, by their names.
struct Package<'a> {
    name: &'a str,
    architecture: &'a str,
    fields: &'a str,
    scripts: &'a [(&'a str, String)],
}

/// Makes the package of the command. It depends on nothing, since the program needs no library.
pub fn command(release: &Release, files: &Files) -> anyhow::Result<PathBuf> {
    let fields = "Section: utils\n\
         Suggests: furlong-dkms\n\
         Description: benchmark of the IPC mechanisms of a machine\n \
         Pipes, sockets, queues, shared memory, signals and more, in one loop with every payload\n \
         verified: a ranking with confidence intervals, an analysis of the time, and a recommendation.\n";
    let architecture = files.platform.debian;
    Package { name: "furlong", architecture, fields, scripts: &[] }.make(release, &files.root)
}

/// Makes the package of the driver: DKMS compiles it for each kernel that is installed with its headers.
pub fn driver(release: &Release, files: &Files) -> anyhow::Result<PathBuf> {
    let version = release.version;
    let root = release.folder.join("driver-files");
    let source = root.join(format!("usr/src/furlong-{version}"));
    let mut furlong = Command::new(files.program());
    step::output(furlong.args(["driver", "build", "--source-only", "--into"]).arg(&source))?;
    let configuration =
        fs::read_to_string(source.join("dkms.conf")).context("the driver has no dkms.conf")?;
    ensure!(
        configuration.contains(&format!("PACKAGE_VERSION=\"{version}\"\n")),
        "dkms.conf is of another version than {version}"
    );
    let put = |from: &str, to: &str| -> anyhow::Result<()> {
        let to = root.join(to);
        fs::create_dir_all(to.parent().context("no directory")?)?;
        fs::copy(source.join(from), &to).with_context(|| format!("cannot copy {from}"))?;
        Ok(())
    };
    put("udev/60-furlong.rules", "usr/lib/udev/rules.d/60-furlong.rules")?;
    put("COPYING", "usr/share/doc/furlong-dkms/copyright")?;
    let fields = "Section: kernel\n\
         Depends: dkms\n\
         Enhances: furlong\n\
         Description: kernel module with message and shared memory devices, for furlong\n \
         The source, which DKMS compiles for each kernel. It is measured as the benchmarks driver-message and\n \
         driver-shm; users of the group furlong may open its devices.\n";
    let scripts = [
        (
            "postinst",
            format!(
                "#!/bin/sh\nset -e\nif [ \"$1\" = configure ]; then\n    \
                 getent group furlong > /dev/null || groupadd --system furlong\n    \
                 /usr/lib/dkms/common.postinst furlong {version} \"\" \"\" \"$2\"\nfi\n"
            ),
        ),
        (
            "prerm",
            format!(
                "#!/bin/sh\nset -e\nif [ -n \"$(dkms status -m furlong -v {version})\" ]; then\n    \
                 dkms remove -m furlong -v {version} --all\nfi\n"
            ),
        ),
    ];
    readable(&root)?;
    let package = Package { name: "furlong-dkms", architecture: "all", fields, scripts: &scripts };
    let made = package.make(release, &root)?;
    fs::remove_dir_all(root)?;
    Ok(made)
}

impl Package<'_> {
    /// Makes a package of the files in `root`.
    fn make(&self, release: &Release, root: &Path) -> anyhow::Result<PathBuf> {
        let Package { name, architecture, fields, scripts } = self;
        let version = release.version;
        let path = release.folder.join(format!("{name}_{version}_{architecture}.deb"));
        let control = root.join("DEBIAN");
        fs::create_dir(&control).context("cannot make DEBIAN")?;
        let text = format!(
            "Package: {name}\n\
             Version: {version}\n\
             Architecture: {architecture}\n\
             Priority: optional\n\
             Maintainer: The furlong authors <furlong@localhost>\n\
             {fields}"
        );
        fs::write(control.join("control"), text)?;
        for (name, text) in *scripts {
            let script = control.join(name);
            fs::write(&script, text)?;
            step::output(Command::new("chmod").arg("0755").arg(&script))?;
        }
        // Equal files give equal bytes: sorted names, and one time for all.
        step::output(
            Command::new("dpkg-deb")
                .args(["--root-owner-group", "-Zxz", "--build"])
                .arg(root)
                .arg(&path)
                .env("SOURCE_DATE_EPOCH", &release.time),
        )?;
        fs::remove_dir_all(control)?;
        Ok(path)
    }
}
