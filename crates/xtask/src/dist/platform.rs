//! What a release is for, and of.

use crate::arm::{EMULATION, NAMESPACES};

/// A kind of processor under Linux. The program for it needs no library, and so no version of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    /// As Rust calls it.
    pub triple: &'static str,
    /// As Linux calls the processor.
    pub machine: &'static str,
    /// As Debian does.
    pub debian: &'static str,
    /// The compiler whose C library is linked.
    pub compiler: &'static str,
}

/// What is in a program that is released, and not in one that is compiled to be tried.
pub const FEATURES: [&str; 2] = ["--features", "parquet"];

/// What all of the release is for, and what its parts are made with.
pub const X86_64: Platform =
    Platform { triple: "x86_64-unknown-linux-gnu", machine: "x86_64", debian: "amd64", compiler: "gcc" };

/// 64-bit ARM, for which programs are compiled here and run in emulation.
pub const ARM: Platform = Platform {
    triple: crate::arm::ARM.triple,
    machine: "aarch64",
    debian: "arm64",
    compiler: crate::arm::ARM.linker,
};

impl Platform {
    /// What a file of the release is for, by its name.
    pub fn of_file(name: &str) -> Platform {
        let is_for_arm = [ARM.machine, ARM.debian].iter().any(|word| name.contains(word));
        if is_for_arm { ARM } else { X86_64 }
    }

    /// What `unshare` is told so that a program for it runs here, and what a shell is told in there.
    pub fn emulation(self) -> (&'static [&'static str], &'static str) {
        if self == ARM { (&NAMESPACES, EMULATION) } else { (&["--mount"], "") }
    }

    /// What is said of how a program for it ran.
    pub fn how(self) -> &'static str {
        if self == ARM { ", in emulation" } else { "" }
    }
}
