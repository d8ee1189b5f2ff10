//! Tests of comparisons in each format.

use super::*;
use crate::damage::{self, EVIL, damaged, lines};
use crate::object::assert_has_all;
use crate::{Style, comparison_markdown, comparison_table};
use furlong_analysis::{
    Cause, ComparisonRefusal, DecodedRun, InconclusiveReason, NamedRun, Part, Run, Share, compare,
};
use furlong_fixture as fixture;
use furlong_fixture::{
    comparison::MARGIN, comparison::STEADY, comparison::TrialBuilder, comparison::against,
    comparison::numbered, comparison::searched,
};
use furlong_model::{Bounds, Case, ConditionKind};
use proptest::prelude::*;
use std::num::NonZeroU32;

/// Returns a comparison with a faster, a slower, an unchanged and a doubtful benchmark, one with a wide interval, and
/// one in only one run each.
fn sample() -> Comparison {
    let mut maker = TrialBuilder::default();
    let mut run = |times: [f64; 5], last: usize| {
        let rows = times.into_iter().enumerate().map(|(at, times)| (numbered(at), 50_000.0 * times));
        maker.run(&rows.chain([(numbered(last), 70_000.0)]).collect::<Vec<_>>(), &STEADY)
    };
    let old = run([1.0; 5], 6);
    let mut new = run([1.3, 0.8, 1.01, 1.05, 1.0], 7);
    new.header.started_unix_s += 60;
    new.header.machine.kernel = "6.19.0-cloud".into();
    new.noise[0].core_to_core_ns = Some(350.0);
    // A run whose trials drift from the second row on.
    for (trial, factor) in new.trials.iter_mut().filter(|trial| trial.case == numbered(2)).zip(0..) {
        if let furlong_model::Outcome::Measured(measured) = &mut trial.outcome {
            *measured = fixture::measurement(&trial.case, 49_000.0 + 250.0 * f64::from(factor), 0);
        }
    }
    against(&old, &new)
}

/// Returns the sample with terminal escapes, markup and line breaks in every text of a record and in the names of the
/// runs.
fn hostile() -> Comparison {
    let old = damage::hostile();
    let mut new = old.clone();
    new.header.machine.kernel = "6.19".into();
    new.header.machine.limits = vec![(EVIL.into(), "x".into())];
    new.trials.retain(|trial| !trial.case.mechanism.starts_with(fixture::THROUGH_THE_KERNEL));
    let [old, new] = [&old, &new].map(DecodedRun::of);
    let runs = [NamedRun { name: "=before", run: &old }, NamedRun { name: EVIL, run: &new }];
    compare(&runs, MARGIN).unwrap()
}

#[test]
fn a_table_for_a_terminal() {
    insta::assert_snapshot!(comparison_table(&sample(), Style::default()));
}

/// Returns the sample with counts: one call more in a row, and a wait that depends on timing in another.
fn counted() -> Comparison {
    let mut maker = TrialBuilder::default();
    let mut run = |calls: [[u64; 2]; 2]| {
        let mut run = maker.run(&[(numbered(0), 50_000.0)], &STEADY);
        run.counts = [0, 1].map(|at| fixture::count(&numbered(at), "read", 1000)).into();
        for (count, calls) in run.counts.iter_mut().zip(calls) {
            count.declared.insert("futex".into(), Bounds { least: 0, most: Some(1) });
            let closes = (calls[0] / 1000) as u32;
            count.declared.insert("close".into(), Bounds { least: closes, most: Some(closes) });
            for role in &mut count.roles {
                let calls = [("read", 1000), ("close", calls[0]), ("futex", calls[1])];
                role.system_calls = Some(calls.map(|(name, calls)| (name.to_owned(), calls)).into());
            }
        }
        run
    };
    against(&run([[1000, 0]; 2]), &run([[2000, 0], [1000, 250]]))
}

