//! Common code of the two programs that differ only in their subsystem: they are furlong's children.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Runs a child, and exits with status 2 for any other start.
pub fn run() -> ExitCode {
    match furlong_bench::requested_child() {
        Some(control) => ExitCode::from(furlong_bench::child_main(furlong_bench::registry, control) as u8),
        None => ExitCode::from(2),
    }
}
