//! What the parts of a build for Windows are called.

use crate::sysroot::Target;

/// What Windows is called as a target, and what links for it.
pub const WINDOWS: Target =
    Target { triple: "x86_64-pc-windows-gnu", linker: "x86_64-w64-mingw32-gcc", panic: "unwind" };
