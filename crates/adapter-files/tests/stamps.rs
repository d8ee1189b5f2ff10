//! Tests that the adapters of each language create and check the same message stamps as furlong (`stamps.json`). If a
//! program has both roles, the tests also cover its reaction to a damaged message.

use furlong_testing::skipped;
use std::path::Path;
use std::process::Command;

/// Runs a line of shell in the adapter's directory, if the tool is installed. `$OUT` is a directory for build output.
fn passes(adapter: &str, tool: &str, line: &str) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder.join(tool).is_file()) {
        return skipped(format_args!("stamps of adapter {adapter}"), format_args!("needs {tool}"));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters").join(adapter);
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-ec", line]).current_dir(folder).env("OUT", out.path());
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{adapter}: {said}");
}

#[test]
fn python_stamps_agree() {
    passes("python", "python3", "python3 stamps_test.py && python3 failures_test.py");
}

#[test]
fn node_stamps_agree() {
    passes("node", "node", "node stamps_test.js");
}

#[test]
fn c_stamps_agree() {
    passes(
        "c",
        "cc",
        "cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -o $OUT/test stamps_test.c && $OUT/test",
    );
}

#[test]
fn cxx_stamps_agree() {
    passes("cxx", "g++", "g++ -std=c++17 -o $OUT/test stamps_test.cpp && $OUT/test");
}

/// Tests that run only if slow tests are requested.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn go_stamps_agree() {
        // Go does not notice a changed file outside its module. Without `-count=1` it would print the cached result.
        passes("go", "go", "go test -count=1 .");
    }

    #[test]
    #[ignore = "slow"]
    fn java_stamps_agree() {
        passes("java", "javac", "javac -d $OUT *.java ../jvm/*.java && java -cp $OUT StampsTest");
    }
}
