//! `cargo xtask driver`: builds the kernel module and tests it in an emulated machine.
//!
//! The build machine need not be able to load modules, and its own kernel does not matter. The guest boots Debian's
//! kernel, because Debian packages its headers.
#![forbid(unsafe_code)]

mod archive;
mod checkpatch;
mod console;
mod debug_kernel;
mod folders;
mod guest;
mod initramfs;
mod kernel;
mod module;
pub mod packages;
mod programs;
mod results;
mod source;
mod speed;
pub mod step;
mod tap;
mod vmlinux;

use anyhow::{Context, anyhow, bail};
use folders::Folders;
use guest::{GuestResult, Purpose};
use initramfs::Contents;
pub use kernel::headers;
use programs::Furlong;
use results::Section;
use std::path::{Path, PathBuf};
use tap::Case;

/// Cache directory of the module that is built against Debian's headers.
const MODULE: &str = "module";

/// Builds the module and prints its path.
pub fn build() -> anyhow::Result<()> {
    let folders = Folders::find()?;
    let (_, headers) = kernel::headers()?;
    println!("{}", module::build(&folders, &headers, MODULE)?.display());
    Ok(())
}

/// Checks the sources: warnings of the compiler and sparse, and the kernel's style rules.
pub fn check() -> anyhow::Result<()> {
    let folders = Folders::find()?;
    let (version, headers) = kernel::headers()?;
    module::build(&folders, &headers, MODULE)?;
    println!("The compiler's warnings and sparse find nothing.");
    checkpatch::run(&folders, &version)
}

/// Tests the module in one guest and counts its instructions in another. Returns the number of cases.
pub fn test() -> anyhow::Result<usize> {
    test_for(&[Purpose::Test, Purpose::Speed])
}

/// Counts the driver's instructions only.
pub fn speed() -> anyhow::Result<usize> {
    test_for(&[Purpose::Speed])
}

/// Runs guests for each of the purposes, and prints one stream of TAP.
fn test_for(purposes: &[Purpose]) -> anyhow::Result<usize> {
    let folders = Folders::find()?;
    let kernel = kernel::provide(&folders)?;
    let module = module::build(&folders, &kernel.headers, MODULE)?;
    let furlong = programs::furlong()?;
    let built = format!("the module builds for Linux {} with no warning of gcc or sparse", kernel.version);
    let cases = vec![Case::new(true, built, "")];
    run_guests(&folders, &kernel.image, &module, Some(&furlong), purposes, cases)
}

/// Tests the module under a kernel that watches its modules.
pub fn debug() -> anyhow::Result<usize> {
    let folders = Folders::find()?;
    let (version, _) = kernel::headers()?;
    let kernel = debug_kernel::provide(&folders, &version)?;
    let module = module::build(&folders, &kernel.headers, "debug-module")?;
    run_guests(&folders, &kernel.image, &module, None, &[Purpose::Debug], Vec::new())
}

/// Runs a guest for each of the purposes, and prints what they found behind the `cases` that are judged already.
fn run_guests(
    folders: &Folders,
    image: &Path,
    module: &Path,
    furlong: Option<&Furlong>,
    purposes: &[Purpose],
    mut cases: Vec<Case>,
) -> anyhow::Result<usize> {
    let tests = programs::tests(folders)?;
    let suites = initramfs::suites(&tests)?;
    let guest_exit = programs::guest_exit(folders)?;
    let contents = Contents { module, tests: &tests, guest_exit: &guest_exit, furlong };
    let archive = &initramfs::write(folders, &contents)?;
    let mut kept: Vec<PathBuf> = Vec::new();
    // In parallel, because one guest mostly waits, and the other counts instructions, which do not depend on load.
    let guests: Vec<_> = std::thread::scope(|scope| {
        let run =
            |&purpose: &Purpose| scope.spawn(move || (purpose, guest::run(folders, purpose, image, archive)));
        let running: Vec<_> = purposes.iter().map(run).collect();
        running.into_iter().map(|guest| guest.join()).collect()
    });
    for guest in guests {
        let (purpose, ended) = guest.map_err(|_| anyhow!("a guest was not run to its end"))?;
        let ended = ended.with_context(|| format!("the {} guest", purpose.name()))?;
        cases.extend(judged(purpose, &suites, &ended));
        kept.push(ended.folder);
    }
    print!("{}", tap::stream(&cases));
    let failed = cases.iter().filter(|case| !case.passed).count();
    if failed > 0 {
        let kept: Vec<_> = kept.iter().map(|folder| folder.display().to_string()).collect();
        bail!(
            "{failed} of {} cases failed:\n{}\nThe output of the guests and their kernels is in {}",
            cases.len(),
            tap::failures(&cases),
            kept.join(" and ")
        );
    }
    Ok(cases.len())
}

