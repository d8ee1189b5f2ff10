//! Skips tests on machines that lack a facility. libtest has no such result and reports a test that returns early as
//! passed, so `skip!` prints a line about it, and fails if CI should have run the test.
#![forbid(unsafe_code)]

pub mod damage;

use std::fmt::Display;
use std::io::Write;

/// Facilities that the machine of `.ci/run` may lack: a privileged Debian container in a virtual machine, whose kernel
/// (6.18) has no kprobes and loads no modules. Any other skip fails if `CI` is set.
pub const MISSING_IN_CI: &[&str] = &[
    // `.ci/run` supports ordinary users. Its machine runs it as root, where nothing is skipped for this reason.
    "root",
    // The virtual machine gives its guest none.
    "hardware counters",
    // Adapters are tested in these languages if their compilers are installed.
    "g++",
    "go",
    "javac",
    "node",
    // The tests of the driver install them later.
    "kernel headers",
    // The unit tests run before the stage that installs it, that of the kernel module.
    "busybox",
    // Mechanisms of kernel modules: furlong's own, which is only loaded in an emulated machine, and vsock_loopback.
    "driver-message",
    "driver-shm",
    "vsock",
];

/// Returns from the test that calls it, and reports the skip with the test's name ([`skipped`]). The arguments are those
/// of `format!`: `needs FACILITY` or `needs FACILITY: DETAIL`.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        fn here() {}
        let test = ::std::any::type_name_of_val(&here).trim_end_matches("::here");
        return $crate::skipped(test, ::std::format_args!($($reason)+));
    }};
}

/// Prints `skipped: SUBJECT: REASON` on stderr, which libtest does not capture. The subject is a test or a part of one.
///
/// # Panics
///
/// Panics if `CI` is set, unless [`MISSING_IN_CI`] lists the facility.
pub fn skipped(subject: impl Display, reason: impl Display) {
    let reason = reason.to_string();
    let facility = reason.strip_prefix("needs ").and_then(|rest| rest.split(": ").next()).unwrap_or_default();
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    let is_expected = !is_ci || MISSING_IN_CI.contains(&facility);
    assert!(is_expected, "{subject} must not be skipped in CI: {reason}");
    // One call of write, so that no other test writes into the line. `eprintln!` would be captured.
    let _ = std::io::stderr().write_all(format!("skipped: {subject}: {reason}\n").as_bytes());
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
        assert!(run_child("root: uid 1", Some("true")).status.success());
    }
}
