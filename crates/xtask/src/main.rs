//! Chores that `cargo build` and `cargo test` cannot do: `cargo xtask ci` and `cargo xtask new-mechanism NAME`.
#![forbid(unsafe_code)]

mod ci;
mod new_mechanism;

use std::process::ExitCode;

const USAGE: &str = "cargo xtask ci                     format, lint, test, and the README's first command
cargo xtask new-mechanism NAME     write a mechanism that works, to be changed, and put it in the list";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["ci"] => ci::run(),
        ["new-mechanism", name] => new_mechanism::write(name),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Into::into).unwrap_or_default()
}