#[test]
fn counts_stand_beside_times() {
    insta::assert_snapshot!(comparison_table(&counted(), Style::default()));
    let sheet = comparison_csv(&counted());
    assert!(
        sheet.lines().any(|line| line.contains(",more,") && line.contains(",system-calls,4,6,")),
        "{sheet}"
    );
    // Runs that hold only counts report no times.
    let mut alone = counted();
    alone.rows.clear();
    let table = comparison_table(&alone, Style::default());
    assert!(table.contains("No benchmark was timed in both.") && table.contains("close 2.00"), "{table}");
    assert!(!table.contains("copies"), "{table}");
}

#[test]
fn xml_for_continuous_integration() {
    insta::assert_snapshot!(comparison_junit(&sample()));
    let counts = comparison_junit(&counted());
    assert!(counts.contains("tests=\"5\" failures=\"1\" skipped=\"1\""), "{counts}");
    assert!(counts.contains("<failure message=\"more system calls of mechanism-0/block"), "{counts}");
    // Text of a record is never interpreted as markup.
    let hostile = comparison_junit(&hostile());
    assert!(!hostile.contains('\u{1b}') && !hostile.contains("<b>"), "{hostile}");
    let mut lines = hostile.lines();
    assert_eq!(lines.next(), Some("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"));
    for line in lines.by_ref() {
        let tag = line.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
        let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"];
        let rest = entities.iter().fold(tag.unwrap().to_owned(), |text, entity| text.replace(entity, ""));
        assert!(!rest.contains(['<', '>', '&']) && rest.matches('"').count() % 2 == 0, "{line}");
    }
    assert!(hostile.lines().count() > 10, "{hostile}");
}

#[test]
fn highest_rates_have_their_own_table() {
    let worse = against(&searched(4000.0), &searched(2000.0));
    let text = comparison_markdown(&worse);
    assert!(text.contains("Highest rate with p50 below 200 us") && text.contains("| worse"), "{text}");
    assert!(text.contains("Worse, highest rate with p50 below 200 us: mechanism-0/block 3.99k/s"), "{text}");
    assert!(!text.contains("No benchmark was timed"), "{text}");
    assert!(comparison_junit(&worse).contains("failures=\"1\""));
    let sheet = comparison_csv(&worse);
    assert!(sheet.lines().nth(1).unwrap().contains(",worse,,") && sheet.contains(",p50<200 us,3"), "{sheet}");
    let mut tie = worse;
    (tie.capacities[0].verdict, tie.capacities[0].tied) = (furlong_analysis::Change::Inconclusive, true);
    let tie = comparison_markdown(&tie);
    assert!(tie.contains("| tie") && tie.contains("Tie, highest rate"), "{tie}");
}

#[test]
fn a_page_of_markdown() {
    insta::assert_snapshot!(comparison_markdown(&sample()));
}

#[test]
fn a_spreadsheet() {
    insta::assert_snapshot!(comparison_csv(&sample()));
}

#[test]
fn an_object_for_programs() {
    insta::assert_snapshot!(comparison_json(&sample()));
}

#[test]
fn json_has_all_figures() {
    for comparison in [sample(), hostile()] {
        assert_has_all(&comparison_json(&comparison), &comparison);
    }
}

#[test]
fn tables_fit() {
    for width in [100, 60] {
        let text = comparison_table(&sample(), Style { width, ..Style::default() });
        assert!(text.lines().all(|line| line.chars().count() <= width && line == line.trim_end()), "{text}");
        assert!(text.contains("verdict") && text.contains("ratio"), "{text}");
    }
}

#[test]
fn colours_are_those_of_the_verdicts() {
    let text = comparison_table(&sample(), Style { colour: true, ..Style::default() });
    assert!(text.contains("\u{1b}[31mworse") && text.contains("\u{1b}[32mbetter"), "{text}");
}

/// Runs of eight rows that take so many times as long, on machines with these core-to-core times.
fn compared(times: f64, core_to_core_ns: [f64; 2]) -> Comparison {
    let mut maker = TrialBuilder::default();
    let mut run = |times: f64, ns: [f64; 2]| {
        let rows: Vec<_> = (0..8).map(|at| (numbered(at), 50_000.0 * times)).collect();
        Run { noise: ns.map(|ns| fixture::quiet(0, ns)).into(), ..maker.run(&rows, &STEADY) }
    };
    let mut later = run(times, core_to_core_ns);
    later.header.started_unix_s += 60;
    against(&run(1.0, [300.0; 2]), &later)
}

