//! The facts about a machine that a figure depends on.

use serde::{Deserialize, Serialize};

/// What the run was measured on. A fact that could not be read is `None`, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Operating system, as in `Linux`.
    pub system: String,
    /// Kernel release, as in `6.1.0-18-amd64`.
    pub kernel: String,
    /// Instruction set, as in `x86_64`.
    pub architecture: String,
    /// Distribution, as in `Debian GNU/Linux 12 (bookworm)`.
    pub distribution: Option<String>,
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
    /// The hypervisor, if the machine is virtual.
    pub hypervisor: Option<String>,
    /// Kernel limits that bear on mechanisms, by name.
    pub limits: Vec<(String, String)>,
    /// Whether trials ran in an IPC namespace of their own.
    pub private_ipc_namespace: bool,
    /// Whether the effective user is root.
    pub root: bool,
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
