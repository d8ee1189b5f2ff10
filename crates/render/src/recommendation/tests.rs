//! Snapshots of recommendations, and what hostile names become in them.

use super::*;
use crate::object::assert_has_all;
use crate::{Style, printed};
use furlong_analysis::{
    Answer, DecodedRun, EliminatedCandidate, RankedBenchmark, Run, Sensitivity, WorkloadChange, places,
    recommend,
};
use furlong_fixture::recommendation::{MEMORY, MeasuredRow, PIPE, POLLED, SOCKET, records};
use furlong_model::{Boundary, Objective, Pattern, Placement, Record, Trust, Wait, Workload};

/// Prints a recommendation with all details.
fn recommendation_table(found: &Recommendation, style: Style) -> String {
    printed::recommendation_table(found, RecommendationDetail::WHOLE, style)
}

/// Prints a recommendation without details.
fn short(found: &Recommendation) -> String {
    printed::recommendation_table(found, RecommendationDetail::default(), Style::default())
}

fn made(workload: Workload) -> Recommendation {
    let rows = [
        ("pipe", Wait::Block, 50_000.0, 2),
        ("unix-seqpacket", Wait::Block, 50_200.0, 1),
        ("posix-shm", Wait::Futex, 30_000.0, 5),
        ("posix-shm", Wait::Spin, 300.0, 5),
    ];
    measured(workload, &rows)
}

fn measured(workload: Workload, rows: &[MeasuredRow]) -> Recommendation {
    recommend(&DecodedRun::of(&Run::from_records(records(workload, rows)).unwrap())).unwrap()
}

fn frames() -> Workload {
    Workload {
        pattern: Pattern::OneWay,
        size_bytes: 4 << 20,
        interval_ns: Some(16_666_667),
        slo: "p99<2ms".parse().ok(),
        boundaries: vec![Boundary::Container],
        trust: Trust::None,
        receivers: 3,
        ..Workload::default()
    }
}

#[test]
fn a_recommendation_for_a_terminal() {
    insta::assert_snapshot!(recommendation_table(&made(frames()), Style::default()));
}

#[test]
fn a_short_recommendation_for_a_terminal() {
    insta::assert_snapshot!(short(&made(frames())));
}

#[test]
fn short_recommendation_has_the_best_benchmarks_and_the_choice() {
    let mut found = made(Workload::default());
    let named = |at: usize| RankedBenchmark { mechanism: format!("other-{at}"), ..found.ranked[1].clone() };
    let others: Vec<_> = (0..20).map(named).collect();
    found.ranked.splice(1..1, others);
    found.choice = found.ranked.last().cloned();
    found.provisional = true;
    found.run.noise.level = furlong_analysis::Level::Unreliable;
    found.run.noise.reasons = vec![furlong_analysis::Disturbance::SpinLost { share: 0.26 }];
    let text = short(&found);
    assert!(text.lines().count() <= 25, "{text}");
    let choice = found.choice.unwrap().name();
    assert!(text.lines().any(|line| line.starts_with(&format!("{choice} "))), "{text}");
    for expected in [
        " more: --all\n",
        "\nWARNING: unreliable machine (26.0 % of the benchmarks' CPU time was lost",
        "\nRecommendation (provisional): ",
        "\nThe answer changes if: ",
        "\nRejected: ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn forbidden_calls_are_listed_with_all_mechanisms() {
    let mut found = made(Workload::default());
    let reason = "forbidden by the boundary seccomp:docker: the filter forbids the system call io_uring_enter; allow it";
    for number in 0..5 {
        let (mechanism, reason) = (format!("ring-{number}"), reason.to_owned());
        found.excluded.push(furlong_model::ExcludedBenchmark { mechanism, wait: None, reason });
    }
    let text = short(&found).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("system call io_uring_enter: ring-0, ring-1, ring-2, ring-3, ring-4"), "{text}");
}

#[test]
fn a_recommendation_for_programs() {
    let made = made(Workload::default());
    let text = recommendation_json(&made);
    assert_has_all(&text, &made);
    insta::assert_snapshot!(text);
}

