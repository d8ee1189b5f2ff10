//! Replacements for Linux-only modules on other systems. Each reports why the feature is missing.

pub mod boundary;
pub mod count;
pub mod message_trace;
pub(crate) mod own_programs;
pub mod role_boundary;
pub mod two_networks;