/// Returns all judgements on one guest.
fn judged(purpose: Purpose, suites: &[String], ended: &GuestResult) -> Vec<Case> {
    let sections = results::sections(&ended.results);
    let (suites, own, speed) = match purpose {
        Purpose::Test => (suites, &["load", "conformance", "unload"][..], vec![]),
        Purpose::Debug => (suites, &["load", "unload"][..], vec![]),
        Purpose::Speed => (&[][..], &["load"][..], speed::judged(&sections)),
    };
    let all = suites.iter().map(String::as_str).chain(own.iter().copied());
    let mut cases = [tested(all, &sections), speed].concat();
    let name = purpose.name();
    let (well, why) = how_it_ended(ended);
    cases.push(Case::new(well, format!("{name} guest: shuts down regularly"), &why));
    let reports = console::reports(&ended.console).join("\n");
    cases.push(Case::new(reports.is_empty(), format!("{name} guest: its kernel reports nothing"), &reports));
    cases
}

/// Returns the cases of all planned suites, whether they ran or not.
fn tested<'a>(suites: impl Iterator<Item = &'a str>, sections: &[Section]) -> Vec<Case> {
    let cases = suites.map(|suite| match sections.iter().find(|section| section.name == suite) {
        Some(section) => tap::judged(section),
        None => vec![Case::new(false, format!("{suite}: ran to its end"), "the guest stopped before it")],
    });
    cases.flatten().collect()
}

/// Returns whether the guest ended as expected, and otherwise how, with the last messages of its kernel.
fn how_it_ended(ended: &GuestResult) -> (bool, String) {
    let how = match ended.status.map(|status| status.code()) {
        Some(Some(guest::EXIT_WELL)) => return (true, String::new()),
        Some(Some(0)) => "the kernel panicked, or the guest was switched off".to_owned(),
        Some(Some(code)) => format!("QEMU ended with {code}: {}", ended.complaint.trim()),
        Some(None) => "a signal ended QEMU".to_owned(),
        None => "it was stopped at its deadline".to_owned(),
    };
    (false, format!("{how}\n{}", console::last_lines(&ended.console, 30)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn ended(status: Option<i32>, results: &str, console: &str) -> GuestResult {
        GuestResult {
            status: status
                .map(|code| Command::new("sh").arg("-c").arg(format!("exit {code}")).status().unwrap()),
            results: results.to_owned(),
            console: console.to_owned(),
            complaint: String::new(),
            folder: PathBuf::new(),
        }
    }

    const WELL: &str = "# booted\n# suite module.sh\n1..1\nok 1 - a\n# exit 0\n# suite load\n1..1\nok 1 - b\n# exit 0\n\
                        # suite conformance\n1..1\nok 1 - c\n# exit 0\n# suite unload\n1..1\nok 1 - d\n# exit 0\n";

    fn failed(ended: &GuestResult) -> Vec<String> {
        let cases = judged(Purpose::Test, &["module.sh".to_owned()], ended);
        cases.into_iter().filter(|case| !case.passed).map(|case| case.name).collect()
    }

    #[test]
    fn a_guest_passes_that_ran_all_and_ended_well() {
        let cases =
            judged(Purpose::Test, &["module.sh".to_owned()], &ended(Some(33), WELL, "[ 0.1] hello\n"));
        assert_eq!(cases.len(), 4 * 2 + 2);
        assert!(cases.iter().all(|case| case.passed), "{cases:?}");
    }

    #[test]
    fn a_guest_fails_that_ended_in_any_other_way() {
        for status in [None, Some(0), Some(1), Some(35)] {
            assert_eq!(failed(&ended(status, WELL, "")), ["test guest: shuts down regularly"], "{status:?}");
        }
        let (_, why) = how_it_ended(&ended(Some(0), WELL, "[ 1.0] the last word\n"));
        assert_eq!(why, "the kernel panicked, or the guest was switched off\n[ 1.0] the last word");
    }

    #[test]
    fn a_report_of_the_kernel_fails_a_guest_whose_tests_passed() {
        let console = "[ 1.0] BUG: sleeping function called from invalid context\n";
        assert_eq!(failed(&ended(Some(33), WELL, console)), ["test guest: its kernel reports nothing"]);
    }

    #[test]
    fn a_suite_that_never_ran_fails() {
        let results = &WELL[..WELL.find("# suite conformance").unwrap()];
        let expected = ["conformance: ran to its end", "unload: ran to its end"];
        assert_eq!(failed(&ended(Some(33), results, "")), expected);
        assert_eq!(failed(&ended(None, "", "")).len(), 5);
    }
}
