//! Requested settings of the kernel: sysctls and files of `/sys`.

use super::{ConditionKind, RequestedCondition};
use std::fmt;

/// Longest value in bytes.
const LONGEST_VALUE: usize = 200;

/// A setting of the kernel and its requested value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KernelSetting {
    /// Name of a sysctl, or path below `/sys` with at most one `*` for several devices.
    name: String,
    /// Requested value. Words are separated by one space.
    value: String,
}

impl KernelSetting {
    fn parse(text: &str) -> Option<KernelSetting> {
        let (name, value) = text.split_once('=')?;
        let is_name = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        let is_step = |part: &str| !part.is_empty() && part != "." && part != "..";
        let is_valid = match name.strip_prefix("/sys/") {
            Some(path) => path.split('/').all(is_step) && path.matches('*').count() < 2,
            None => name.contains('.') && name.split('.').all(is_name),
        };
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_printable = [name, &value].iter().all(|text| !text.contains(char::is_control));
        let fits = !value.is_empty() && value.len() <= LONGEST_VALUE;
        (is_valid && is_printable && fits).then(|| KernelSetting { name: name.to_owned(), value })
    }

    /// Returns the path of the setting's file, in which a `*` means every device.
    pub fn path(&self) -> String {
        if self.name.starts_with('/') {
            self.name.clone()
        } else {
            format!("/proc/sys/{}", self.name.replace('.', "/"))
        }
    }

    /// Returns the requested value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns the line of a file that sets the value at every boot (sysctl.d(5), tmpfiles.d(5)).
    fn permanent(&self) -> String {
        if self.name.starts_with('/') {
            format!("/etc/tmpfiles.d/furlong.conf: w {} - - - - {}", self.name, self.value)
        } else {
            format!("/etc/sysctl.d/90-furlong.conf: {} = {}", self.name, self.value)
        }
    }
}

impl fmt::Display for KernelSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

/// Settings of the kernel.
pub(super) static KERNEL_SETTING: ConditionKind = ConditionKind {
    name: "set",
    placeholder: "NAME=VALUE",
    help: "Set a sysctl or file during each trial: vm.swappiness=1. A file begins with /sys/ and may have one *. Can be \
           repeated",
    read: |text| KernelSetting::parse(text).map(RequestedCondition::KernelSetting),
    valid: "write NAME=VALUE, as in net.core.busy_poll=50 or /sys/kernel/mm/transparent_hugepage/enabled=never",
    applies: |_, _| true,
    candidates: &[
        "kernel.sched_autogroup_enabled=0",
        "kernel.numa_balancing=0",
        "kernel.timer_migration=0",
        "kernel.watchdog=0",
        "net.core.busy_poll=50",
        "/sys/kernel/mm/transparent_hugepage/enabled=always",
        "/sys/kernel/mm/transparent_hugepage/shmem_enabled=advise",
        "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor=performance",
        "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us=n/a",
    ],
    neutral: None,
    permanent: |condition| match condition {
        RequestedCondition::KernelSetting(setting) => setting.permanent(),
        _ => String::new(),
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_a_file_of_the_kernel() {
        let path = |text| KernelSetting::parse(text).map(|setting| setting.path());
        assert_eq!(path("net.core.busy_poll=50").as_deref(), Some("/proc/sys/net/core/busy_poll"));
        assert_eq!(path("/sys/kernel/mm/ksm/run=0").as_deref(), Some("/sys/kernel/mm/ksm/run"));
        for invalid in [
            "",
            "busy_poll=50",
            "net.core.busy_poll",
            "net.core.busy_poll=",
            "net..busy_poll=1",
            "net.core/../x=1",
            "/sys/../etc/passwd=x",
            "/etc/passwd=x",
            "/sys/a*/b*=1",
            "kernel.x=1\u{1b}",
        ] {
            assert_eq!(path(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn values_are_compared_without_tabs() {
        let setting = KernelSetting::parse("net.ipv4.tcp_rmem=4096\t8192  16384").unwrap();
        assert_eq!(setting.to_string(), "net.ipv4.tcp_rmem=4096 8192 16384");
        assert_eq!(setting.permanent(), "/etc/sysctl.d/90-furlong.conf: net.ipv4.tcp_rmem = 4096 8192 16384");
    }

    #[test]
    fn candidates_can_be_requested() {
        for kind in super::super::CONDITION_KINDS {
            for candidate in kind.candidates {
                let condition = kind.read(candidate).unwrap();
                assert_eq!(condition.value(), *candidate);
                assert!(!condition.permanent().is_empty(), "{candidate}");
            }
        }
    }
}
