//! What one machine allows a mechanism, or why it has none.

use serde::{Deserialize, Serialize};

/// How large a message this machine lets a mechanism carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The largest message in bytes; `None` means memory is the only limit.
    pub max_size_bytes: Option<usize>,
    /// Which limit that is, in words; empty without a limit.
    pub limited_by: String,
    /// How to raise it; empty where nothing can.
    pub remedy: String,
    /// The largest message in bytes that is lent in one piece, where that is less than one that is copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_in_place_bytes: Option<usize>,
}

impl Limits {
    /// Memory is the only limit.
    pub fn none() -> Self {
        Limits {
            max_size_bytes: None,
            limited_by: String::new(),
            remedy: String::new(),
            max_in_place_bytes: None,
        }
    }

    /// At most `max_size_bytes` a message, because of `limited_by`; `remedy` would raise it.
    pub fn at(max_size_bytes: usize, limited_by: impl Into<String>, remedy: impl Into<String>) -> Self {
        Limits {
            max_size_bytes: Some(max_size_bytes),
            limited_by: limited_by.into(),
            remedy: remedy.into(),
            ..Limits::none()
        }
    }

    /// The same, with at most `bytes` of a message lent in one piece.
    #[must_use]
    pub fn in_place_up_to(self, bytes: usize) -> Self {
        Limits { max_in_place_bytes: Some(bytes), ..self }
    }
}

/// A mechanism, size or way of waiting that cannot be had here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Unavailable {
    /// Why not.
    pub reason: String,
    /// What would help; empty if nothing would.
    pub remedy: String,
}

impl Unavailable {
    /// Cannot be had because of `reason`; `remedy` would help.
    pub fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Unavailable { reason: reason.into(), remedy: remedy.into() }
    }

    /// The system call of this name cannot be made, because of `error`: `since` says which kernels have it, and `allow`
    /// what helps where it is forbidden.
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
