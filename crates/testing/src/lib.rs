//! Skips tests on machines that lack a facility. libtest has no such result and reports a test that returns early as
//! passed, so `skip!` prints a line about it, and fails if CI should have run the test.
#![forbid(unsafe_code)]

use std::fmt::Arguments;
use std::io::Write;

/// The facilities that the machine of `.ci/run` may lack: a privileged Debian container in a virtual machine, whose
/// kernel (6.18) has no kprobes and loads no modules. Only a skip whose reason begins with one of them passes in CI.
const MISSING_IN_CI: [&str; 1] = [
    // `.ci/run` supports ordinary users. Its machine runs it as root, where this reason does not occur.
    "needs root",
];

/// Returns from the test that calls it and prints `skipped: TEST: REASON` on stderr, which libtest does not capture. The
/// arguments are those of `format!`; the reason begins with `needs FACILITY`. It panics instead if `CI` is set, unless
/// [`MISSING_IN_CI`] lists the facility.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        fn here() {}
        return $crate::skipped(::std::any::type_name_of_val(&here), ::std::format_args!($($reason)+));
    }};
}

/// Reports that the test around the function `here` is skipped.
///
/// # Panics
///
/// Panics if `CI` is set, unless CI may lack what the test needs.
#[doc(hidden)]
pub fn skipped(here: &str, reason: Arguments<'_>) {
    let (test, reason) = (here.trim_end_matches("::here"), reason.to_string());
    let is_expected = MISSING_IN_CI.iter().any(|missing| reason.starts_with(missing));
    assert!(is_expected || std::env::var_os("CI").is_none(), "{test} must not be skipped in CI: {reason}");
    // One call of write, so that no other test writes into the line. `eprintln!` would be captured.
    let _ = std::io::stderr().write_all(format!("skipped: {test}: {reason}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    #[test]
    #[ignore = "child of the test below"]
    fn child_lacks_a_facility() {
        let None::<u8> = None else { panic!() };
        skip!("needs {}", std::env::var("FACILITY").unwrap());
    }

    /// Runs the test above in a process with this environment.
    fn run_child(facility: &str, ci: Option<&str>) -> Output {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--ignored", "--exact", "tests::child_lacks_a_facility"]).env("FACILITY", facility);
        match ci {
            Some(value) => child.env("CI", value),
            None => child.env_remove("CI"),
        };
        child.output().unwrap()
    }

    #[test]
    fn skip_is_printed_and_fails_in_ci_unless_expected() {
        let line = "skipped: furlong_testing::tests::child_lacks_a_facility: needs a ladder\n";
        let output = run_child("a ladder", None);
        assert!(output.status.success() && output.stderr == line.as_bytes(), "{output:?}");
        let output = run_child("a ladder", Some("true"));
        let message = "child_lacks_a_facility must not be skipped in CI: needs a ladder";
        assert!(
            !output.status.success() && String::from_utf8_lossy(&output.stdout).contains(message),
            "{output:?}"
        );
        assert!(run_child("root", Some("true")).status.success());
    }
}
