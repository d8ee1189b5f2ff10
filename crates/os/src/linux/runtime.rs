//! The runtime of this process: the Linux kernel itself or a substitute, and the container.

use crate::linux::limits::sysctl;
use furlong_model::Runtime;
use std::fs::{read_link, read_to_string};
use std::path::Path;

/// Build time that gVisor reports in every version, in `uname`.
const GVISOR_VERSION: &str = "#1 SMP Sun Jan 10 15:06:54 PST 2016";

/// Namespaces that furlong never enters itself, and their links in the first namespace (`PROC_PID_INIT_INO` and others).
const FIRST_NAMESPACES: [(&str, &str); 3] =
    [("pid", "pid:[4026531836]"), ("uts", "uts:[4026531838]"), ("cgroup", "cgroup:[4026531835]")];

/// Files that container engines create, and the names of the engines. The engine writes its name into the first file.
const CONTAINER_FILES: [(&str, &str); 4] = [
    ("/run/systemd/container", ""),
    ("/run/.containerenv", "podman"),
    ("/.dockerenv", "docker"),
    ("/.flatpak-info", "flatpak"),
];

/// Returns the runtime, from the release and the version of the kernel.
pub(super) fn runtime(release: &str, version: &str) -> Runtime {
    // An emulator of user programs shows the emulated program in /proc/self, but not in /proc/thread-self.
    let link = |path: &str| read_link(path).ok();
    if let (Some(shown), Some(real)) = (link("/proc/self/exe"), link("/proc/thread-self/exe"))
        && shown != real
    {
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        return Runtime::Emulator(name.trim_end_matches("-static").to_owned());
    }
    kernel(release, version)
}

/// Returns the kernel, or its substitute. The kernel of WSL 2 is Linux, and its release is in lower case.
fn kernel(release: &str, version: &str) -> Runtime {
    if version == GVISOR_VERSION || release.ends_with("-gvisor") {
        return Runtime::Gvisor;
    }
    if release.ends_with("-Microsoft") { Runtime::Wsl1 } else { Runtime::Native }
}

/// Returns the kind of container, the separate namespaces of an unknown container, or `none`.
pub(super) fn container() -> String {
    let is_separate = |(kind, first): &(&str, &str)| {
        read_link(format!("/proc/self/ns/{kind}")).is_ok_and(|link| link != Path::new(first))
    };
    let separate: Vec<_> =
        FIRST_NAMESPACES.iter().filter(|found| is_separate(found)).map(|(kind, _)| *kind).collect();
    if separate.is_empty() {
        return "none".to_owned();
    }
    let unknown = || format!("namespaces {}", separate.join(", "));
    engine().unwrap_or_else(unknown)
}

/// Returns the name of the container's engine.
fn engine() -> Option<String> {
    if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        return Some("kubernetes".to_owned());
    }
    if sysctl("kernel.osrelease").is_some_and(|release| release.to_lowercase().contains("microsoft")) {
        return Some("wsl".to_owned());
    }
    let named = std::env::var("container").ok().filter(|name| !name.is_empty());
    named.or_else(|| {
        let (file, name) = CONTAINER_FILES.iter().find(|(file, _)| Path::new(file).exists())?;
        if !name.is_empty() {
            return Some((*name).to_owned());
        }
        read_to_string(file).ok().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substitutes_are_known_by_the_names_of_their_kernels() {
        let found = [
            kernel("4.4.0", GVISOR_VERSION),
            kernel("4.19.0-gvisor", ""),
            kernel("4.4.0-19041-Microsoft", "#1 SMP"),
            kernel("5.15.90.1-microsoft-standard-WSL2", "#1 SMP"),
            kernel("4.4.0-210-generic", "#242-Ubuntu SMP"),
        ];
        assert_eq!(
            found,
            [Runtime::Gvisor, Runtime::Gvisor, Runtime::Wsl1, Runtime::Native, Runtime::Native]
        );
    }

    #[test]
    fn this_process_is_not_emulated() {
        assert!(!runtime("6.12.0", "#1 SMP").is_emulation());
    }
}
