//! Lines of the user's own programs in unusual orders: no output of a program is dropped, and each time is the time
//! of its event.

use crate::common::{FinishedCommand, Place};

fn measure(place: &Place, program: &str) -> FinishedCommand {
    let words = [
        "run",
        "--program",
        program,
        "--trials",
        "1",
        "--budget",
        "1ms",
        "--no-save",
        "--timeout",
        "1s",
        "--format",
        "json",
    ];
    place.run(words)
}

fn p50_ns(measured: &FinishedCommand) -> f64 {
    measured.summary().rows[0].figures["round_trip_ns"]["p50"].as_f64().expect("a time")
}

#[test]
fn program_that_closes_its_output_is_timed_until_its_end() {
    let place = Place::new();
    for program in ["echo ready; exec >&-; sleep 0.05", "exec >&-; sleep 0.05"] {
        let measured = measure(&place, program).expect_code(0);
        let p50_ns = p50_ns(&measured);
        assert!(p50_ns >= 50e6, "{program}: {p50_ns} ns");
    }
}

#[test]
fn last_line_without_its_end_counts() {
    let place = Place::new();
    let measured = measure(&place, "echo ready; sleep 0.01; printf 'done 10'").expect_code(0);
    assert!(measured.stdout.contains("\"counts\": true"), "{}", measured.stdout);
    let refused = measure(&place, "printf 'ready\\nresult: 5\\ndone 10'").expect_code(1);
    assert!(refused.stdout.contains("two of its lines"), "{refused:#?}");
    // In an earlier version, a program that ended right after a further line got the time of the deadline.
    let p50_ns = p50_ns(&measure(&place, "printf 'ready\\nresult: 5\\n'").expect_code(0));
    assert!(p50_ns < 1e9, "{p50_ns} ns");
}
