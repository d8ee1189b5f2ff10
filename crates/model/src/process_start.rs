//! How long a new process takes to come to life.

use crate::InvalidName;
use crate::name::named;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The calls by which a process is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartMethod {
    /// `fork` alone: a copy of the parent.
    Fork,
    /// `fork`, then `execve` of furlong's own binary.
    ForkExec,
    /// `posix_spawn` of furlong's own binary: the parent stands still until the new program is loaded, and nothing of
    /// it is copied.
    PosixSpawn,
}

impl StartMethod {
    /// All of them.
    pub const ALL: [StartMethod; 3] = [StartMethod::Fork, StartMethod::ForkExec, StartMethod::PosixSpawn];

    /// The name in experiments and records.
    pub const fn name(self) -> &'static str {
        match self {
            StartMethod::Fork => "fork",
            StartMethod::ForkExec => "fork-exec",
            StartMethod::PosixSpawn => "posix-spawn",
        }
    }
}

impl fmt::Display for StartMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for StartMethod {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        named("way to start a process", text, StartMethod::ALL, StartMethod::name)
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
