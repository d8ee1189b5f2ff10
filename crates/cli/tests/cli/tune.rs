//! `furlong tune` and settings of the kernel: each is measured next to none, and restored after any end.

use crate::common::value::{list, text};
use crate::common::{Place, is_root, look_for};
use std::fs;
use std::time::Duration;

const SETTING: &str = "/proc/sys/vm/stat_interval";

fn setting() -> u32 {
    fs::read_to_string(SETTING).expect("a sysctl of every kernel").trim().parse().expect("a number")
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
}

#[test]
fn a_setting_is_in_effect_and_restored() {
    if !is_root() {
        furlong_testing::skip!("needs root");
    }
    let (place, before) = (Place::new(), setting());
    let value = before + 7;
    let words =
        format!("run pipe --set vm.stat_interval={value} --trials 400 --budget 5ms --no-progress --save run");
    let mut running = place.start(&mut place.furlong(words.split(' ')));
    let seen = look_for(Duration::from_secs(30), || (setting() == value).then_some(()));
    assert!(seen.is_some() && !running.has_ended(), "{}", running.finish().stderr);
    // The cleanup process restores the setting.
    running.signal(libc::SIGKILL);
    running.finish();
    let restored = look_for(Duration::from_secs(30), || (setting() == before).then_some(()));
    assert!(restored.is_some(), "{SETTING} is {} instead of {before}", setting());
    // The kernel rejects a value, and nothing changes.
    let refused =
        place.run("run pipe --set vm.stat_interval=many --no-progress".split(' ')).expect_code(7).stdout;
    assert!(refused.contains("vm.stat_interval=many cannot be set"), "{refused}");
    assert_eq!(setting(), before);
}
