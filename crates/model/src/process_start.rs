//! How long a new process takes to come to life.

use crate::Subsystem;
use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The calls by which a process is started.
    StartMethod, "way to start a process" {
        /// `fork` alone: a copy of the parent.
        Fork = "fork",
        /// `fork`, then `execve` of furlong's own binary.
        ForkExec = "fork-exec",
        /// `posix_spawn` of furlong's own binary: the parent stands still until the new program is loaded, and nothing of
        /// it is copied.
        PosixSpawn = "posix-spawn",
        /// `CreateProcess` of furlong's own binary, on Windows.
        CreateProcess = "create-process",
        /// `CreateProcess` of a small program of the console subsystem, on Windows.
        CreateProcessConsole = "create-process-console",
        /// `CreateProcess` of a small program of the windows subsystem, on Windows.
        CreateProcessWindows = "create-process-windows",
    }
}

impl StartMethod {
    /// The subsystem of the program that is started, where that is not furlong's own.
    pub fn subsystem(self) -> Option<Subsystem> {
        match self {
            StartMethod::CreateProcessConsole => Some(Subsystem::Console),
            StartMethod::CreateProcessWindows => Some(Subsystem::Windows),
            _ => None,
        }
    }

    /// Whether it is a call of Windows.
    pub fn is_of_windows(self) -> bool {
        self == StartMethod::CreateProcess || self.subsystem().is_some()
    }
}

/// How long processes took to come to life: from the call to the first word that the new process says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartReading {
    /// How they were started.
    pub method: StartMethod,
    /// Each, in order and in nanoseconds; empty if it failed. The first one finds nothing of itself in any cache of
    /// this run.
    pub starts_ns: Vec<u64>,
    /// Why there are no times, if there are none.
    pub trouble: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_written() {
        for method in StartMethod::ALL {
            assert_eq!(method.name().parse(), Ok(method));
            assert_eq!(serde_json::to_value(method).unwrap(), method.name());
        }
    }
}
