//! `furlong driver build`: writes the source into a directory and compiles the module.

use crate::options::DriverBuildOptions;
use crate::system_files::{SystemFiles, are_headers};
use crate::{program, source};
use anyhow::Context;
use furlong_console::exit::{CannotHere, Outcome, Usage};
use furlong_console::output;
use std::fs;
use std::path::{Path, PathBuf};

/// Tools that build a module. On Debian, packages of the same names provide them.
const TOOLS: [&str; 2] = ["make", "gcc"];

/// Builds the module and prints its path.
pub fn build(files: &SystemFiles, options: &DriverBuildOptions) -> anyhow::Result<Outcome> {
    let folder = match (&options.into, &files.build_folder) {
        (Some(folder), _) => folder.clone(),
        (None, Some(folder)) => folder.clone(),
        (None, None) => {
            let why = "no directory to build in: specify one with --into, or set XDG_DATA_HOME or HOME";
            return Err(Usage(why.to_owned()).into());
        }
    };
    let folder = std::path::absolute(&folder).with_context(|| format!("--into {}", folder.display()))?;
    if options.source_only {
        source::write_into(&folder)?;
        output::print(&format!("{}\n", folder.display()))?;
        return Ok(Outcome::Done);
    }
    let kernel = options.kernel.clone().unwrap_or_else(|| files.kernel());
    let headers = headers(files, &kernel, options.headers.as_deref())?;
    let module = make(&folder, &headers, options.verbose)?;
    output::print(&format!("{}\n", module.display()))?;
    Ok(Outcome::Done)
}

/// Returns the headers to build with: the named ones, or those of a kernel.
///
/// # Errors
/// Returns [`CannotHere`] with the missing programs and headers.
pub fn headers(files: &SystemFiles, kernel: &str, named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let found = match named {
        Some(folder) => Some(folder.to_owned()).filter(|folder| are_headers(folder)),
        None => files.headers(kernel),
    };
    let missing_tools = missing_tools();
    if let (Some(headers), true) = (&found, missing_tools.is_empty()) {
        return std::path::absolute(headers).with_context(|| format!("--headers {}", headers.display()));
    }
    let mut missing: Vec<_> = missing_tools.iter().map(|tool| format!("the program {tool}")).collect();
    let mut packages: Vec<_> = missing_tools.iter().map(|tool| (*tool).to_owned()).collect();
    match (found, named) {
        (Some(_), _) => {}
        (None, Some(folder)) => missing.push(format!("kernel headers in {} (no Makefile)", folder.display())),
        (None, None) => {
            let where_to = files.usual_headers(kernel);
            let where_to: Vec<_> = where_to.iter().map(|folder| folder.display().to_string()).collect();
            missing.push(format!("the headers of Linux {kernel} ({})", where_to.join(" or ")));
            packages.push(headers_package(kernel));
        }
    }
    let remedy = match packages.is_empty() {
        true => "specify the directory that contains the Makefile of the headers".to_owned(),
        false => remedy_by_packages(&packages),
    };
    Err(CannotHere::new(format!("the driver cannot be built: missing {}", missing.join(", ")), remedy).into())
}

/// Returns the missing programs that a build needs.
pub fn missing_tools() -> Vec<&'static str> {
    TOOLS.into_iter().filter(|tool| program::find(tool).is_none()).collect()
}

/// Returns the name of Debian's package with the headers of a kernel.
pub fn headers_package(kernel: &str) -> String {
    format!("linux-headers-{kernel}")
}

/// Describes how to install these packages.
pub fn remedy_by_packages(packages: &[String]) -> String {
    format!(
        "on Debian: sudo apt install {}; on other distributions: the corresponding packages",
        packages.join(" ")
    )
}

/// Writes the source into a directory, compiles it, and returns the path of the module.
///
/// # Errors
/// Returns an error if the path has a space or a colon, or the output of make if compilation fails.
pub fn make(folder: &Path, headers: &Path, show: bool) -> anyhow::Result<PathBuf> {
    let unfit = |path: &&Path| path.to_string_lossy().contains(|c: char| c.is_whitespace() || c == ':');
    if let Some(path) = [folder, headers].iter().find(|path| unfit(path)) {
        let why = format!(
            "the kernel's makefiles do not support a directory whose path contains a space or a colon: {}",
            path.display()
        );
        return Err(Usage(format!("{why}; specify another with --into")).into());
    }
    source::write_into(folder)?;
    let module = folder.join("furlong.ko");
    let make = program::find("make").context("make is not installed")?;
    // `make clean`, because a module built for another kernel would be used for this one.
    let mut command = program::command(&make);
    command.arg("-C").arg(folder).arg(format!("KDIR={}", headers.display())).args(["clean", "modules"]);
    program::run(&mut command, show)
        .with_context(|| format!("cannot compile {} with {}", folder.display(), headers.display()))?;
    match module.is_file() {
        true => Ok(module),
        false => anyhow::bail!("make succeeded but did not create {}", module.display()),
    }
}

/// Returns the release of the kernel that a module was built for, which the kernel compares with its own.
pub fn built_for(module: &Path) -> Option<String> {
    const KEY: &[u8] = b"vermagic=";
    let bytes = fs::read(module).ok()?;
    let start = bytes.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    let words = bytes[start..].split(|byte| *byte == 0).next()?;
    String::from_utf8_lossy(words).split(' ').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_says_for_which_kernel_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let module = folder.path().join("furlong.ko");
        assert_eq!(built_for(&module), None);
        fs::write(&module, b"\x7fELF\0license=GPL\0vermagic=6.1.0-56-cloud-amd64 SMP preempt\0name=x\0")
            .unwrap();
        assert_eq!(built_for(&module).as_deref(), Some("6.1.0-56-cloud-amd64"));
        fs::write(&module, b"\x7fELF").unwrap();
        assert_eq!(built_for(&module), None);
    }

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        let folder = tempfile::tempdir().unwrap();
        let files = SystemFiles::below(folder.path());
        let error = headers(&files, "6.1.0-56-amd64", None).unwrap_err();
        let text = error.to_string();
        assert!(error.is::<CannotHere>(), "{text}");
        assert!(text.contains("the headers of Linux 6.1.0-56-amd64"), "{text}");
        assert!(text.contains("lib/modules/6.1.0-56-amd64/build"), "{text}");
        assert!(text.contains(" linux-headers-6.1.0-56-amd64"), "{text}");
        let text = headers(&files, "6.1", Some(folder.path())).unwrap_err().to_string();
        assert!(text.contains("(no Makefile)") && !text.contains("linux-headers"), "{text}");
    }

    #[test]
    fn folders_that_the_kernel_cannot_build_in_are_refused_before() {
        let folder = tempfile::tempdir().unwrap();
        let spaced = folder.path().join("with space");
        let text = make(&spaced, folder.path(), false).unwrap_err().to_string();
        assert!(text.contains("with space") && !spaced.exists(), "{text}");
    }
}
