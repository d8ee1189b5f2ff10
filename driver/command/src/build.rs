//! `furlong driver build`: the source in a folder, and the module made of it.

use crate::options::DriverBuildOptions;
use crate::system_files::{SystemFiles, are_headers};
use crate::{program, source};
use anyhow::Context;
use furlong_console::exit::{CannotHere, Outcome, Usage};
use furlong_console::output;
use std::fs;
use std::path::{Path, PathBuf};

/// What a module is built with, and the packages of Debian that bring it.
const TOOLS: [&str; 2] = ["make", "gcc"];

/// Builds the module, and prints where it is.
pub fn build(files: &SystemFiles, options: &DriverBuildOptions) -> anyhow::Result<Outcome> {
    let folder = match (&options.into, &files.build_folder) {
        (Some(folder), _) => folder.clone(),
        (None, Some(folder)) => folder.clone(),
        (None, None) => {
            let why = "no folder to build in: name one with --into, or set XDG_DATA_HOME or HOME";
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

/// The headers to build with: those that were named, or those of a kernel.
///
/// # Errors
/// [`CannotHere`] with all that is missing.
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
        true => "name the folder that has the headers' own Makefile".to_owned(),
        false => remedy_by_packages(&packages),
    };
    Err(CannotHere::new(format!("the driver cannot be built: missing {}", missing.join(", ")), remedy).into())
}

/// The programs that a build needs and that are not there.
pub fn missing_tools() -> Vec<&'static str> {
    TOOLS.into_iter().filter(|tool| program::find(tool).is_none()).collect()
}

/// Debian's package with the headers of a kernel.
pub fn headers_package(kernel: &str) -> String {
    format!("linux-headers-{kernel}")
}

/// What brings these packages.
pub fn remedy_by_packages(packages: &[String]) -> String {
    format!(
        "on Debian: sudo apt install {}; elsewhere: the packages with the same in them",
        packages.join(" ")
    )
}

/// Writes the source into a folder and compiles it, and gives the path of the module.
///
/// # Errors
/// What make said.
pub fn make(folder: &Path, headers: &Path, show: bool) -> anyhow::Result<PathBuf> {
    let unfit = |path: &&Path| path.to_string_lossy().contains(|c: char| c.is_whitespace() || c == ':');
    if let Some(path) = [folder, headers].iter().find(|path| unfit(path)) {
        let why =
            format!("the kernel's makefiles take no folder with a space or a colon: {}", path.display());
        return Err(Usage(format!("{why}; name another with --into")).into());
    }
    source::write_into(folder)?;
    let module = folder.join("furlong.ko");
    let make = program::find("make").context("make is not there")?;
    // What was built for another kernel would be taken for this one's.
    let mut command = program::command(&make);
    command.arg("-C").arg(folder).arg(format!("KDIR={}", headers.display())).args(["clean", "modules"]);
    program::run(&mut command, show)
        .with_context(|| format!("cannot compile {} with {}", folder.display(), headers.display()))?;
    match module.is_file() {
        true => Ok(module),
        false => anyhow::bail!("make ended well and made no {}", module.display()),
    }
}

/// The release of the kernel that a module was built for, which the kernel compares with its own.
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
