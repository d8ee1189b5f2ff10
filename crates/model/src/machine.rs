//! The facts about a machine that a figure depends on.

use crate::Conditions;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What runs programs: the system that they are for, or another that stands for it. In records `native`, or as in `wine-8.0`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Runtime {
    /// The system itself.
    #[default]
    Native,
    /// Wine of this version, which stands for Windows: what it measures is Wine and the system below it.
    Wine(String),
}

impl Runtime {
    /// Whether figures are those of the system itself.
    pub fn is_native(&self) -> bool {
        *self == Runtime::Native
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Runtime::Native => f.write_str("native"),
            Runtime::Wine(version) => write!(f, "wine-{version}"),
        }
    }
}

impl From<String> for Runtime {
    fn from(text: String) -> Runtime {
        text.strip_prefix("wine-").map_or(Runtime::Native, |version| Runtime::Wine(version.to_owned()))
    }
}

impl From<Runtime> for String {
    fn from(runtime: Runtime) -> String {
        runtime.to_string()
    }
}

/// What the run was measured on. A fact that could not be read is `None`, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// What it is called: what the system says, or the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Operating system, as in `Linux`.
    pub system: String,
    /// Kernel release, as in `6.1.0-18-amd64`.
    pub kernel: String,
    /// Instruction set, as in `x86_64`.
    pub architecture: String,
    /// Distribution, as in `Debian GNU/Linux 12 (bookworm)`.
    pub distribution: Option<String>,
    /// What runs programs of that system.
    pub runtime: Runtime,
    /// The processor's own name.
    pub processor: Option<String>,
    /// Processors that this process may use, by the kernel's numbers.
    pub processors: Vec<usize>,
    /// Whether processors share cores (simultaneous multithreading).
    pub threads_share_cores: Option<bool>,
    /// Caches of the first processor.
    pub caches: Vec<Cache>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// What the kernel does about processor faults, by fault.
    pub mitigations: Vec<(String, String)>,
    /// What the kernel reads time from, as in `tsc`.
    pub clock_source: Option<String>,
    /// The frequency governor, as in `performance`.
    pub governor: Option<String>,
    /// The deepest idle state, as in `POLL`, `C1`, `C6`.
    pub deepest_idle_state: Option<String>,
    /// When anonymous memory is given huge pages unasked: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// The same for shared memory, as in `never` or `within_size`.
    pub transparent_huge_pages_shared: Option<String>,
    /// The hypervisor, if the machine is virtual.
    pub hypervisor: Option<String>,
    /// Kernel limits that bear on mechanisms, by name.
    pub limits: Vec<(String, String)>,
    /// Whether trials ran in an IPC namespace of their own.
    pub private_ipc_namespace: bool,
    /// Whether the effective user is root.
    pub root: bool,
    /// Conditions of the process; `None` in records of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Box<Conditions>>,
}

/// One cache of a processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3.
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
        for runtime in [Runtime::Native, Runtime::Wine("8.0".to_owned())] {
            assert_eq!(Runtime::from(String::from(runtime.clone())), runtime);
        }
        // Records of before say nothing of it.
        assert!(serde_json::from_str::<Machine>("{}").unwrap().runtime.is_native());
    }
}
