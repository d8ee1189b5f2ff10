//! `furlong map`: the latency of every pair of CPUs, in each format.

use crate::common::value::{at, list, number, text};
use crate::common::{Place, look_for};
use furlong_os::affinity;
use furlong_testing::skip;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(30);

/// Returns the first two CPUs that this process may use, if there are two.
fn two_cpus() -> Option<[usize; 2]> {
    match affinity::allowed().unwrap()[..] {
        [first, second, ..] => Some([first, second]),
        _ => None,
    }
}

#[test]
fn bare_map_has_a_latency_for_each_pair() {
    let Some([first, second]) = two_cpus() else { skip!("needs two processors") };
    let (place, cpus) = (Place::new(), format!("{first},{second}"));
    let map = |options: &[&str]| {
        let fixed = ["map", "--cpus", &cpus, "--trials", "3"];
        place.run(fixed.into_iter().chain(options.iter().copied())).expect_code(0)
    };
    let table = map(&["-o", "map.svg"]);
    assert!(table.stdout.starts_with("Round trip of a bare cache line between 2 CPUs in "), "{table:?}");
    let row = format!("\n{first} ");
    assert!(table.stdout.contains(&row) && table.stdout.contains("--place"), "{}", table.stdout);
    assert_eq!(table.stderr, "heat map written to map.svg\n");
    let picture = std::fs::read_to_string(place.path("map.svg")).unwrap();
    assert!(
        picture.starts_with("<svg") && picture.contains(&format!("CPU {first} and {second}, ")),
        "{picture}"
    );

    let json = map(&["--format", "json", "--seed", "7"]).json();
    let [pair] = list(&json, "pairs") else { panic!("{json:#}") };
    assert_eq!(at(pair, "cpus"), &serde_json::json!([first, second]));
    assert!(number(pair, "ns") > 1.0, "{json:#}");
    assert_eq!((number(&json, "seed"), number(&json, "all_pairs")), (7.0, 1.0));
    assert_eq!((list(&json, "cpus").len(), list(&json, "relations").len()), (2, 1));

    let csv = map(&["--format", "csv"]).stdout;
    let lines: Vec<_> = csv.lines().collect();
    assert!(lines[0].starts_with("first_cpu,second_cpu,relation,"), "{csv}");
    assert!(lines.len() == 2 && lines[1].starts_with(&format!("{first},{second},")), "{csv}");
}

#[test]
fn map_of_a_benchmark_is_a_run_with_a_placement_per_pair() {
    let Some([first, second]) = two_cpus() else { skip!("needs two processors") };
    let place = Place::new();
    let cpus = format!("{first},{second}");
    let finished = place
        .run(["map", "pipe/block", "--cpus", &cpus, "--trials", "3", "--save", "map", "--format", "json"])
        .expect_code(0);
    let json = finished.json();
    assert_eq!(text(&json, "benchmark"), "pipe/block 128B");
    let [pair] = list(&json, "pairs") else { panic!("{json:#}") };
    assert!(number(pair, "ns") > 100.0, "{json:#}");
    assert_eq!(place.records("map", "trial"), 3);
    let shown = place.run(["runs", "show", "map"]).expect_code(0).stdout;
    assert!(shown.contains(&format!("on CPUs {first} and {second}, blocking")), "{shown}");
}

#[test]
fn interrupted_map_has_the_trials_until_then() {
    let Some([first, second]) = two_cpus() else { skip!("needs two processors") };
    let place = Place::new();
    let cpus = format!("{first},{second}");
    let arguments = ["map", "--trials", "1000", "--format", "json", "--cpus", &cpus];
    let running = place.start(&mut place.furlong(arguments));
    // Children start after the signal handlers are installed.
    look_for(A_WHILE, || (place.processes().len() > 1).then_some(())).expect("processes of a pair");
    running.signal(libc::SIGINT);
    let finished = running.finish_within(A_WHILE).expect_code(130).expect_complaint("the result is partial");
    let trials = list(&finished.json(), "pairs").first().map_or(0.0, |pair| number(pair, "trials"));
    assert!(trials < 1000.0, "{finished:?}");
    assert_eq!(place.processes().len(), 0);
}

#[test]
fn requests_that_no_map_can_show_are_rejected() {
    let first = affinity::allowed().unwrap()[0].to_string();
    let rejected = |options: &[&str], words: &str| {
        let place = Place::new();
        let arguments = ["map"].into_iter().chain(options.iter().copied());
        let finished = place.run(arguments).expect_code(2).expect_complaint(words).expect_no_panic();
        assert_eq!(finished.stdout, "", "{finished:?}");
    };
    rejected(&["--cpus", "1-"], "numbers and ranges");
    rejected(
        &["--cpus", &format!("{first},60000")],
        "CPU 60000 does not exist or is not allowed; choose from ",
    );
    rejected(&["--cpus", &first], "--cpus must name two CPUs or more");
    rejected(&["-s", "4KiB"], "ROW");
    rejected(&["--save", "bare"], "--save needs ROW");
    rejected(&["pip"], "did you mean pipe?");
    rejected(&["*/spin"], "benchmarks, and a map shows one");
    rejected(&["null"], "has one end");
    rejected(&["-o", "."], "is a directory");
    rejected(&["--trials", "0"], "--trials must be between 1 and 1000, got 0");
}

#[test]
fn process_with_one_cpu_has_no_map() {
    let place = Place::new();
    let finished = place.finish(
        &mut place.shell("taskset -c $(taskset -cp $$ | sed 's/.*: \\([0-9]*\\).*/\\1/') \"$FURLONG\" map"),
    );
    finished.expect_code(7).expect_complaint("only one CPU, and a map needs two").expect_no_panic();
}

#[test]
fn missing_relation_is_refused_with_the_valid_names() {
    let allowed = affinity::allowed().unwrap();
    let topology = furlong_os::topology::read(&allowed);
    let place = Place::new();
    for pair in furlong_model::RelatedPair::ALL {
        let placement = format!("--place={pair}");
        let run =
            place.run(["run", "pipe/block", "--trials", "1", "--budget", "1ms", "--no-save", &placement]);
        match topology.pair(pair) {
            Some(_) => drop(run.expect_code(0)),
            None => {
                let why = format!("this process may not use {}", pair.description());
                drop(run.expect_code(7).expect_complaint(&why).expect_complaint("use --place "));
            }
        }
    }
}
