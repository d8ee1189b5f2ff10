//! A child of the console subsystem.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    furlong_subsystems::run()
}
