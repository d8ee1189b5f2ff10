//! The guest's file system: busybox, the module, and the programs that run there.

use crate::archive::Archive;
use crate::folders::{Folders, files_in};
use crate::programs::{Furlong, content};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};

/// Path of Debian's static busybox.
const BUSYBOX: &str = "/bin/busybox";

/// The module's own suite, which loads and unloads it before any other runs.
const MODULE_SUITE: &str = "module.sh";

/// Folders that are mounted on, or written to.
const FOLDERS: [&str; 9] = ["bin", "dev", "etc", "proc", "root", "sys", "t", "tmp", "run"];

/// Experiments in `driver/tests` that measure the speed of the driver.
const EXPERIMENTS: [&str; 2] = ["messages.toml", "spin.toml"];

/// Contents of the guest's file system.
pub struct Contents<'a> {
    /// Path of furlong.ko.
    pub module: &'a Path,
    /// Directory with the tests.
    pub tests: &'a Path,
    /// Program that shuts the guest down.
    pub guest_exit: &'a Path,
    /// furlong, if the guest measures.
    pub furlong: Option<&'a Furlong>,
}

/// Writes the archive that the kernel unpacks, and returns its path.
pub fn write(folders: &Folders, contents: &Contents) -> anyhow::Result<PathBuf> {
    let mut archive = Archive::default();
    for folder in FOLDERS {
        archive.folder(folder);
    }
    // The kernel opens /dev/console for the first process before anything is mounted.
    archive.character_device("dev/console", 5, 1);
    archive.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n");
    archive.file("etc/group", b"root:x:0:\nnogroup:x:65534:\n");
    archive.program("bin/busybox", &content(Path::new(BUSYBOX))?);
    archive.link("bin/sh", "busybox");
    archive.program("init", &content(&folders.tests.join("init.sh"))?);
    archive.file("t/furlong.ko", &content(contents.module)?);
    archive.program("t/guest-exit", &content(contents.guest_exit)?);
    if let Some(furlong) = contents.furlong {
        archive.program("t/furlong", &content(&furlong.command)?);
        archive.program("t/conformance", &content(&furlong.conformance)?);
        for library in &furlong.libraries {
            // The archive's names begin at its root.
            let path = library.strip_prefix("/").unwrap_or(library);
            archive.folders_of(path);
            archive.program(&path.to_string_lossy(), &content(library)?);
        }
    }
    for experiment in EXPERIMENTS {
        archive.file(&format!("t/{experiment}"), &content(&folders.tests.join(experiment))?);
    }
    for file in files_in(contents.tests)? {
        archive.program(&format!("t/{}", name(&file)), &content(&file)?);
    }
    let file = folders.cache.join("initramfs");
    std::fs::write(&file, archive.finish()).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// Returns the suites in their order: the lines of the file `suites` among the tests. Other files are used by suites.
pub fn suites(tests: &Path) -> anyhow::Result<Vec<String>> {
    let list = tests.join("suites");
    let text = std::fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let there: Vec<_> = files_in(tests)?.iter().map(|file| name(file)).collect();
    in_order(&text, &there).context("in driver/tests/suites")
}

fn in_order(list: &str, there: &[String]) -> anyhow::Result<Vec<String>> {
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let suites: Vec<_> = lines.map(str::to_owned).collect();
    for (index, suite) in suites.iter().enumerate() {
        if !there.contains(suite) {
            bail!("{suite} is named, but driver/tests/Makefile builds no such program or script");
        }
        if suites[..index].contains(suite) {
            bail!("{suite} is named twice");
        }
    }
    if suites.first().is_none_or(|first| first != MODULE_SUITE) {
        bail!("{MODULE_SUITE} has to come first, because it needs the module not to be loaded");
    }
    Ok(suites)
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::in_order;

    fn message(list: &str) -> String {
        let there = ["message", "module.sh", "tap.sh"].map(str::to_owned);
        in_order(list, &there).map_or_else(|error| error.to_string(), |suites| suites.join(" "))
    }

    #[test]
    fn the_list_names_suites_that_are_there() {
        assert_eq!(message("# first\nmodule.sh\n\n message \n"), "module.sh message");
        assert!(message("module.sh\nmessage\nshm\n").starts_with("shm is named, but "));
        assert_eq!(message("module.sh\nmessage\nmessage\n"), "message is named twice");
        assert!(message("message\nmodule.sh\n").starts_with("module.sh has to come first"));
        assert!(message("# none\n").starts_with("module.sh has to come first"));
    }
}
