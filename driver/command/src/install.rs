//! `furlong driver install` and `remove`: the steps that install the driver in the system and remove it.

use crate::options::{DriverInstallOptions, DriverRemoveOptions};
use crate::state;
use crate::steps::{self, Step};
use crate::system_files::SystemFiles;
use crate::{build, device, program, source};
use furlong_console::exit::{CannotHere, Outcome};
use furlong_console::output;
use std::path::PathBuf;

/// Path of the udev rule, in the directory for rules of the administrator, not of packages.
const RULE: &str = "etc/udev/rules.d/60-furlong.rules";

/// The group that the rule names.
const GROUP: &str = "furlong";

/// State of the installation that the steps depend on.
#[derive(Debug, Clone)]
struct Installation {
    /// Release of the kernel to install for.
    kernel: String,
    /// Whether that kernel is running.
    is_running: bool,
    /// Headers of that kernel.
    headers: PathBuf,
    /// Whether DKMS is installed.
    has_dkms: bool,
    /// Versions that DKMS has.
    in_dkms: Vec<String>,
    /// Modules outside of the DKMS directories, each with its kernel.
    copied: Vec<(PathBuf, String)>,
    /// Folders of source.
    sources: Vec<PathBuf>,
    /// Directory for the source of this version.
    source: PathBuf,
    /// Path of this kernel's module without DKMS.
    module: PathBuf,
    /// Path of the udev rule, and whether it exists.
    rule: (PathBuf, bool),
    is_loaded: bool,
    has_group: bool,
    has_udev: bool,
}

