//! Checks the kernel's style rules with its checkpatch.pl. Debian packages the script only in the kernel source, of
//! which three files are kept.

use crate::folders::{Folders, empty_folder, root};
use crate::{module, source, step};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// checkpatch.pl and what it reads.
const FILES: [&str; 3] = ["checkpatch.pl", "spelling.txt", "const_structs.checkpatch"];

/// Runs checkpatch.pl on the module and its header, in its strictest form. Errors and warnings must be zero. Its
/// checks are only printed, because the kernel's own headers of this kind fail some of them.
///
/// # Errors
/// Returns an error if the script reports errors or warnings, or if it cannot be downloaded.
pub fn run(folders: &Folders, kernel: &str) -> anyhow::Result<()> {
    let script = provide(folders, kernel)?;
    let sources = module::sources(&folders.driver)?;
    let sources = sources.iter().filter(|file| is_code(file));
    let output = Command::new("perl")
        .arg(&script)
        .args(["--no-tree", "-f", "--strict", "--terse"])
        // With paths, because checkpatch reports the bare name of a file inside that file as a mistake.
        .args(sources.map(|file| file.strip_prefix(root()).unwrap_or(file)))
        .current_dir(root())
        .output()
        .context("cannot start perl")?;
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    if !said.contains("lines checked") {
        bail!("checkpatch.pl did not run: {}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    match complaints(&said) {
        0 => println!("checkpatch.pl --strict finds no error and gives no warning."),
        count => bail!("checkpatch.pl has {count} errors and warnings"),
    }
    Ok(())
}

/// Counts the errors and warnings in the output of checkpatch.pl.
fn complaints(said: &str) -> usize {
    said.lines().filter(|line| line.contains(": ERROR: ") || line.contains(": WARNING: ")).count()
}

fn is_code(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "c" || extension == "h")
}

/// Returns the path of checkpatch.pl, which is downloaded once (140 MB).
fn provide(folders: &Folders, kernel: &str) -> anyhow::Result<PathBuf> {
    let series = source::series(kernel)?;
    let folder = folders.cache.join("checkpatch").join(&series);
    let script = folder.join(FILES[0]);
    if script.is_file() {
        return Ok(script);
    }
    step::timed("fetching the kernel's source for checkpatch.pl", || {
        let unpacked = folders.cache.join("checkpatch-source");
        let wanted = FILES.map(|file| format!("scripts/{file}"));
        let wanted = wanted.each_ref().map(String::as_str);
        let name = source::fetch(&series, &unpacked, &wanted)?;
        empty_folder(&folder)?;
        // The script is copied last, so that if it exists, all files are complete.
        for (file, kept) in wanted.iter().zip(FILES).rev() {
            std::fs::copy(unpacked.join(&name).join(file), folder.join(kept))
                .with_context(|| format!("{name} has no {file}"))?;
        }
        std::fs::remove_dir_all(&unpacked).context("cannot remove the unpacked files")
    })?;
    Ok(script)
}

#[cfg(test)]
mod tests {
    use super::complaints;

    #[test]
    fn errors_and_warnings_count_and_checks_do_not() {
        let said = "a.h:66: CHECK: Prefer using the BIT macro\na.c:3: ERROR: trailing whitespace\n\
                    a.c:9: WARNING: line length of 101 exceeds 100 columns\n\
                    total: 1 errors, 1 warnings, 1 checks, 9 lines checked\n";
        assert_eq!(complaints(said), 2);
        assert_eq!(complaints("total: 0 errors, 0 warnings, 0 checks, 9 lines checked\n"), 0);
    }
}
