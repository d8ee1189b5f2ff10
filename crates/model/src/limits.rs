//! The limits of a mechanism on one machine, or the reason why it is unavailable.

use serde::{Deserialize, Serialize};

/// The message sizes that a mechanism supports on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The largest message in bytes; `None` if only memory limits it.
    pub max_size_bytes: Option<usize>,
    /// Description of the limit; empty without a limit.
    pub limited_by: String,
    /// How to raise the limit; empty if that is impossible.
    pub remedy: String,
    /// The largest message in bytes for zero-copy access, if it is smaller than the largest copied message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_in_place_bytes: Option<usize>,
}

impl Limits {
    /// Returns limits without a limit other than memory.
    pub fn none() -> Self {
        Limits {
            max_size_bytes: None,
            limited_by: String::new(),
            remedy: String::new(),
            max_in_place_bytes: None,
        }
    }

    /// Returns a limit of `max_size_bytes` per message, because of `limited_by`. `remedy` would raise it.
    pub fn at(max_size_bytes: usize, limited_by: impl Into<String>, remedy: impl Into<String>) -> Self {
        Limits {
            max_size_bytes: Some(max_size_bytes),
            limited_by: limited_by.into(),
            remedy: remedy.into(),
            ..Limits::none()
        }
    }

    /// Returns the limits with at most `bytes` per message for zero-copy access.
    #[must_use]
    pub fn in_place_up_to(self, bytes: usize) -> Self {
        Limits { max_in_place_bytes: Some(bytes), ..self }
    }
}

/// A mechanism, size or wait strategy that is unavailable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Unavailable {
    /// The reason.
    pub reason: String,
    /// A remedy; empty if there is none.
    pub remedy: String,
}

impl Unavailable {
    /// Returns an error with a reason and a remedy.
    pub fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Unavailable { reason: reason.into(), remedy: remedy.into() }
    }

    /// Returns the error of a system call that is unavailable because of `error`. `since` describes the kernels that
    /// have it, and `allow` the remedy if it is forbidden.
    pub fn call(name: &str, error: &std::io::Error, since: &str, allow: &str) -> Self {
        match error.kind() {
            std::io::ErrorKind::Unsupported => {
                Unavailable::new(format!("the kernel lacks {name} (ENOSYS)"), format!("needs {since}"))
            }
            std::io::ErrorKind::PermissionDenied => {
                Unavailable::new(format!("{name} is forbidden here (EPERM): {error}"), allow)
            }
            _ => Unavailable::new(format!("{name} fails here: {error}"), allow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn what_is_forbidden_is_told_from_what_there_is_not() {
        let of = |kind| Unavailable::call("shmget", &Error::from(kind), "Linux 1.0", "allow it");
        let (lacking, forbidden) = (of(ErrorKind::Unsupported), of(ErrorKind::PermissionDenied));
        assert!(lacking.reason.contains("ENOSYS") && lacking.remedy == "needs Linux 1.0", "{lacking:?}");
        assert!(forbidden.reason.contains("EPERM") && forbidden.remedy == "allow it", "{forbidden:?}");
    }
}
