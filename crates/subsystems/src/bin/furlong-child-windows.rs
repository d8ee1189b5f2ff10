//! A child of the windows subsystem.
#![forbid(unsafe_code)]
#![windows_subsystem = "windows"]

fn main() -> std::process::ExitCode {
    furlong_subsystems::run()
}