#[test]
fn a_rate_that_no_row_carries_is_no_answer_and_says_how_much_is_carried() {
    let mut found = made(Workload { interval_ns: Some(10_000), ..Workload::default() });
    found.run.partial = false;
    let said = |found: &Recommendation| {
        let text = recommendation_table(found, Style::default());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = said(&found);
    assert!(
        text.contains("No recommendation: no benchmark carries 100,000/s here without busy-waiting"),
        "{text}"
    );
    assert!(text.contains("with --spin posix-shm/spin carries it: median "), "{text}");
    assert!(text.contains("highest rate posix-shm/futex with "), "{text}");
    found.carried_by_spinning = None;
    let text = said(&found);
    assert!(
        text.contains("no benchmark carries 100,000/s here highest rate posix-shm/futex with "),
        "{text}"
    );
    assert!(!text.contains("no mechanism of this machine") && !text.contains("--spin"), "{text}");
    found.run.noise.level = furlong_analysis::Level::Unreliable;
    let text = said(&found);
    assert!(
        text.contains("No recommendation: no benchmark carried 100,000/s on this busy machine"),
        "{text}"
    );
    assert!(text.contains("repeat when furlong doctor finds it fit"), "{text}");
}

#[test]
fn what_holds_at_both_levels_stands_beside_the_choice() {
    let levels = furlong_analysis::Regimes {
        core_to_core_ns: [[62.0, 64.0], [310.0, 312.0]],
        readings: [2, 2],
        groups: Vec::new(),
    };
    let found = Recommendation { two_levels: Some(levels), ..made(Workload::default()) };
    let text = recommendation_table(&found, Style::default());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("round trip had two levels: 62 to 64 ns in 2 readings, and 310 to 312 ns in 2."),
        "{text}"
    );
}

