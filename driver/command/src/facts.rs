//! All that there is to know of the driver on a system, looked up at once.

use crate::device::{self, Device};
use crate::places::Places;
use crate::{building, source};
use serde::Serialize;
use std::path::PathBuf;

/// The driver on this system.
#[derive(Debug, Clone, Serialize)]
pub struct Facts {
    /// The running kernel's release.
    pub kernel: String,
    /// The version that this furlong brings.
    pub version: String,
    /// The module that is loaded, if one is.
    pub loaded: Option<Loaded>,
    /// Its devices.
    pub devices: Vec<Device>,
    /// Plain files in the place of devices.
    pub impostors: Vec<PathBuf>,
    /// Modules installed for the running kernel.
    pub installed: Vec<PathBuf>,
    /// Whether `modprobe` would find one of them.
    pub listed: bool,
    /// The module that this user has built for the running kernel.
    pub built: Option<PathBuf>,
    /// What DKMS has, a line for each kernel and version.
    pub dkms: Vec<String>,
    /// The headers of the running kernel.
    pub headers: Option<PathBuf>,
    /// Programs that building needs and that are not there.
    pub missing_tools: Vec<&'static str>,
    /// What keeps any module from being loaded.
    pub barrier: Option<Barrier>,
    /// Why the kernel takes only signed modules, if so.
    pub only_signed: Option<String>,
}

/// A loaded module.
#[derive(Debug, Clone, Serialize)]
pub struct Loaded {
    /// Its version.
    pub version: Option<String>,
    /// How many hold it: open devices and other modules.
    pub users: Option<u64>,
    /// Its parameters as they are now.
    pub parameters: Vec<(String, String)>,
}

/// What keeps any module out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Barrier {
    /// The kernel was built without modules.
    NoModules,
    /// Somebody has switched loading off until the machine starts anew.
    SwitchedOff,
}

/// Where the kernel shows a loaded module.
const MODULE: &str = "sys/module/furlong";

/// Looks all of it up.
pub fn look(places: &Places) -> Facts {
    let kernel = places.kernel();
    Facts {
        version: source::version().to_owned(),
        loaded: loaded(places),
        devices: device::all(places),
        impostors: device::impostors(places),
        installed: places.installed(&kernel),
        listed: places.is_listed(&kernel),
        built: built(places, &kernel),
        dkms: dkms(places),
        headers: places.headers(&kernel),
        missing_tools: building::missing_tools(),
        barrier: barrier(places),
        only_signed: only_signed(places),
        kernel,
    }
}

/// Whether the driver is loaded.
pub fn is_loaded(places: &Places) -> bool {
    places.at(MODULE).exists()
}

fn loaded(places: &Places) -> Option<Loaded> {
    let text = |name: &str| places.text(&format!("{MODULE}/{name}"));
    let parameter = |name: String| {
        let value = text(&format!("parameters/{name}"))?;
        Some((name, value))
    };
    is_loaded(places).then(|| Loaded {
        version: text("version"),
        users: text("refcnt").and_then(|count| count.parse().ok()),
        parameters: places.names(&format!("{MODULE}/parameters")).into_iter().filter_map(parameter).collect(),
    })
}

/// What keeps any module out of this kernel.
pub fn barrier(places: &Places) -> Option<Barrier> {
    if !places.at("proc/modules").exists() {
        return Some(Barrier::NoModules);
    }
    let off = places.text("proc/sys/kernel/modules_disabled").is_some_and(|value| value == "1");
    off.then_some(Barrier::SwitchedOff)
}

/// Lockdown comes with Secure Boot on most distributions; a kernel can also insist on signatures by itself.
fn only_signed(places: &Places) -> Option<String> {
    let lockdown = places.text("sys/kernel/security/lockdown").unwrap_or_default();
    let level = lockdown.split(['[', ']']).nth(1).filter(|level| *level != "none");
    let insists = places.text("sys/module/module/parameters/sig_enforce").is_some_and(|value| value == "Y");
    match level {
        Some(level) => Some(format!("the kernel is locked down ({level}), as with Secure Boot")),
        None => insists.then(|| "the kernel insists on signatures (module.sig_enforce)".to_owned()),
    }
}

/// What this user has built, unless it is for another kernel.
fn built(places: &Places, kernel: &str) -> Option<PathBuf> {
    let module = places.workshop.as_ref()?.join("furlong.ko");
    (building::built_for(&module).as_deref() == Some(kernel)).then_some(module)
}

/// What DKMS has, from its own folder: `dkms` itself is not in the PATH of every user.
fn dkms(places: &Places) -> Vec<String> {
    const TREE: &str = "var/lib/dkms/furlong";
    let mut found = Vec::new();
    for version in versions_in_dkms(places) {
        let built_for: Vec<_> = places
            .names(&format!("{TREE}/{version}"))
            .into_iter()
            .filter(|kernel| !["source", "build"].contains(&kernel.as_str()))
            .flat_map(|kernel| {
                let machines = places.names(&format!("{TREE}/{version}/{kernel}"));
                machines.into_iter().map(move |machine| (kernel.clone(), machine))
            })
            .collect();
        if built_for.is_empty() {
            found.push(format!("furlong {version}: added, built for no kernel"));
        }
        for (kernel, machine) in built_for {
            let is_installed = places.at(&format!("{TREE}/kernel-{kernel}-{machine}")).exists();
            let state = if is_installed { "installed" } else { "built, not installed" };
            found.push(format!("furlong {version} for {kernel} ({machine}): {state}"));
        }
    }
    found
}