fn installation(files: &SystemFiles, kernel: Option<&str>) -> Installation {
    let running = files.kernel();
    let kernel = kernel.unwrap_or(&running).to_owned();
    let kernels = files.names("lib/modules");
    let of_kernel = |kernel: &String| {
        let files =
            files.installed(kernel).into_iter().filter(|file| !file.to_string_lossy().contains("/dkms/"));
        files.map(|file| (file, kernel.clone())).collect::<Vec<_>>()
    };
    let is_source = |name: &String| {
        name.strip_prefix("furlong-").is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    Installation {
        is_running: kernel == running,
        headers: files.headers(&kernel).unwrap_or_else(|| files.at(&format!("lib/modules/{kernel}/build"))),
        has_dkms: program::find("dkms").is_some(),
        in_dkms: state::versions_in_dkms(files),
        copied: kernels.iter().flat_map(of_kernel).collect(),
        sources: files
            .names("usr/src")
            .into_iter()
            .filter(is_source)
            .map(|name| files.at(&format!("usr/src/{name}")))
            .collect(),
        source: files.at(&format!("usr/src/furlong-{}", source::version())),
        module: files.at(&format!("lib/modules/{kernel}/updates/furlong.ko")),
        rule: (files.at(RULE), files.at(RULE).exists()),
        is_loaded: state::is_loaded(files),
        has_group: device::has_group(files, GROUP),
        // A system without the daemon reads no rules.
        has_udev: program::find("udevadm").is_some() && files.at("run/udev/control").exists(),
        kernel,
    }
}

/// Installs, or prints how.
pub fn install(files: &SystemFiles, options: &DriverInstallOptions) -> anyhow::Result<Outcome> {
    let system = installation(files, options.kernel.as_deref());
    let steps = steps_of_install(&system, options.group);
    let can_work = can_work(files, &system);
    if options.dry_run {
        output::print(&steps::listing(&steps))?;
        return can_work.map(|()| Outcome::Done);
    }
    expect_root("install")?;
    can_work?;
    let outcome = steps::perform(&steps, "To undo them: sudo furlong driver remove")?;
    if outcome == Outcome::Done {
        output::tell(format_args!("{}", next_steps(&system, options.group)));
    }
    Ok(outcome)
}

/// Describes optional steps after an installation.
fn next_steps(system: &Installation, group: bool) -> String {
    let who = match group || system.has_group {
        true => {
            "Members of the group furlong can use it: sudo usermod -aG furlong \"$USER\", and log in again."
        }
        false => "Only root can use it; furlong driver install --group creates a group that can.",
    };
    let when = match system.is_running {
        true => {
            "It stays loaded until the machine reboots; to load it at each boot: \
                 echo furlong | sudo tee /etc/modules-load.d/furlong.conf"
        }
        false => {
            "It is installed for a kernel that is not running; boot that kernel, then: sudo modprobe furlong."
        }
    };
    format!("{who}\n{when}")
}

/// Removes, or prints how.
pub fn remove(files: &SystemFiles, options: &DriverRemoveOptions) -> anyhow::Result<Outcome> {
    let steps = steps_of_remove(&installation(files, None), options.group);
    if steps.is_empty() {
        output::tell(format_args!("furlong: the driver is not installed"));
        return Ok(Outcome::Done);
    }
    if options.dry_run {
        output::print(&steps::listing(&steps))?;
        return Ok(Outcome::Done);
    }
    expect_root("remove")?;
    steps::perform(&steps, "To remove the rest: sudo furlong driver remove")
}

/// Returns whether an installation can work here.
///
/// # Errors
/// Returns [`CannotHere`] with the obstacle: first obstacles that no package can remove.
fn can_work(files: &SystemFiles, system: &Installation) -> anyhow::Result<()> {
    if let Some(blocked) = state::loading_blocked(files).filter(|_| system.is_running) {
        let remedy =
            "to install it for another kernel of this machine: furlong driver install --kernel VERSION";
        let reason = format!("the driver cannot be loaded here: {}", blocked.reason(&system.kernel));
        return Err(CannotHere::new(reason, remedy).into());
    }
    build::headers(files, &system.kernel, None).map(drop)
}

fn expect_root(verb: &str) -> anyhow::Result<()> {
    if furlong_os::identity::is_administrator() {
        return Ok(());
    }
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let remedy = format!("sudo furlong {}", arguments.join(" "));
    Err(CannotHere::new(format!("only root can {verb} the driver"), remedy).into())
}

fn steps_of_install(system: &Installation, group: bool) -> Vec<Step> {
    let kernel = system.kernel.as_str();
    let mut steps = Vec::new();
    // Unload before any other change, because unloading fails while a process has a device open.
    if system.is_loaded && system.is_running {
        steps.push(Step::program(["modprobe", "-r", "furlong"]));
    }
    if system.has_dkms {
        steps.extend(system.in_dkms.iter().map(|version| out_of_dkms(version)));
        steps.push(Step::source(&system.source));
        let version = source::version();
        steps.push(Step::program(["dkms", "add", "-m", "furlong", "-v", version]));
        for verb in ["build", "install"] {
            steps.push(Step::program(["dkms", verb, "-m", "furlong", "-v", version, "-k", kernel]));
        }
    } else {
        steps.push(Step::module(&system.source, &system.headers));
        let built = system.source.join("furlong.ko");
        let (from, to) = (built.to_string_lossy(), system.module.to_string_lossy());
        steps.push(Step::program(["install", "-D", "-m", "644", &from, &to]));
        steps.push(Step::program(["depmod", kernel]));
    }
    if group && !system.has_group {
        steps.push(Step::program(["groupadd", "--system", GROUP]));
    }
    let rule = system.source.join(source::RULE);
    let (from, to) = (rule.to_string_lossy(), system.rule.0.to_string_lossy());
    steps.push(Step::program(["install", "-D", "-m", "644", &from, &to]));
    steps.extend(read_rules(system));
    if system.is_running {
        steps.push(Step::program(["modprobe", "furlong"]));
    }
    steps
}

fn steps_of_remove(system: &Installation, group: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    if system.is_loaded {
        steps.push(Step::program(["modprobe", "-r", "furlong"]));
    }
    if system.has_dkms {
        steps.extend(system.in_dkms.iter().map(|version| out_of_dkms(version)));
    }
    for (file, kernel) in &system.copied {
        steps.push(Step::program(["rm", &file.to_string_lossy()]));
        steps.push(Step::program(["depmod", kernel]));
    }
    if system.rule.1 {
        steps.push(Step::program(["rm", &system.rule.0.to_string_lossy()]));
        steps.extend(read_rules(system));
    }
    steps.extend(system.sources.iter().map(|folder| Step::program(["rm", "-r", &folder.to_string_lossy()])));
    if group && system.has_group {
        steps.push(Step::program(["groupdel", GROUP]));
    }
    steps
}

fn out_of_dkms(version: &str) -> Step {
    Step::program(["dkms", "remove", "-m", "furlong", "-v", version, "--all"])
}

/// Returns the step that makes udev reload its rules, if udev exists.
fn read_rules(system: &Installation) -> Option<Step> {
    system.has_udev.then(|| Step::program(["udevadm", "control", "--reload"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::{KERNEL, system};

    /// Returns a system without any part of the driver.
    fn bare() -> Installation {
        Installation {
            kernel: "6.1.0-56-amd64".to_owned(),
            is_running: true,
            headers: "/lib/modules/6.1.0-56-amd64/build".into(),
            has_dkms: true,
            in_dkms: Vec::new(),
            copied: Vec::new(),
            sources: Vec::new(),
            source: "/usr/src/furlong-0.1.0".into(),
            module: "/lib/modules/6.1.0-56-amd64/updates/furlong.ko".into(),
            rule: ("/etc/udev/rules.d/60-furlong.rules".into(), false),
            is_loaded: false,
            has_group: false,
            has_udev: true,
        }
    }

    #[test]
    fn with_dkms() {
        let version = source::version();
        let expected = format!(
            "furlong driver build --source-only --into /usr/src/furlong-0.1.0\n\
             dkms add -m furlong -v {version}\n\
             dkms build -m furlong -v {version} -k 6.1.0-56-amd64\n\
             dkms install -m furlong -v {version} -k 6.1.0-56-amd64\n\
             groupadd --system furlong\n\
             install -D -m 644 /usr/src/furlong-0.1.0/udev/60-furlong.rules /etc/udev/rules.d/60-furlong.rules\n\
             udevadm control --reload\n\
             modprobe furlong\n"
        );
        assert_eq!(steps::listing(&steps_of_install(&bare(), true)), expected);
        // Existing files are replaced, and existing objects are not created again.
        let again = Installation {
            is_loaded: true,
            has_group: true,
            in_dkms: vec!["0.0.9".to_owned(), version.to_owned()],
            ..bare()
        };
        let steps = steps::listing(&steps_of_install(&again, true));
        let head = format!(
            "modprobe -r furlong\ndkms remove -m furlong -v 0.0.9 --all\n\
             dkms remove -m furlong -v {version} --all\nfurlong driver build"
        );
        assert!(steps.starts_with(&head) && !steps.contains("groupadd"), "{steps}");
    }

    #[test]
    fn without_dkms_and_without_udev() {
        let system = Installation { has_dkms: false, has_udev: false, ..bare() };
        let expected = "\
            furlong driver build --headers /lib/modules/6.1.0-56-amd64/build --into /usr/src/furlong-0.1.0\n\
            install -D -m 644 /usr/src/furlong-0.1.0/furlong.ko /lib/modules/6.1.0-56-amd64/updates/furlong.ko\n\
            depmod 6.1.0-56-amd64\n\
            install -D -m 644 /usr/src/furlong-0.1.0/udev/60-furlong.rules /etc/udev/rules.d/60-furlong.rules\n\
            modprobe furlong\n";
        assert_eq!(steps::listing(&steps_of_install(&system, false)), expected);
    }

    #[test]
    fn another_kernel_is_not_loaded_into() {
        let steps = steps::listing(&steps_of_install(
            &Installation { is_running: false, is_loaded: true, ..bare() },
            false,
        ));
        assert!(!steps.contains("modprobe") && steps.contains("dkms install"), "{steps}");
    }

    #[test]
    fn removing_takes_back_all_there_is_and_no_more() {
        assert!(steps_of_remove(&bare(), true).is_empty());
        let full = Installation {
            in_dkms: vec!["0.1.0".to_owned()],
            copied: vec![("/lib/modules/6.1/updates/furlong.ko".into(), "6.1".to_owned())],
            sources: vec!["/usr/src/furlong-0.1.0".into()],
            rule: (bare().rule.0, true),
            is_loaded: true,
            has_group: true,
            ..bare()
        };
        let expected = "modprobe -r furlong\n\
            dkms remove -m furlong -v 0.1.0 --all\n\
            rm /lib/modules/6.1/updates/furlong.ko\n\
            depmod 6.1\n\
            rm /etc/udev/rules.d/60-furlong.rules\n\
            udevadm control --reload\n\
            rm -r /usr/src/furlong-0.1.0\n";
        assert_eq!(steps::listing(&steps_of_remove(&full, false)), expected);
        let steps = steps::listing(&steps_of_remove(&full, true));
        assert!(steps.ends_with("groupdel furlong\n"), "{steps}");
    }

    #[test]
    fn a_kernel_that_loads_no_modules_is_named_before_missing_headers() {
        let reason = |files: &[(&str, &str)], kernel| {
            let (_folder, files) = system(files);
            can_work(&files, &installation(&files, kernel)).unwrap_err().to_string()
        };
        let without_modules = [KERNEL];
        let text = reason(&without_modules, None);
        assert!(
            text.contains("was built without support for modules") && !text.contains("headers"),
            "{text}"
        );
        assert!(
            reason(&without_modules, Some("6.12.0-1-amd64")).contains("the headers of Linux 6.12.0-1-amd64")
        );
        let with_modules = [KERNEL, ("proc/modules", "")];
        assert!(reason(&with_modules, None).contains("the headers of Linux 6.1.0-56-amd64"));
    }
}
