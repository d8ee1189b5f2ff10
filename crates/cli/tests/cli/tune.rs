//! `furlong tune` and settings of the kernel: each is measured next to none. `cargo xtask faults` ends runs that have changed some.

use crate::common::Place;
use crate::common::value::{list, text};
use std::fs;

fn setting() -> String {
    fs::read_to_string("/proc/sys/vm/stat_interval").expect("a sysctl of every kernel")
}

#[test]
fn every_condition_is_compared_with_none() {
    let place = Place::new();
    let words =
        "tune pipe unix-stream --sched batch --nice 7 --trials 3 --budget 2ms --no-progress --no-save";
    let tuning = place.run(words.split(' ').chain(["--format", "json"])).expect_code(0).json();
    let benchmarks = list(&tuning, "benchmarks");
    let names: Vec<_> = benchmarks.iter().map(|benchmark| text(benchmark, "row")).collect();
    assert_eq!(names.len(), 2, "{tuning:#}");
    for benchmark in benchmarks {
        let effects = list(benchmark, "effects");
        let mut conditions: Vec<_> = effects.iter().map(|effect| text(effect, "condition")).collect();
        conditions.sort_unstable();
        assert_eq!(conditions, ["nice 7", "sched batch", "sched other"], "{benchmark:#}");
        let placebos: Vec<_> = effects.iter().filter(|effect| effect["is_placebo"] == true).collect();
        assert_eq!(placebos.len(), 1, "{benchmark:#}");
        assert_eq!(text(placebos[0], "condition"), "sched other");
    }
    let table = place.run(words.split(' ')).expect_code(0).stdout;
    for word in ["placebo (sched other)", "vs none", "nice 7"] {
        assert!(table.contains(word), "no {word} in {table}");
    }
}

#[test]
fn what_cannot_be_tuned_is_rejected() {
    let place = Place::new();
    for (words, expected) in [
        ("tune", "name a benchmark"),
        ("tune pipe --watch", "use furlong run --watch"),
        ("tune pipe --format csv", "--format table, json and markdown"),
        ("tune pipe --set stat_interval=1", "write NAME=VALUE"),
        ("run pipe --set /etc/passwd=1", "write NAME=VALUE"),
    ] {
        let error = place.run(words.split(' ')).expect_code(2).stderr;
        assert!(error.contains(expected), "{words}: {error}");
    }
    let refused =
        place.run("run pipe --set vm.no_such_setting=1 --no-progress".split(' ')).expect_code(7).stdout;
    assert!(refused.contains("no such setting"), "{refused}");
    let before = setting();
    let refused =
        place.run("run pipe --set vm.stat_interval=many --no-progress".split(' ')).expect_code(7).stdout;
    assert!(refused.contains("vm.stat_interval=many cannot be set"), "{refused}");
    assert_eq!(setting(), before);
}
