//! The start time of a new process.

use crate::Subsystem;
use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The calls that start a process.
    StartMethod, "way to start a process" {
        /// `fork` only: a copy of the parent.
        Fork = "fork",
        /// `fork`, then `execve` of furlong's own binary.
        ForkExec = "fork-exec",
        /// `posix_spawn` of furlong's own binary: the parent is suspended until the new program is loaded, and none of
        /// its memory is copied.
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
    /// Returns the subsystem of the started program, if it is not furlong's own program.
    pub fn subsystem(self) -> Option<Subsystem> {
        match self {
            StartMethod::CreateProcessConsole => Some(Subsystem::Console),
            StartMethod::CreateProcessWindows => Some(Subsystem::Windows),
            _ => None,
        }
    }

    /// Returns whether it is a Windows call.
    pub fn is_of_windows(self) -> bool {
        self == StartMethod::CreateProcess || self.subsystem().is_some()
    }
}

/// Start times of processes: from the call to the first line that the new process writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartReading {
    /// The method that started them.
    pub method: StartMethod,
    /// The times in order, in nanoseconds; empty after a failure. For the first start, no cache of this run has the
    /// program.
    pub starts_ns: Vec<u64>,
    /// The reason why there are no times.
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
