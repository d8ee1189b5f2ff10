//! Names of a build for Windows.

use crate::sysroot::Target;

/// Rust target and linker.
pub const WINDOWS: Target =
    Target { triple: "x86_64-pc-windows-gnu", linker: "x86_64-w64-mingw32-gcc", panic: "unwind" };
