//! The state of the driver on a system, read in one pass.

use crate::device::{self, Device};
use crate::system_files::SystemFiles;
use crate::{build, source};
use serde::Serialize;
use std::path::PathBuf;

/// The driver on this system.
#[derive(Debug, Clone, Serialize)]
pub struct State {
    /// The running kernel's release.
    pub kernel: String,
    /// The version that this furlong brings.
    pub version: String,
    /// The module that is loaded, if one is.
    pub loaded: Option<Loaded>,
    /// Devices of the driver.
    pub devices: Vec<Device>,
    /// Plain files at the paths of devices.
    pub plain_files: Vec<PathBuf>,
    /// Modules installed for the running kernel.
    pub installed: Vec<PathBuf>,
    /// Whether `modprobe` would find one of them.
    pub listed: bool,
    /// The module that this user has built for the running kernel.
    pub built: Option<PathBuf>,
    /// Versions in DKMS, one line for each kernel and version.
    pub dkms: Vec<String>,
    /// The headers of the running kernel.
    pub headers: Option<PathBuf>,
    /// Programs that building needs and that are not there.
    pub missing_tools: Vec<&'static str>,
    /// Reason why the kernel loads no module, if there is one.
    pub loading_blocked: Option<LoadingBlocked>,
    /// Reason why the kernel accepts only signed modules, if there is one.
    pub only_signed: Option<String>,
}

/// A loaded module.
#[derive(Debug, Clone, Serialize)]
pub struct Loaded {
    /// Version of the loaded module.
    pub version: Option<String>,
    /// Reference count: open devices and other modules.
    pub users: Option<u64>,
    /// Current parameters.
    pub parameters: Vec<(String, String)>,
}

/// Reason why the kernel loads no module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadingBlocked {
    /// The kernel was built without modules.
    NoModules,
    /// Loading was disabled until the machine restarts.
    Disabled,
}

impl LoadingBlocked {
    /// Describes the reason in words.
    pub fn reason(self, kernel: &str) -> String {
        match self {
            LoadingBlocked::NoModules => {
                format!("Linux {kernel} was built without support for modules (no /proc/modules)")
            }
            LoadingBlocked::Disabled => "loading modules is disabled (kernel.modules_disabled)".to_owned(),
        }
    }
}

/// Directory in which the kernel shows a loaded module.
const MODULE: &str = "sys/module/furlong";

/// Reads the state of the driver on this system.
pub fn read(files: &SystemFiles) -> State {
    let kernel = files.kernel();
    State {
        version: source::version().to_owned(),
        loaded: loaded(files),
        devices: device::all(files),
        plain_files: device::plain_files(files),
        installed: files.installed(&kernel),
        listed: files.is_listed(&kernel),
        built: built(files, &kernel),
        dkms: dkms(files),
        headers: files.headers(&kernel),
        missing_tools: build::missing_tools(),
        loading_blocked: loading_blocked(files),
        only_signed: only_signed(files),
        kernel,
    }
}

/// Returns whether the driver is loaded.
pub fn is_loaded(files: &SystemFiles) -> bool {
    files.at(MODULE).exists()
}

fn loaded(files: &SystemFiles) -> Option<Loaded> {
    let text = |name: &str| files.text(&format!("{MODULE}/{name}"));
    let parameter = |name: String| {
        let value = text(&format!("parameters/{name}"))?;
        Some((name, value))
    };
    is_loaded(files).then(|| Loaded {
        version: text("version"),
        users: text("refcnt").and_then(|count| count.parse().ok()),
        parameters: files.names(&format!("{MODULE}/parameters")).into_iter().filter_map(parameter).collect(),
    })
}

/// Returns why the running kernel loads no module, if there is a reason.
pub fn loading_blocked(files: &SystemFiles) -> Option<LoadingBlocked> {
    if !files.at("proc/modules").exists() {
        return Some(LoadingBlocked::NoModules);
    }
    let off = files.text("proc/sys/kernel/modules_disabled").is_some_and(|value| value == "1");
    off.then_some(LoadingBlocked::Disabled)
}

