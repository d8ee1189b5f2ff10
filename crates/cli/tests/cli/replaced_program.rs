//! Replacement of furlong's own file while it runs.

use crate::common::Place;
use std::fs;

#[test]
fn run_goes_on_with_its_own_program_after_an_upgrade() {
    let place = Place::new();
    let copy = place.path("furlong");
    fs::copy(env!("CARGO_BIN_EXE_furlong"), &copy).unwrap();
    let path = copy.to_str().unwrap();
    for change in [format!("rm -f {path}"), format!("cp /bin/false {path}.new; mv -f {path}.new {path}")] {
        fs::copy(env!("CARGO_BIN_EXE_furlong"), &copy).unwrap();
        let program = format!("{change}; echo ready; sleep 0.01; echo done 1");
        let words =
            ["run", "pipe/block", "--program", &program, "--trials", "3", "--budget", "1ms", "--no-save"];
        let finished = place.finish(place.program(path).args(words)).expect_code(0);
        assert!(!finished.stdout.contains("failed"), "{finished:#?}");
        fs::remove_file(&copy).ok();
    }
}