#[test]
fn the_verdict_says_what_rows_say_together() {
    let copies = comparison_verdict(&compared(1.0, [300.0; 2]));
    assert_eq!(
        copies,
        ["after and before have identical trials of all 8 benchmarks: they are copies of one run."]
    );
    let verdict = comparison_verdict(&compared(1.2, [100.0, 400.0]));
    let starts = [
        "Of 8 benchmarks that both have, after against before, with a margin of 5 %: 8 inconclusive.",
        "The machine was UNRELIABLE during after (the bare core-to-core round trip moved between 100 and 400 ns: the host \
         moved a core): no comparison with it is possible. Measure it again.",
        "8 of 8 benchmarks take longer, 1.20 times as long in the median: look for a common cause",
        "The ratios contain everything that changed between the runs: ",
    ];
    assert_eq!(verdict.len(), starts.len(), "{verdict:#?}");
    for (sentence, start) in verdict.iter().zip(starts) {
        assert!(sentence.starts_with(start), "{sentence}");
    }
}

#[test]
fn a_cost_that_accounts_for_a_change_is_said_with_its_figures() {
    let mut comparison = sample();
    let row = comparison.rows[0].clone();
    let share = Share {
        case: row.case,
        count_then: 2.0,
        cost_then_ns: 20_000.0,
        count_now: 2.0,
        cost_now_ns: 27_500.0,
        part_ns: 15_000.0,
        change_ns: 15_100.0,
    };
    comparison.causes = vec![Cause { run: row.run, part: Some(Part::WakeUps), rows: vec![share] }];
    let said = "The cost of wake-ups accounts for +15.0 us of +15.1 us in mechanism-0/block 128B other-core (2 x 20.0 us \
                then, 2 x 27.5 us now).";
    assert!(comparison_verdict(&comparison).iter().any(|sentence| sentence == said));
    let json: serde_json::Value = serde_json::from_str(&comparison_json(&comparison)).unwrap();
    assert_eq!(
        (&json["causes"][0]["cost"], &json["causes"][0]["part"]),
        (&"wake-ups".into(), &"wake-ups".into())
    );
}

#[test]
fn runs_that_cannot_be_compared_are_named() {
    let (baseline, run) = ("before".to_owned(), "after".to_owned());
    let said = incomparable(&ComparisonRefusal::NoCommonRow {
        baseline,
        run: run.clone(),
        baseline_has: vec![numbered(0)],
        has: (1..7).map(numbered).collect(),
    });
    let start = "after and before have no benchmark in common: after has mechanism-1/block 128B other-core, mechanism-2/";
    assert!(said.starts_with(start) && said.contains(" and 2 more, and before has mechanism-0/"), "{said}");
    let nothing =
        incomparable(&ComparisonRefusal::NoRows { run: run.clone(), skipped: 0, handovers: 0, starts: 0 });
    assert_eq!(
        nothing,
        "after has no benchmark with a time or a count; other runs cannot be compared with it"
    );
    let started = incomparable(&ComparisonRefusal::NoRows { run, skipped: 2, handovers: 0, starts: 3 });
    let has = "(it has 2 cases that were skipped, failed or void, 3 process starts, which are not compared)";
    assert!(started.contains(has), "{started}");
}

