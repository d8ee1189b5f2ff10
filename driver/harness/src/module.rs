//! The module, built against the headers of the kernel that it is loaded into, and every complaint about it
//! an error.

use crate::folders::{Folders, empty_folder, files_in};
use crate::step;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A warning that does not concern the driver: another compiler of the same major version is harmless.
const HARMLESS: &str = "warning: the compiler differs from the one used to build the kernel";

/// Builds the module with all warnings, checked by sparse, in the cache directory `name`. Returns its path.
///
/// # Errors
/// Returns an error if the build fails or prints a warning.
pub fn build(folders: &Folders, headers: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folder = folders.cache.join(name);
    step::timed(&format!("building the module against {}", headers.display()), || {
        // Every build starts from scratch, which takes seconds, because a file that is not recompiled reports no
        // warnings. It uses a copy, because the kernel's build writes its output next to the sources.
        empty_folder(&folder)?;
        copy(&folders.driver, &folder)?;
        let built = step::output(
            Command::new("make")
                .arg("-C")
                .arg(&folder)
                .arg(format!("KDIR={}", headers.display()))
                .arg("check"),
        )?;
        let said = [built.stdout, built.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let complaints = complaints(&said);
        if !complaints.is_empty() {
            bail!("the module builds, but not without a warning:\n{}", complaints.join("\n"));
        }
        Ok(())
    })?;
    let module = folder.join("furlong.ko");
    if !module.is_file() {
        bail!("the build succeeded but did not create {}", module.display());
    }
    Ok(module)
}

/// Returns the warnings of the compiler, sparse and modpost.
fn complaints(said: &str) -> Vec<&str> {
    let complains = |line: &&str| {
        let small = line.to_ascii_lowercase();
        (small.contains("warning:") || small.contains("error:")) && !line.contains(HARMLESS)
    };
    said.lines().filter(complains).collect()
}

/// Copies what the module is built from: all but the tests.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    for file in sources(from)? {
        let copy = to.join(file.strip_prefix(from).unwrap_or(&file));
        let folder = copy.parent().unwrap_or(to);
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        std::fs::copy(&file, &copy).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(())
}

/// Returns the files of the driver, without its tests and without files of a manual build.
pub fn sources(driver: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files: Vec<_> = files_in(driver)?.into_iter().filter(|file| is_source(file)).collect();
    files.extend(files_in(&driver.join("include/uapi/linux"))?.into_iter().filter(|file| is_source(file)));
    Ok(files)
}

fn is_source(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let code = name.ends_with(".h") || name.ends_with(".c") && !name.ends_with(".mod.c");
    code || name == "Kbuild" || name == "Makefile"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_complaint_is_found() {
        let said = "  CC [M]  /d/main.o\n\
                    /d/main.c:3:5: warning: unused variable 'x' [-Wunused-variable]\n\
                    warning: the compiler differs from the one used to build the kernel\n  \
                    The kernel was built by: gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0\n\
                    /d/main.c:9:1: error: incompatible types in argument 1\n\
                    WARNING: modpost: missing MODULE_LICENSE() in /d/furlong.o\n";
        let found = complaints(said);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("unused") && found[1].contains("types") && found[2].contains("LICENSE"));
    }

    #[test]
    fn what_a_build_left_is_no_source() {
        for source in ["main.c", "trace.h", "Kbuild", "Makefile"] {
            assert!(is_source(Path::new(source)), "{source}");
        }
        for left in ["furlong.mod.c", "main.o", "furlong.ko", ".main.o.cmd", "Module.symvers", "dkms.conf"] {
            assert!(!is_source(Path::new(left)), "{left}");
        }
    }
}
