//! Files of adapters: programs that provide mechanisms, each in a directory with a manifest. The source of some
//! adapters is part of furlong. Installed adapters are in a directory of the user.
//!
//! The file `adapters/protocol.md` defines the protocol between furlong and an adapter. `bench::adapter` implements
//! it.
#![forbid(unsafe_code)]

pub mod installed;
pub mod manifest;
pub mod sources;

pub use manifest::{Manifest, ManifestError, Need, Row};