/// Returns why the kernel accepts only signed modules, if it does. Most distributions enable lockdown under Secure
/// Boot; a kernel can also require signatures without lockdown.
fn only_signed(files: &SystemFiles) -> Option<String> {
    let lockdown = files.text("sys/kernel/security/lockdown").unwrap_or_default();
    let level = lockdown.split(['[', ']']).nth(1).filter(|level| *level != "none");
    let insists = files.text("sys/module/module/parameters/sig_enforce").is_some_and(|value| value == "Y");
    match level {
        Some(level) => Some(format!("the kernel is locked down ({level}), as with Secure Boot")),
        None => insists.then(|| "the kernel requires signatures (module.sig_enforce)".to_owned()),
    }
}

/// Returns the module that this user has built, unless it is for another kernel.
fn built(files: &SystemFiles, kernel: &str) -> Option<PathBuf> {
    let module = files.build_folder.as_ref()?.join("furlong.ko");
    (build::built_for(&module).as_deref() == Some(kernel)).then_some(module)
}

/// Lists the versions in DKMS from its own directory, because `dkms` is not in the PATH of every user.
fn dkms(files: &SystemFiles) -> Vec<String> {
    const TREE: &str = "var/lib/dkms/furlong";
    let mut found = Vec::new();
    for version in versions_in_dkms(files) {
        let built_for: Vec<_> = files
            .names(&format!("{TREE}/{version}"))
            .into_iter()
            .filter(|kernel| !["source", "build"].contains(&kernel.as_str()))
            .flat_map(|kernel| {
                let machines = files.names(&format!("{TREE}/{version}/{kernel}"));
                machines.into_iter().map(move |machine| (kernel.clone(), machine))
            })
            .collect();
        if built_for.is_empty() {
            found.push(format!("furlong {version}: added, not built for any kernel"));
        }
        for (kernel, machine) in built_for {
            let is_installed = files.at(&format!("{TREE}/kernel-{kernel}-{machine}")).exists();
            let state = if is_installed { "installed" } else { "built, not installed" };
            found.push(format!("furlong {version} for {kernel} ({machine}): {state}"));
        }
    }
    found
}