#[test]
fn runs_that_differ_in_an_axis_name_the_run_that_compares_its_values() {
    let said = |old: Case, new: Case| {
        incomparable(&ComparisonRefusal::NoCommonRow {
            baseline: "before".to_owned(),
            run: "after".to_owned(),
            baseline_has: vec![old, numbered(3)],
            has: vec![numbered(1), new],
        })
    };
    for (kind, value, options) in [
        ("nice", "5", "--nice 0 --nice 5"),
        ("sched", "batch", "--sched other --sched batch"),
        ("quota", "20%", "--quota none --quota 20%"),
        ("beside", "cpu:1", "--beside none --beside cpu:1"),
        ("slice", "3ms", "--slice TIME --slice 3ms"),
    ] {
        let condition = ConditionKind::find(kind).unwrap().read(value).unwrap();
        let remedy = format!(
            "They differ in {kind}: measure both in one run, 'furlong run mechanism-0/block {options} --save both', and \
             compare them with 'furlong compare both --between {kind}'"
        );
        let text = said(numbered(0), Case { conditions: condition.into(), ..numbered(0) });
        assert!(text.ends_with(&remedy), "{text}");
    }
    let text = said(numbered(0), numbered(0).with_window(NonZeroU32::new(4).unwrap()));
    assert!(text.contains("differ in window") && text.contains("--window 1 --window 4"), "{text}");
    assert!(
        said(numbered(0), numbered(2)).contains("Benchmarks match if"),
        "another mechanism has no remedy"
    );
}

#[test]
fn why_a_row_is_inconclusive_needs_no_context() {
    for (why, said) in [
        (
            InconclusiveReason::Unreliable { during: vec!["a".to_owned(), "b".to_owned()] },
            "unreliable during a and b",
        ),
        (
            InconclusiveReason::TooFewTrials { baseline: 3, new: 9 },
            "3 and 9 trials are too few for an interval of the ratio, which needs 4 and 4",
        ),
        (
            InconclusiveReason::NotSure { tested: 10 },
            "not significant among 10 benchmarks: more trials may decide",
        ),
        (
            InconclusiveReason::Changed,
            "significantly different, but the interval does not show whether by more than the margin",
        ),
        (InconclusiveReason::Wide, "more trials would narrow it"),
    ] {
        let sentence = prose::inconclusive_because(&why);
        assert!(sentence.ends_with(said), "{sentence}");
    }
}

#[test]
fn several_runs_have_a_table_each() {
    let mut maker = TrialBuilder::default();
    let runs = [1.0, 1.3, 0.7].map(|times| maker.run(&[(numbered(0), 50_000.0 * times)], &STEADY));
    let runs = runs.each_ref().map(DecodedRun::of);
    let named: Vec<_> =
        ["a", "b", "c"].into_iter().zip(&runs).map(|(name, run)| NamedRun { name, run }).collect();
    let comparison = compare(&named, MARGIN).unwrap();
    let text = comparison_table(&comparison, Style::default());
    assert!(text.contains("\nb against a\n") && text.contains("\nc against a\n"), "{text}");
    assert_eq!(comparison_csv(&comparison).lines().count(), 3);
}

#[test]
fn hostile_text_stays_text() {
    let comparison = hostile();
    assert!(comparison.only_in.len() > 1 && comparison.environment_differences.len() > 1);
    for text in [
        comparison_table(&comparison, Style::default()),
        comparison_markdown(&comparison),
        comparison_csv(&comparison),
    ] {
        let control = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(control) && !text.contains('\u{202e}'), "{text}");
    }
    let markdown = comparison_markdown(&comparison);
    assert!(!markdown.contains("a|b") && !markdown.contains("<script>"), "{markdown}");
    assert!(!comparison_csv(&comparison).contains("\n=before"), "no formula");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Records with damaged figures that still parse must be comparable, whatever the figures are.
    #[test]
    fn no_damage_makes_it_panic(hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
        let [intact, damaged] = damaged(lines(&fixture::records()), &hits);
        let intact = intact.unwrap();
        if let Some(damaged) = damaged {
            let [intact, damaged] = [&intact, &damaged].map(DecodedRun::of);
            for pair in [[&intact, &damaged], [&damaged, &intact]] {
                let runs = pair.map(|run| NamedRun { name: "x", run });
                if let Ok(comparison) = compare(&runs, MARGIN) {
                    comparison_table(&comparison, Style::default());
                    comparison_markdown(&comparison);
                    comparison_csv(&comparison);
                    assert_has_all(&comparison_json(&comparison), &comparison);
                }
            }
        }
    }
}
