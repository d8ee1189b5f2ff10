//! What adapters are: programs that carry mechanisms, each a folder with a manifest. Some are part of furlong as source, and
//! those that were installed are in a folder of the user's.
//!
//! How furlong talks with them is `adapters/protocol.md`, and `bench::adapter` does it.
#![forbid(unsafe_code)]

pub mod installed;
pub mod manifest;
pub mod sources;

pub use manifest::{Manifest, ManifestError, Need, Row};