/// Returns the versions of the driver that DKMS has.
pub fn versions_in_dkms(files: &SystemFiles) -> Vec<String> {
    let names = files.names("var/lib/dkms/furlong").into_iter();
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_digit())).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use tempfile::TempDir;

    /// Creates a system that has these files.
    pub fn system(files: &[(&str, &str)]) -> (TempDir, SystemFiles) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let files = SystemFiles::below(folder.path());
        (folder, files)
    }

    /// The kernel of the systems below.
    pub const KERNEL: (&str, &str) = ("proc/sys/kernel/osrelease", "6.1.0-56-amd64\n");

    /// Returns a system with the driver loaded and two devices, whose nodes are links to a device that every user may
    /// open.
    pub fn with_driver() -> (TempDir, SystemFiles) {
        let (folder, files) = system(&[
            KERNEL,
            ("proc/modules", "furlong 1 0 - Live 0x0\n"),
            ("sys/module/furlong/version", "0.1.0\n"),
            ("sys/module/furlong/refcnt", "2\n"),
            ("sys/module/furlong/parameters/channels", "1\n"),
            ("sys/module/furlong/parameters/log_bytes", "0\n"),
            ("sys/class/misc/furlong-message0/depth", "64\n"),
            ("sys/class/misc/furlong-message0/size", "8192\n"),
            ("sys/class/misc/furlong-message0/queued", "3\n"),
            ("sys/class/misc/furlong-message0/openers", "2\n"),
            ("sys/class/misc/furlong-message0/sent", "12\n"),
            ("sys/class/misc/furlong-message0/received", "8\n"),
            ("sys/class/misc/furlong-message0/discarded", "1\n"),
            ("sys/class/misc/furlong-shm0/size", "1048576\n"),
            ("sys/class/misc/furlong-shm0/peers", "1\n"),
            ("sys/class/misc/furlong-shm0/mappings", "0\n"),
            ("sys/class/misc/other/dev", "10:1\n"),
            ("etc/passwd", "root:x:0:0::/root:/bin/sh\n"),
            ("etc/group", "root:x:0:\nfurlong:x:998:\n"),
        ]);
        fs::create_dir(folder.path().join("dev")).unwrap();
        for name in ["furlong-message0", "furlong-shm0"] {
            link_device(folder.path(), name);
        }
        (folder, files)
    }

    /// Creates a device node that every user may open.
    pub fn link_device(folder: &Path, name: &str) {
        std::os::unix::fs::symlink("/dev/null", folder.join("dev").join(name)).unwrap();
    }

    #[test]
    fn a_loaded_driver_is_seen_with_all_it_has() {
        let (_folder, files) = with_driver();
        let state = read(&files);
        let loaded = state.loaded.unwrap();
        assert_eq!((loaded.version.as_deref(), loaded.users), (Some("0.1.0"), Some(2)));
        let parameters =
            [("channels", "1"), ("log_bytes", "0")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(loaded.parameters, parameters);
        let [message, shm] = state.devices.as_slice() else { panic!("{:?}", state.devices) };
        assert_eq!((message.name.as_str(), shm.name.as_str()), ("furlong-message0", "furlong-shm0"));
        assert_eq!((message.figure("queued"), message.figure("peers")), (Some(3), None));
        assert_eq!(shm.figure("size"), Some(1 << 20));
        let node = message.node.as_ref().unwrap();
        assert_eq!((node.owner.as_str(), node.group.as_str(), node.mode.as_str()), ("root", "root", "0666"));
        assert!(message.is_usable() && shm.is_usable() && state.plain_files.is_empty());
    }

    #[test]
    fn a_plain_file_is_no_device() {
        let (folder, files) = with_driver();
        let path = folder.path().join("dev/furlong-message0");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "hello\n").unwrap();
        let state = read(&files);
        assert!(!state.devices[0].is_usable() && state.devices[1].is_usable());
        assert_eq!(state.plain_files, [path]);
    }

    #[test]
    fn what_keeps_modules_out_is_seen() {
        let state = |files: &[(&str, &str)]| read(&system(files).1);
        assert_eq!(state(&[KERNEL]).loading_blocked, Some(LoadingBlocked::NoModules));
        let modules = ("proc/modules", "");
        let off = ("proc/sys/kernel/modules_disabled", "1\n");
        assert_eq!(state(&[KERNEL, modules, off]).loading_blocked, Some(LoadingBlocked::Disabled));
        let none = ("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
        let free = state(&[KERNEL, modules, ("proc/sys/kernel/modules_disabled", "0\n"), none]);
        assert_eq!((free.loading_blocked, free.only_signed), (None, None));
        let locked = state(&[KERNEL, modules, (none.0, "none [integrity] confidentiality\n")]);
        assert!(locked.only_signed.unwrap().contains("(integrity)"));
        let insists = state(&[KERNEL, modules, ("sys/module/module/parameters/sig_enforce", "Y\n")]);
        assert!(insists.only_signed.unwrap().contains("sig_enforce"));
    }

    #[test]
    fn what_dkms_has_is_said_by_version_and_kernel() {
        let tree = "var/lib/dkms/furlong";
        let (_folder, files) = system(&[
            KERNEL,
            (&format!("{tree}/0.0.9/source/dkms.conf"), ""),
            (&format!("{tree}/0.1.0/source/dkms.conf"), ""),
            (&format!("{tree}/0.1.0/6.1.0-56-amd64/x86_64/module/furlong.ko"), ""),
            (&format!("{tree}/0.1.0/6.12.0-1-amd64/x86_64/module/furlong.ko"), ""),
            (&format!("{tree}/kernel-6.1.0-56-amd64-x86_64/module/furlong.ko"), ""),
        ]);
        assert_eq!(
            read(&files).dkms,
            [
                "furlong 0.0.9: added, not built for any kernel",
                "furlong 0.1.0 for 6.1.0-56-amd64 (x86_64): installed",
                "furlong 0.1.0 for 6.12.0-1-amd64 (x86_64): built, not installed",
            ]
        );
    }

    #[test]
    fn only_what_was_built_for_this_kernel_counts() {
        let module = |kernel: &str| format!("\0vermagic={kernel} SMP\0");
        for (kernel, counts) in [("6.1.0-56-amd64", true), ("6.1.0-55-amd64", false)] {
            let (_folder, files) = system(&[KERNEL, ("built/furlong.ko", &module(kernel))]);
            assert_eq!(read(&files).built.is_some(), counts, "{kernel}");
        }
    }
}
