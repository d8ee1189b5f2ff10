//! Diagnoses why the driver cannot be used, and names one next step.

use crate::build;
use crate::state::{LoadingBlocked, State};
use furlong_model::Unavailable;

/// Returns why the driver cannot be used; `None` if it can.
pub fn diagnose(state: &State) -> Option<Unavailable> {
    match &state.loaded {
        None => Some(not_loaded(state)),
        Some(_) => not_usable(state),
    }
}

fn not_loaded(state: &State) -> Unavailable {
    let kernel = &state.kernel;
    if let Some(blocked) = state.loading_blocked {
        let remedy = match blocked {
            LoadingBlocked::NoModules => {
                "boot a kernel with support for modules, such as a distribution's; in a container, load the driver on the host"
            }
            LoadingBlocked::Disabled => "remove the setting kernel.modules_disabled=1, and reboot",
        };
        return Unavailable::new(format!("the driver is not loaded: {}", blocked.reason(kernel)), remedy);
    }
    if !state.installed.is_empty() {
        return installed_but_not_loaded(state);
    }
    if state.built.is_some() {
        return Unavailable::new(
            "the driver is not loaded: it is built, but not installed",
            "sudo furlong driver install",
        );
    }
    let reason = format!("the driver is not loaded: it is not installed for Linux {kernel}");
    let mut packages: Vec<_> = state.missing_tools.iter().map(|tool| (*tool).to_owned()).collect();
    if state.headers.is_none() {
        packages.push(build::headers_package(kernel));
    }
    if packages.is_empty() {
        return Unavailable::new(reason, "sudo furlong driver install");
    }
    let reason = format!("{reason}, and build requirements are missing");
    Unavailable::new(
        reason,
        format!("{}; then: sudo furlong driver install", build::remedy_by_packages(&packages)),
    )
}

fn installed_but_not_loaded(state: &State) -> Unavailable {
    if let Some(why) = &state.only_signed {
        return Unavailable::new(
            format!("the driver is installed but not loaded: {why}, and accepts only signed modules"),
            "sudo mokutil --import /var/lib/dkms/mok.pub (the key with which DKMS signs), reboot, confirm; then: \
             sudo modprobe furlong",
        );
    }
    let remedy = if state.listed { "sudo modprobe furlong" } else { "sudo depmod && sudo modprobe furlong" };
    Unavailable::new("the driver is installed but not loaded", remedy)
}

fn not_usable(state: &State) -> Option<Unavailable> {
    if let Some(file) = state.plain_files.first() {
        let file = file.display();
        return Some(Unavailable::new(
            format!("{file} is a regular file: a program wrote to it while the driver was not loaded"),
            format!("sudo rm {file}; then: sudo modprobe -r furlong && sudo modprobe furlong"),
        ));
    }
    if state.devices.is_empty() {
        return Some(Unavailable::new(
            "the driver is loaded, but the kernel lists none of its devices (/sys/class/misc)",
            "mount -t sysfs sysfs /sys if it is not mounted; otherwise: sudo modprobe -r furlong && sudo modprobe furlong",
        ));
    }
    let device = state.devices.iter().find(|device| !device.is_usable())?;
    let Some(node) = &device.node else {
        return Some(Unavailable::new(
            format!("the driver is loaded, but /dev/{} does not exist", device.name),
            "mount devtmpfs on /dev, or run udev; for a container, pass the devices to it",
        ));
    };
    let remedy = match node.group.as_str() {
        "furlong" => "sudo usermod -aG furlong \"$USER\", and log in again",
        _ => {
            "sudo furlong driver install --group; then: sudo usermod -aG furlong \"$USER\", and log in again"
        }
    };
    let (path, mode) = (node.path.display(), &node.mode);
    Some(Unavailable::new(
        format!("this user cannot read and write {path} (mode {mode}, owner {}:{})", node.owner, node.group),
        remedy,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::{KERNEL, system, with_driver};
    use crate::state::{State, read};
    use std::fs;

    const MODULES: (&str, &str) = ("proc/modules", "");
    const INSTALLED: (&str, &str) = ("lib/modules/6.1.0-56-amd64/updates/furlong.ko", "");

    /// Returns the state of a system that has these files and a compiler.
    fn state(files: &[(&str, &str)]) -> State {
        State { missing_tools: Vec::new(), ..read(&system(&[&[KERNEL], files].concat()).1) }
    }

    #[track_caller]
    fn expect(state: &State, reason: &str, remedy: &str) {
        let cause = diagnose(state).expect("a cause");
        assert!(cause.reason.contains(reason), "no '{reason}' in {cause:?}");
        assert!(cause.remedy.contains(remedy), "no '{remedy}' in {cause:?}");
    }

    #[test]
    fn a_driver_that_can_be_used_has_no_cause() {
        let (_folder, files) = with_driver();
        assert!(diagnose(&read(&files)).is_none());
    }

    #[test]
    fn the_first_obstacle_is_named_with_the_way_around_it() {
        expect(&state(&[INSTALLED]), "without support for modules", "boot a kernel with support for modules");
        let off = ("proc/sys/kernel/modules_disabled", "1\n");
        expect(&state(&[MODULES, INSTALLED, off]), "loading modules is disabled", "reboot");
        expect(&state(&[MODULES]), "not installed for Linux 6.1.0-56-amd64", "linux-headers-6.1.0-56-amd64");
        let headers = ("lib/modules/6.1.0-56-amd64/build/Makefile", "");
        let cause = diagnose(&state(&[MODULES, headers])).unwrap();
        assert_eq!(cause.remedy, "sudo furlong driver install");
        let bare = State { missing_tools: vec!["gcc"], ..state(&[MODULES, headers]) };
        expect(&bare, "build requirements are missing", "apt install gcc;");
        let built = ("built/furlong.ko", "\0vermagic=6.1.0-56-amd64 SMP\0");
        expect(&state(&[MODULES, built]), "it is built, but not installed", "sudo furlong driver install");
        expect(&state(&[MODULES, INSTALLED]), "installed but not loaded", "sudo depmod");
        let list = ("lib/modules/6.1.0-56-amd64/modules.dep", "updates/furlong.ko:\n");
        let listed = state(&[MODULES, INSTALLED, list]);
        assert_eq!(diagnose(&listed).unwrap().remedy, "sudo modprobe furlong");
        let locked = ("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
        expect(&state(&[MODULES, INSTALLED, list, locked]), "locked down (integrity)", "mokutil --import");
    }

    #[test]
    fn a_loaded_driver_that_cannot_be_used_says_why() {
        let (folder, files) = with_driver();
        let mut state = read(&files);
        if let Some(node) = &mut state.devices[1].node {
            node.may_open = false;
        }
        expect(&state, "cannot read and write", "install --group");
        if let Some(node) = &mut state.devices[1].node {
            node.group = "furlong".to_owned();
        }
        expect(&state, "owner root:furlong", "sudo usermod -aG furlong");
        fs::remove_file(folder.path().join("dev/furlong-shm0")).unwrap();
        expect(&read(&files), "/dev/furlong-shm0 does not exist", "devtmpfs");
        fs::write(folder.path().join("dev/furlong-shm0"), "").unwrap();
        expect(&read(&files), "is a regular file", "sudo rm ");
        fs::remove_file(folder.path().join("dev/furlong-shm0")).unwrap();
        fs::remove_dir_all(folder.path().join("sys/class")).unwrap();
        expect(&read(&files), "lists none of its devices", "sysfs");
    }
}
