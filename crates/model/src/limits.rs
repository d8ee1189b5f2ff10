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
}

impl Limits {
    /// Memory is the only limit.
    pub fn none() -> Self {
        Limits { max_size_bytes: None, limited_by: String::new(), remedy: String::new() }
    }

    /// At most `max_size_bytes` a message, because of `limited_by`; `remedy` would raise it.
    pub fn at(max_size_bytes: usize, limited_by: impl Into<String>, remedy: impl Into<String>) -> Self {
        Limits { max_size_bytes: Some(max_size_bytes), limited_by: limited_by.into(), remedy: remedy.into() }
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
}
