//! The files that a package puts into a system, as they lie there.

use super::licences;
use super::platform::Platform;
use crate::driver::step;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Release files, below a directory that represents the root of a system.
pub struct Files {
    pub platform: Platform,
    pub root: PathBuf,
}

/// Directory of the documents below the root.
pub const DOCUMENTS: &str = "usr/share/doc/furlong";

impl Files {
    /// Returns the path of the program.
    pub fn program(&self) -> PathBuf {
        self.root.join("usr/bin/furlong")
    }

    /// Gathers the program with its manual, shell completions and licences. The manual and completions come from
    /// `runs_here`, a program that runs on this machine. `crates` are the licences of the crates linked on all
    /// platforms.
    pub fn of(
        platform: Platform,
        program: &Path,
        runs_here: &Path,
        crates: &str,
        root: &Path,
    ) -> anyhow::Result<Files> {
        let files = Files { platform, root: root.to_owned() };
        let folder = |name: &str| -> anyhow::Result<PathBuf> {
            let folder = root.join(name);
            fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            Ok(folder)
        };
        let installed = folder("usr/bin")?.join("furlong");
        fs::copy(program, &installed).with_context(|| format!("cannot copy {}", program.display()))?;
        let manual = folder("usr/share/man/man1")?;
        step::output(Command::new(runs_here).args(["man", "--all", "--output"]).arg(&manual))?;
        for page in fs::read_dir(&manual)? {
            step::output(Command::new("gzip").args(["--no-name", "-9"]).arg(page?.path()))?;
        }
        let completions = [
            ("bash", "usr/share/bash-completion/completions", "furlong"),
            ("zsh", "usr/share/zsh/vendor-completions", "_furlong"),
            ("fish", "usr/share/fish/vendor_completions.d", "furlong.fish"),
        ];
        for (shell, place, name) in completions {
            let script = step::output(Command::new(runs_here).args(["completions", shell]))?.stdout;
            fs::write(folder(place)?.join(name), script)?;
        }
        let documents = folder(DOCUMENTS)?;
        for name in ["README.md", "CHANGELOG.md"] {
            fs::copy(crate::root().join(name), documents.join(name))
                .with_context(|| format!("cannot copy {name}"))?;
        }
        licences::gather(platform, crates, &documents)?;
        // Debian requires one file of this name that contains the licence or its location.
        let mit = fs::read_to_string(documents.join("LICENSE-MIT"))?;
        fs::write(documents.join("copyright"), [include_str!("copyright"), &mit].concat())?;
        readable(root)?;
        Ok(files)
    }
}

/// Lets all users read the files below a directory and run its programs, whatever the umask of this process.
pub fn readable(root: &Path) -> anyhow::Result<()> {
    step::output(Command::new("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(root)).map(drop)
}
