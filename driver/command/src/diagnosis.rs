//! Why the driver cannot be used, and the one thing to do about it next.

use crate::build;
use crate::state::{LoadingBlocked, State};
use furlong_model::Unavailable;

/// Why it cannot be used; `None` if it can.
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
                "start a kernel that loads modules, as every distribution's does; in a container, load it on the host"
            }
            LoadingBlocked::Disabled => "restart the machine without what sets kernel.modules_disabled=1",
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
    let reason = format!("{reason}, and what it is built with is missing");
    Unavailable::new(
        reason,
        format!("{}; then: sudo furlong driver install", build::remedy_by_packages(&packages)),
    )
}

fn installed_but_not_loaded(state: &State) -> Unavailable {
    if let Some(why) = &state.only_signed {
        return Unavailable::new(
            format!("the driver is installed and not loaded: {why}, and takes only modules that are signed"),
            "sudo mokutil --import /var/lib/dkms/mok.pub (the key that DKMS signs with), restart, confirm; then: \
             sudo modprobe furlong",
        );
    }
    let remedy = if state.listed { "sudo modprobe furlong" } else { "sudo depmod && sudo modprobe furlong" };
    Unavailable::new("the driver is installed and not loaded", remedy)
}

fn not_usable(state: &State) -> Option<Unavailable> {
    if let Some(file) = state.plain_files.first() {
        let file = file.display();
        return Some(Unavailable::new(
            format!("{file} is a plain file: something wrote to it while the driver was not loaded"),
            format!("sudo rm {file}; then: sudo modprobe -r furlong && sudo modprobe furlong"),
        ));
    }
    if state.devices.is_empty() {
        return Some(Unavailable::new(
            "the driver is loaded, and the kernel lists no device of it (/sys/class/misc)",
            "mount -t sysfs sysfs /sys, if that is not there; else: sudo modprobe -r furlong && sudo modprobe furlong",
        ));
    }
    let device = state.devices.iter().find(|device| !device.is_usable())?;
    let Some(node) = &device.node else {
        return Some(Unavailable::new(
            format!("the driver is loaded, and /dev/{} is not there", device.name),
            "mount devtmpfs on /dev, or run udev; in a container, pass the devices on to it",
        ));
    };
    let remedy = match node.group.as_str() {
        "furlong" => "sudo usermod -aG furlong \"$USER\", and log in anew",
        _ => "sudo furlong driver install --group; then: sudo usermod -aG furlong \"$USER\", and log in anew",
    };
    let (path, mode) = (node.path.display(), &node.mode);
    Some(Unavailable::new(
        format!(
            "this user may not read and write {path}, which has mode {mode} and belongs to {}:{}",
            node.owner, node.group
        ),
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

    /// What is known of a system of these files on which a compiler is there.
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
        expect(&state(&[INSTALLED]), "load no modules", "start a kernel that loads modules");
        let off = ("proc/sys/kernel/modules_disabled", "1\n");
        expect(&state(&[MODULES, INSTALLED, off]), "switched off", "restart");
        expect(&state(&[MODULES]), "not installed for Linux 6.1.0-56-amd64", "linux-headers-6.1.0-56-amd64");
        let headers = ("lib/modules/6.1.0-56-amd64/build/Makefile", "");
        let cause = diagnose(&state(&[MODULES, headers])).unwrap();
        assert_eq!(cause.remedy, "sudo furlong driver install");
        let bare = State { missing_tools: vec!["gcc"], ..state(&[MODULES, headers]) };
        expect(&bare, "what it is built with is missing", "apt install gcc;");
        let built = ("built/furlong.ko", "\0vermagic=6.1.0-56-amd64 SMP\0");
        expect(&state(&[MODULES, built]), "it is built, but not installed", "sudo furlong driver install");
        expect(&state(&[MODULES, INSTALLED]), "installed and not loaded", "sudo depmod");
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
        expect(&state, "may not read and write", "install --group");
        if let Some(node) = &mut state.devices[1].node {
            node.group = "furlong".to_owned();
        }
        expect(&state, "belongs to root:furlong", "sudo usermod -aG furlong");
        fs::remove_file(folder.path().join("dev/furlong-shm0")).unwrap();
        expect(&read(&files), "/dev/furlong-shm0 is not there", "devtmpfs");
        fs::write(folder.path().join("dev/furlong-shm0"), "").unwrap();
        expect(&read(&files), "is a plain file", "sudo rm ");
        fs::remove_file(folder.path().join("dev/furlong-shm0")).unwrap();
        fs::remove_dir_all(folder.path().join("sys/class")).unwrap();
        expect(&read(&files), "lists no device", "sysfs");
    }
}
