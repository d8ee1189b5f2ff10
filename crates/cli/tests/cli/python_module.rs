//! The Python module returns the same data of a run as the command.

use crate::common::Place;
use furlong_testing::skip;
use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[test]
fn its_own_tests_pass_with_this_command() {
    if Command::new("python3").arg("--version").output().is_err() {
        skip!("needs python3");
    }
    let place = Place::new();
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python-module");
    let command = Path::new(env!("CARGO_BIN_EXE_furlong")).parent().expect("a folder");
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([command.to_owned()].into_iter().chain(env::split_paths(&path)));
    let mut python =
        place.shell("exec python3 -B -m unittest discover --start-directory \"$PYTHONPATH/tests\" 2>&1");
    python.env("PYTHONPATH", module).env("PATH", path.expect("folders without a colon"));
    let tested = place.start(&mut python).finish_within(Duration::from_secs(120));
    assert_eq!(tested.code, Some(0), "{}", tested.stdout);
    assert!(tested.stdout.contains("\nOK"), "{}", tested.stdout);
}
