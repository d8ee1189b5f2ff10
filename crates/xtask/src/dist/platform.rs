//! Platforms of a release.

use crate::arm::{EMULATION, NAMESPACES};

/// A CPU architecture under Linux. The program for it is static, so it depends on no version of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    /// Rust target triple.
    pub triple: &'static str,
    /// CPU architecture as `uname -m` prints it.
    pub machine: &'static str,
    /// Debian architecture.
    pub debian: &'static str,
    /// The compiler whose C library is linked.
    pub compiler: &'static str,
}

/// Features of a released program that test builds leave out.
pub const FEATURES: [&str; 2] = ["--features", "parquet"];

/// Platform of the full release and of the tools that build it.
pub const X86_64: Platform =
    Platform { triple: "x86_64-unknown-linux-gnu", machine: "x86_64", debian: "amd64", compiler: "gcc" };

/// 64-bit ARM, whose programs are cross-compiled and run in emulation.
pub const ARM: Platform = Platform {
    triple: crate::arm::ARM.triple,
    machine: "aarch64",
    debian: "arm64",
    compiler: crate::arm::ARM.linker,
};

impl Platform {
    /// Returns the platform in the name of a release file.
    pub fn from_file_name(name: &str) -> Platform {
        let is_for_arm = [ARM.machine, ARM.debian].iter().any(|word| name.contains(word));
        if is_for_arm { ARM } else { X86_64 }
    }

    /// Returns the arguments of `unshare` and the shell commands that make a program for the platform run here.
    pub fn emulation(self) -> (&'static [&'static str], &'static str) {
        if self == ARM { (&NAMESPACES, EMULATION) } else { (&["--mount"], "") }
    }

    /// Returns a note on how a program for the platform was run.
    pub fn how(self) -> &'static str {
        if self == ARM { ", in emulation" } else { "" }
    }
}