#[test]
fn an_answer_says_whether_it_is_the_one_of_before() {
    let answer = Answer::of(&made(Workload::default()), Placement::OtherCore).unwrap();
    let after = |row: &str| {
        let text = recommendation_table(
            &made(Workload::default()).after(&Answer { row: row.to_owned(), ..answer.clone() }),
            Style::default(),
        );
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let same = after(&answer.row);
    assert!(
        same.contains("Recommendation: ")
            && same.contains("The answer was the same at 2026-03-31 23:33 UTC."),
        "{same}"
    );
    let other = after("tcp/block");
    assert!(other.contains("Recommendation (provisional): ") && !other.contains("was unreliable"), "{other}");
    assert!(
        other.contains("At 2026-03-31 23:33 UTC the answer was tcp/block: between the two runs"),
        "{other}"
    );
}

/// Formats a recommendation as one line of text.
fn line(found: &Recommendation) -> String {
    let text = recommendation_table(found, Style::default());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a recommendation from a run that ended before the trials of this number.
fn ended(before: u32) -> Recommendation {
    let rows = [PIPE, SOCKET, MEMORY, POLLED];
    let mut all = records(Workload::default(), &rows);
    all.retain(|record| !matches!(record, Record::Trial(trial) if trial.number >= before));
    recommend(&DecodedRun::of(&Run::from_records(all).unwrap())).unwrap()
}

#[test]
fn interruption_is_not_reported_as_lack_of_time() {
    for (trials, count) in [(3, "a few short trials"), (2, "Fewer than three trials")] {
        let mut found = ended(trials);
        (found.if_spinning, found.spinning_not_compared) = (None, Some(String::new()));
        assert!(found.run.partial);
        let text = line(&found);
        assert!(text.contains("interrupted before") || trials == 2, "{text}");
        assert!(
            text.contains(count) && text.contains("was not compared: the run was interrupted."),
            "{text}"
        );
        assert!(!text.contains("time was over") && !text.contains("--within"), "{text}");
        found.run.partial = false;
        let text = line(&found);
        assert!(text.contains("A longer --within compares it") && !text.contains("interrupted"), "{text}");
    }
    let text = line(&ended(3));
    assert!(
        text.contains("The run was interrupted before the longer look: these are figures of the early look"),
        "{text}"
    );
}

#[test]
fn tied_row_of_the_same_effort_is_not_more_work() {
    let equal = ("pipe", Wait::Block, 50_000.0, 1);
    let text = line(&measured(Workload::default(), &[equal, SOCKET]));
    let expected = "tied with unix-seqpacket/block (same or more effort)";
    assert!(text.contains(expected), "{text}");
    let text = line(&measured(Workload::default(), &[PIPE, SOCKET]));
    assert!(text.contains("tied with pipe/block (more effort)"), "{text}");
}

#[test]
fn rows_with_fewer_than_three_trials_are_not_compared() {
    let found = ended(2);
    assert_eq!(places(&found.ranked, Objective::Latency), [1, 1, 1]);
    let text = line(&found);
    let expected = "Fewer than three trials of each were measured before the run was interrupted, so no difference \
                    between them is significant";
    assert!(
        text.contains(expected) && text.contains("Recommendation (provisional): posix-shm/futex"),
        "{text}"
    );
    for expected in [
        "Less integration effort: pipe/block has too few trials for a comparison (",
        "Busy-waiting (--spin): posix-shm/spin has too few trials for a comparison (",
        "--trust none: pipe/block, with too few trials for a comparison (both can write it).",
        "= no two benchmarks of this place are significantly different.",
        "=1 pipe/block ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("times as ") && !text.contains("next best") && !text.contains("~ "), "{text}");
    assert!(!text.contains("1.67x"), "{text}");
    // The choice alone has too few trials.
    let mut found = made(Workload::default());
    let without = |row: &mut RankedBenchmark| (row.figure_ci95, row.times_interval) = (None, None);
    found.choice.as_mut().map(without);
    found.ranked.iter_mut().for_each(|row| row.times_interval = None);
    without(&mut found.ranked[0]);
    let text = line(&found);
    assert!(text.contains("Fewer than three trials of posix-shm/futex were measured"), "{text}");
    // Only another benchmark has too few trials.
    let mut found = made(Workload::default());
    without(&mut found.ranked[2]);
    let text = line(&found);
    let expected = "next best pipe/block at 1.67x (1.62-1.72); 1 with fewer than three trials not compared";
    assert!(text.contains(expected) && !text.contains("no difference"), "{text}");
}

#[test]
fn negligible_budget_names_the_simpler_row_and_contradicts_no_choice() {
    let text = line(&made(Workload { interval_ns: Some(10_000_000), ..Workload::default() }));
    let expected = "of the time between two messages (10.0 ms), so a faster mechanism would gain little; pipe/block needs less \
                    integration effort, and its median of 51.0 us is below 1 % too";
    assert!(text.contains(expected) && text.contains("Less integration effort: pipe/block"), "{text}");
    assert!(!text.contains("does not matter"), "{text}");
    let text =
        line(&measured(Workload { interval_ns: Some(10_000_000), ..Workload::default() }, &[PIPE, SOCKET]));
    assert!(text.contains("would gain little integration 1: "), "{text}");
    // The simpler row takes more than a hundredth.
    let text = line(&made(Workload { interval_ns: Some(4_000_000), ..Workload::default() }));
    assert!(text.contains("would gain little integration 5: "), "{text}");
}

#[test]
fn rows_that_were_dropped_and_tied_stand_beside_the_choice() {
    let mut found = made(Workload::default());
    let dropped = |mechanism: &str, times_interval: Option<[f64; 2]>| EliminatedCandidate {
        mechanism: mechanism.to_owned(),
        wait: Wait::Block,
        trials: 3,
        times: times_interval.map(|[_, high]| high),
        times_interval,
        than: "posix-shm/futex".to_owned(),
    };
    found.eliminated = vec![
        dropped("fifo", Some([0.9, 1.2])),
        dropped("udp", Some([0.8, 0.9])),
        dropped("tcp", Some([1.5, 2.5])),
    ];
    let text = line(&found);
    let expected = "Not measured longer, but not significantly slower than posix-shm/futex in the early look: fifo/block, \
                    udp/block.";
    assert!(text.contains("next best ") && text.contains(expected), "{text}");
    let room = "not in the longer look, which has room for at most 8 that block (fewer if the time is short): the simplest, \
                then the best of each family, the second best of each, and the rest; in the early look";
    assert!(text.contains(room), "{text}");
    found.eliminated.push(dropped("vsock", None));
    let text = line(&found);
    assert!(
        text.contains("Not measured longer, with fewer than three trials in the early look: 1."),
        "{text}"
    );
    found.eliminated = vec![dropped("tcp", Some([1.5, 2.5]))];
    assert!(!line(&found).contains("Not measured longer"), "it was slower");
}

#[test]
fn simplicity_orders_by_effort_and_says_so() {
    let simplicity = Workload { objective: Objective::Simplicity, ..Workload::default() };
    let text = line(&made(simplicity.clone()));
    let legend = "effort: integration effort, which determines the order, and then the median;";
    assert!(
        text.contains(legend) && text.contains("same effort none: all others need more integration effort"),
        "{text}"
    );
    assert!(text.contains("1 unix-seqpacket/block") && text.contains(" 2 pipe/block"), "{text}");
    let equal = [("pipe", Wait::Block, 50_000.0, 1), SOCKET, ("tcp", Wait::Block, 90_000.0, 1), MEMORY];
    let text = line(&measured(simplicity, &equal));
    let expected =
        "same effort unix-seqpacket/block, tcp/block (not significantly slower: unix-seqpacket/block)";
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains("= all benchmarks of this place have the same effort and tie with each other."),
        "{text}"
    );
}

#[test]
fn change_of_the_answer_is_compared_by_the_objective() {
    let found = |objective| {
        let mut found = made(Workload { objective, ..Workload::default() });
        found.sensitivities = vec![Sensitivity {
            change: WorkloadChange::Size { size_bytes: 8 },
            reason: String::new(),
            instead: Some("pipe/block".to_owned()),
            times: Some(0.25),
            measured: true,
            misses_slo: false,
            tie: false,
        }];
        line(&found)
    };
    let slo = "p50<1ms".parse().ok();
    let mut misses = made(Workload { slo, ..Workload::default() });
    misses.sensitivities[0].reason.clear();
    misses.sensitivities[0].misses_slo = true;
    let text = line(&misses);
    assert!(text.contains(" (posix-shm/futex then misses p50 < 1 ms)."), "{text}");
    let latency = found(Objective::Latency);
    assert!(latency.contains("--size 8B: pipe/block is 4.00 times as fast as posix-shm/futex."), "{latency}");
    let cpu = found(Objective::Cpu);
    assert!(cpu.contains("--size 8B: pipe/block takes 0.25 times as much CPU time as "), "{cpu}");
    let simplicity = found(Objective::Simplicity);
    assert!(simplicity.contains("--size 8B: pipe/block, with integration effort 2."), "{simplicity}");
}

#[test]
fn rows_that_miss_the_slo_tie_by_their_interval_alone() {
    let slo = |text: &str| Workload { slo: text.parse().ok(), ..Workload::default() };
    let (pipe, socket) = (("pipe", Wait::Block, 50_000.0, 2), ("unix-seqpacket", Wait::Block, 50_200.0, 1));
    let text = line(&measured(slo("p50<51.1us"), &[pipe, socket]));
    let expected = "next best none: no other benchmark meets p50 < 51.1 us; by the median alone, unix-seqpacket/block ties with \
                    the first but misses p50 < 51.1 us";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("unix-seqpacket/block 51.2 us") && text.contains(" no 1 ~ 1.004x ("), "{text}");
    assert!(text.contains("SLO: p50 < 51.1 us; benchmarks that miss it come last."), "{text}");
    let queue = ("posix-mq", Wait::Block, 80_000.0, 3);
    let text = line(&measured(slo("p50<70us"), &[("posix-shm", Wait::Futex, 30_000.0, 5), pipe, queue]));
    let expected = "next best pipe/block at 1.67x (1.62-1.71); 2 benchmarks meet p50 < 70 us";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn slo_of_a_percentile_that_needs_more_samples_is_unknown() {
    let slo = |text: &str| Workload { slo: text.parse().ok(), ..Workload::default() };
    let unknown = |row: &mut RankedBenchmark| {
        let verdict = row.slo.as_mut().unwrap();
        (verdict.holds, verdict.measured_ns) = (None, None);
    };
    let mut found = made(slo("p99<2ms"));
    found.run.partial = false;
    unknown(found.choice.as_mut().unwrap());
    unknown(found.simpler.as_mut().map(|other| &mut other.row).unwrap());
    found.ranked.iter_mut().for_each(unknown);
    let text = line(&found);
    assert!(
        text.contains("p99 < 2 ms unknown: p99 needs 1,000 samples, got 18000; a longer --within"),
        "{text}"
    );
    assert!(
        text.contains(", and whether it meets p99 < 2 ms is unknown; effort 2: do this and that."),
        "{text}"
    );
    assert!(text.contains(" – 5 1.00x") && text.contains(" – 2 1.67x"), "{text}");
    let legend = "–: too few samples for the percentile.";
    assert!(text.contains(legend) && !text.contains(" no "), "{text}");
    let mut found = made(slo("p99<20us"));
    let verdict = found.choice.as_mut().and_then(|choice| choice.slo.as_mut()).unwrap();
    (verdict.quantile, verdict.measured_ns) = (0.5, Some(40_000.0));
    let text = line(&found);
    let expected = "p99 < 20 us missed: even p50 is 2.00 times the limit (40.0 us)";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn alternative_that_ties_has_its_interval() {
    let mut found = made(Workload::default());
    let spinning = found.if_spinning.as_mut().unwrap();
    (spinning.tie, spinning.row.times, spinning.row.times_interval) = (true, 49.1, Some([0.004, 81.0]));
    let text = line(&found);
    let expected = "(--spin) gains nothing significant: posix-shm/spin is not significantly different, at 49.1x (0.00-81.0)";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn it_fits_in_a_narrow_terminal() {
    for detail in [RecommendationDetail::WHOLE, RecommendationDetail::default()] {
        let style = Style { width: 72, ..Style::default() };
        let text = printed::recommendation_table(&made(frames()), detail, style);
        assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
    }
}

#[test]
fn names_of_records_command_no_terminal() {
    let mut made = made(frames());
    made.ranked[0].mechanism += "\u{1b}[2J";
    made.excluded[0].reason += "\u{1b}[2J\n";
    let text = recommendation_table(&made, Style::default());
    assert!(!text.contains('\u{1b}'), "{text}");
}
