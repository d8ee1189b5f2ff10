//! The facts about a machine that affect figures.

use crate::Conditions;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The runtime of programs: the operating system itself, or a substitute for it. In records `native`, or for example
/// `wine-8.0`, `qemu-aarch64` or `gvisor`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Runtime {
    /// The operating system itself.
    #[default]
    Native,
    /// Wine of this version, a substitute for Windows. Figures are those of Wine and the system below it.
    Wine(String),
    /// An emulator of the CPU for one program, by the name of its program. Figures are those of the emulator.
    Emulator(String),
    /// gVisor, which implements the calls of Linux in a process.
    Gvisor,
    /// WSL 1, which implements the calls of Linux in the kernel of Windows. WSL 2 has a Linux kernel.
    Wsl1,
}

impl Runtime {
    /// Returns whether figures prove the code and not the speed.
    pub fn is_emulation(&self) -> bool {
        matches!(self, Runtime::Wine(_) | Runtime::Emulator(_))
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Runtime::Native => f.write_str("native"),
            Runtime::Wine(version) => write!(f, "wine-{version}"),
            Runtime::Emulator(name) => f.write_str(name),
            Runtime::Gvisor => f.write_str("gvisor"),
            Runtime::Wsl1 => f.write_str("wsl-1"),
        }
    }
}

impl From<String> for Runtime {
    fn from(text: String) -> Runtime {
        if let Some(version) = text.strip_prefix("wine-") {
            return Runtime::Wine(version.to_owned());
        }
        match text.as_str() {
            "" | "native" => Runtime::Native,
            "gvisor" => Runtime::Gvisor,
            "wsl-1" => Runtime::Wsl1,
            _ => Runtime::Emulator(text),
        }
    }
}

impl From<Runtime> for String {
    fn from(runtime: Runtime) -> String {
        runtime.to_string()
    }
}

/// The machine of a run. A fact that could not be read is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Host name, from the system or from the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Operating system, for example `Linux`.
    pub system: String,
    /// Kernel release, for example `6.1.0-18-amd64`.
    pub kernel: String,
    /// Instruction set, for example `x86_64`.
    pub architecture: String,
    /// Distribution, for example `Debian GNU/Linux 12 (bookworm)`.
    pub distribution: Option<String>,
    /// The runtime of programs for that system.
    pub runtime: Runtime,
    /// Name of the CPU, as it reports it.
    pub processor: Option<String>,
    /// Numbers of the CPUs that this process may use.
    pub processors: Vec<usize>,
    /// CPUs of `other-core`, if they are not the first two cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_choice: Option<Box<CoreChoice>>,
    /// Whether CPUs share cores (simultaneous multithreading).
    pub threads_share_cores: Option<bool>,
    /// Caches of the first CPU.
    pub caches: Vec<Cache>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// The kernel's mitigations of CPU vulnerabilities, by vulnerability.
    pub mitigations: Vec<(String, String)>,
    /// The kernel's clock source, for example `tsc`.
    pub clock_source: Option<String>,
    /// The frequency governor, for example `performance`.
    pub governor: Option<String>,
    /// The deepest idle state, for example `POLL`, `C1`, `C6`.
    pub deepest_idle_state: Option<String>,
    /// When anonymous memory gets huge pages automatically: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// When shared memory gets huge pages automatically, for example `never` or `within_size`.
    pub transparent_huge_pages_shared: Option<String>,
    /// The hypervisor, if the machine is virtual.
    pub hypervisor: Option<String>,
    /// Kernel limits that affect mechanisms, by name.
    pub limits: Vec<(String, String)>,
    /// Whether trials ran in a separate IPC namespace.
    pub private_ipc_namespace: bool,
    /// Whether the effective user is root.
    pub root: bool,
    /// Conditions of the process; `None` in records of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Box<Conditions>>,
}

/// CPUs of `other-core`, if device interrupts decided the choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreChoice {
    /// Chosen CPUs.
    pub cpus: [usize; 2],
    /// First CPUs of two cores, which serve more interrupts.
    pub instead_of: [usize; 2],
    /// Device interrupts per second that `instead_of` serve.
    pub interrupts_per_s: u64,
}

/// A cache of a CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// Level: 1, 2 or 3.
    pub level: u8,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Capacity in bytes.
    pub size_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_read_as_they_are_written() {
        for runtime in [
            Runtime::Native,
            Runtime::Wine("8.0".to_owned()),
            Runtime::Emulator("qemu-aarch64".to_owned()),
            Runtime::Gvisor,
            Runtime::Wsl1,
        ] {
            assert_eq!(Runtime::from(String::from(runtime.clone())), runtime);
        }
        // Older records do not contain the runtime.
        assert_eq!(serde_json::from_str::<Machine>("{}").unwrap().runtime, Runtime::Native);
    }
}
