//! What all of the release is for.

/// The program needs no library, and so no version of one.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";