/// The versions of the driver that DKMS has.
pub fn versions_in_dkms(places: &Places) -> Vec<String> {
    let names = places.names("var/lib/dkms/furlong").into_iter();
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_digit())).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;
    use tempfile::TempDir;

    /// A system of files.
    pub fn system(files: &[(&str, &str)]) -> (TempDir, Places) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let places = Places::below(folder.path());
        (folder, places)
    }

    /// The kernel of the systems below.
    pub const KERNEL: (&str, &str) = ("proc/sys/kernel/osrelease", "6.1.0-56-amd64\n");

    /// A system with the driver loaded and two devices, whose nodes are links to a device that all may open.
    pub fn with_driver() -> (TempDir, Places) {
        let (folder, places) = system(&[
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
        (folder, places)
    }

    /// Makes a node that is a device which everybody may open.
    pub fn link_device(folder: &Path, name: &str) {
        std::os::unix::fs::symlink("/dev/null", folder.join("dev").join(name)).unwrap();
    }

    #[test]
    fn a_loaded_driver_is_seen_with_all_it_has() {
        let (_folder, places) = with_driver();
        let facts = look(&places);
        let loaded = facts.loaded.unwrap();
        assert_eq!((loaded.version.as_deref(), loaded.users), (Some("0.1.0"), Some(2)));
        let parameters =
            [("channels", "1"), ("log_bytes", "0")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!(loaded.parameters, parameters);
        let [message, shm] = facts.devices.as_slice() else { panic!("{:?}", facts.devices) };
        assert_eq!((message.name.as_str(), shm.name.as_str()), ("furlong-message0", "furlong-shm0"));
        assert_eq!((message.figure("queued"), message.figure("peers")), (Some(3), None));
        assert_eq!(shm.figure("size"), Some(1 << 20));
        let node = message.node.as_ref().unwrap();
        assert_eq!((node.owner.as_str(), node.group.as_str(), node.mode.as_str()), ("root", "root", "0666"));
        assert!(message.is_usable() && shm.is_usable() && facts.impostors.is_empty());
    }

    #[test]
    fn a_plain_file_is_no_device() {
        let (folder, places) = with_driver();
        let path = folder.path().join("dev/furlong-message0");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "hello\n").unwrap();
        let facts = look(&places);
        assert!(!facts.devices[0].is_usable() && facts.devices[1].is_usable());
        assert_eq!(facts.impostors, [path]);
    }

    #[test]
    fn what_keeps_modules_out_is_seen() {
        let look = |files: &[(&str, &str)]| super::look(&system(files).1);
        assert_eq!(look(&[KERNEL]).barrier, Some(Barrier::NoModules));
        let modules = ("proc/modules", "");
        let off = ("proc/sys/kernel/modules_disabled", "1\n");
        assert_eq!(look(&[KERNEL, modules, off]).barrier, Some(Barrier::SwitchedOff));
        let none = ("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
        let free = look(&[KERNEL, modules, ("proc/sys/kernel/modules_disabled", "0\n"), none]);
        assert_eq!((free.barrier, free.only_signed), (None, None));
        let locked = look(&[KERNEL, modules, (none.0, "none [integrity] confidentiality\n")]);
        assert!(locked.only_signed.unwrap().contains("(integrity)"));
        let insists = look(&[KERNEL, modules, ("sys/module/module/parameters/sig_enforce", "Y\n")]);
        assert!(insists.only_signed.unwrap().contains("sig_enforce"));
    }

    #[test]
    fn what_dkms_has_is_said_by_version_and_kernel() {
        let tree = "var/lib/dkms/furlong";
        let (_folder, places) = system(&[
            KERNEL,
            (&format!("{tree}/0.0.9/source/dkms.conf"), ""),
            (&format!("{tree}/0.1.0/source/dkms.conf"), ""),
            (&format!("{tree}/0.1.0/6.1.0-56-amd64/x86_64/module/furlong.ko"), ""),
            (&format!("{tree}/0.1.0/6.12.0-1-amd64/x86_64/module/furlong.ko"), ""),
            (&format!("{tree}/kernel-6.1.0-56-amd64-x86_64/module/furlong.ko"), ""),
        ]);
        assert_eq!(
            look(&places).dkms,
            [
                "furlong 0.0.9: added, built for no kernel",
                "furlong 0.1.0 for 6.1.0-56-amd64 (x86_64): installed",
                "furlong 0.1.0 for 6.12.0-1-amd64 (x86_64): built, not installed",
            ]
        );
    }

    #[test]
    fn only_what_was_built_for_this_kernel_counts() {
        let module = |kernel: &str| format!("\0vermagic={kernel} SMP\0");
        for (kernel, counts) in [("6.1.0-56-amd64", true), ("6.1.0-55-amd64", false)] {
            let (_folder, places) = system(&[KERNEL, ("workshop/furlong.ko", &module(kernel))]);
            assert_eq!(look(&places).built.is_some(), counts, "{kernel}");
        }
    }
}
