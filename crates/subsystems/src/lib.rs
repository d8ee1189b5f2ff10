//! What the two programs do that differ in nothing but their subsystem: they are furlong's children.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// The life of a child; any other start is refused.
pub fn run() -> ExitCode {
    match furlong_bench::requested_child() {
        Some(control) => ExitCode::from(furlong_bench::child_main(furlong_bench::registry, control) as u8),
        None => ExitCode::from(2),
    }
}
