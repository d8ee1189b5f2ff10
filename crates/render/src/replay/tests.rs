//! Tests of replays in each format.

use super::*;
use crate::damage::{damaged, lines, with_value};
use crate::object::assert_has_all;
use crate::{Charts, Style, replay_markdown, replay_table};
use furlong_analysis::{
    ClaimReason, ClaimStatus, ClaimVerdict, DecodedRun, FastestThen, RankChange, Replay, Run, replay,
};
use furlong_fixture::{
    replay::ReplayBuilder, replay::itmedia, replay::ka2yan, replay::qiita, replay::racehorse,
};
use furlong_model::Record;
use proptest::prelude::*;

fn all() -> [Replay; 4] {
    [ka2yan(), itmedia(), qiita(), racehorse()].map(ReplayBuilder::replay)
}

#[test]
fn seconds_then_and_now_for_a_terminal() {
    insta::assert_snapshot!(replay_table(&ka2yan().replay(), Style::default()));
}

#[test]
fn what_an_unreliable_machine_says_is_provisional() {
    let mut records = ka2yan().records();
    assert!(!replay_verdict(&ka2yan().replay())[0].contains("provisional"));
    let lost = |record: &mut Record| {
        if let Record::Noise(reading) = record {
            reading.spin_lost = Some(0.6);
        }
    };
    records.iter_mut().for_each(lost);
    let run = Run::from_records(records).unwrap();
    let replay = replay(&DecodedRun::of(&run)).unwrap();
    let said = replay_verdict(&replay);
    assert!(replay.provisional && said[0].starts_with("These conclusions are provisional"), "{said:?}");
    assert!(said.len() > 1, "{said:?}");
}

#[test]
fn backings_for_a_terminal() {
    insta::assert_snapshot!(replay_table(&itmedia().replay(), Style::default()));
}

#[test]
fn blocks_for_a_terminal() {
    insta::assert_snapshot!(replay_table(&qiita().replay(), Style::default()));
}

#[test]
fn rates_for_a_terminal() {
    insta::assert_snapshot!(replay_table(&racehorse().replay(), Style::default()));
}

#[test]
fn a_page_of_markdown() {
    insta::assert_snapshot!(replay_markdown(&ka2yan().replay()));
}

#[test]
fn a_spreadsheet() {
    insta::assert_snapshot!(replay_csv(&[ka2yan().replay()]));
}

#[test]
fn an_object_for_programs() {
    insta::assert_snapshot!(replay_json(&[ka2yan().replay()]));
}

#[test]
fn blocks_of_results() {
    insta::assert_snapshot!(replay_racehorse(&racehorse().replay()));
}

#[test]
fn json_has_every_figure() {
    for replay in all() {
        assert_has_all(&replay_json(std::slice::from_ref(&replay)), &replay);
    }
}

#[test]
fn experiments_survive_their_record() {
    for (name, _) in furlong_analysis::published() {
        let records = ReplayBuilder::published(name).records();
        for record in records {
            let text = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record, "{text}");
        }
    }
}

#[test]
fn tables_fit_in_a_hundred_columns() {
    for replay in all() {
        let text = replay_table(&replay, Style::default());
        for line in text.lines() {
            assert!(line.chars().count() <= 100 && line == line.trim_end(), "{line}\n{text}");
        }
    }
}

#[test]
fn colour_is_only_where_it_is_wanted() {
    let coloured = replay_table(&ka2yan().replay(), Style { colour: true, ..Style::default() });
    assert!(coloured.contains("\u{1b}["));
    assert!(!replay_table(&ka2yan().replay(), Style::default()).contains('\u{1b}'));
}

#[test]
fn an_empty_run_still_says_what_it_is() {
    for (name, _) in furlong_analysis::published() {
        let replay = ReplayBuilder::published(name).replay();
        let text = replay_table(&replay, Style::default());
        assert!(text.starts_with(&format!("{name}: ")) && text.contains("Xeon"), "{text}");
        let words: Vec<_> = text.split_whitespace().collect();
        assert!(replay.claims.is_empty() || words.join(" ").contains("was not tested"), "{text}");
        replay_markdown(&replay);
        assert!(!replay_racehorse(&replay).is_empty());
    }
}

/// Returns the first experiment with terminal escapes, markup and formulas in every text.
fn hostile() -> Replay {
    const EVIL: &str = "=\u{1b}[2J\u{202e}a|b\n<script>`c`\0";
    let mut records = ka2yan().records();
    for record in &mut records {
        match record {
            Record::Experiment(experiment) => {
                experiment.name = EVIL.into();
                experiment.title = EVIL.into();
                experiment.author = Some(EVIL.into());
                experiment.source = Some(EVIL.into());
                experiment.machine = Some(EVIL.into());
                experiment.measure.note = Some(EVIL.into());
                experiment.faults = vec![EVIL.into()];
                for row in &mut experiment.rows {
                    row.name = format!("{EVIL}{}", row.name);
                    row.counterpart = Some(EVIL.into());
                    row.remark = Some(EVIL.into());
                    row.missing = Some(EVIL.into());
                    row.system_calls.insert(EVIL.into(), 1);
                }
                for claim in &mut experiment.claims {
                    claim.text = EVIL.into();
                }
            }
            Record::Run(header) => header.machine.processor = Some(EVIL.into()),
            _ => {}
        }
    }
    replay(&DecodedRun::of(&Run::from_records(records).unwrap())).unwrap()
}

#[test]
fn hostile_text_stays_text() {
    let replay = hostile();
    let style = Style::default();
    let texts = [
        replay_table(&replay, style),
        replay_markdown(&replay),
        replay_csv(std::slice::from_ref(&replay)),
        replay_racehorse(&replay),
    ];
    for text in &texts {
        let control = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(control) && !text.contains('\u{202e}'), "{text}");
    }
    assert!(!texts[1].contains("a|b") && !texts[1].contains("<script>"), "{}", texts[1]);
    assert!(
        texts[2].lines().skip(1).all(|line| line.starts_with("'=") || line.starts_with("\"'=")),
        "{}",
        texts[2]
    );
}

#[test]
fn the_verdict_says_what_became_of_what_was_published() {
    let said = replay_verdict(&ka2yan().replay());
    assert_eq!(said[0], "POSIX message queue is no longer the fastest: FIFO is, 1.14 times as fast.");
    assert_eq!(
        said[1],
        "Of 3 pairs of benchmarks that could be compared, 2 are in the published order, 1 is in the reverse, and 0 are \
         tied. 7 pairs were not tested, because a benchmark is missing."
    );
    let best = "console + shm: the best block size was 512KiB, and is now 512KiB, which ties with 1MiB.";
    assert!(replay_verdict(&qiita().replay()).iter().any(|said| said == best));
    let added = replay_verdict(&itmedia().replay());
    assert!(
        added.iter().any(|said| said.ends_with("huge pages is faster than every published one.")),
        "{added:#?}"
    );
    let none = replay_verdict(&racehorse().replay());
    assert!(!none.iter().any(|said| said.contains("of the added benchmarks")), "{none:#?}");
}

#[test]
fn what_became_of_the_fastest_is_one_sentence() {
    let became = |became| {
        let was = FastestThen { size_bytes: 128, mechanism: "a".to_owned(), became };
        replay_verdict(&Replay { fastest: vec![was], ..ka2yan().replay() }).swap_remove(0)
    };
    let b = || "b".to_owned();
    assert_eq!(
        became(RankChange::Still { next: b(), times: 2.0 }),
        "a is still the fastest, 2.00 times as fast as b."
    );
    let untold = became(RankChange::Untold { tied_with: vec![b(), "c".to_owned()] });
    assert_eq!(untold, "a was the fastest, and is now tied with b and c.");
    assert_eq!(became(RankChange::NotMeasured), "a was the fastest, and is not measured now.");
    assert_eq!(became(RankChange::Alone), "a was the fastest, and nothing else is measured now.");
}

#[test]
fn a_claim_says_why_it_holds_or_falls() {
    let claim = ka2yan().replay().claims.swap_remove(0);
    let said = |status, ratio_then, reason| {
        claim_reason(&ClaimVerdict { status, ratio_then, ratio_now: Some(0.875), reason, ..claim.clone() })
    };
    let missing = || vec!["b".to_owned()];
    let next = ClaimReason::AgainstNext { next: "FIFO".to_owned(), missing: missing() };
    assert_eq!(
        said(ClaimStatus::Holds, Some(1.5), next),
        "1.50 times as fast as the next one then, 0.88 times as fast as FIFO now among the compared benchmarks; no result or \
         no interval for b"
    );
    let other = || ClaimReason::AgainstOther;
    assert_eq!(said(ClaimStatus::Falls, Some(1.5), other()), "1.50 times as fast then, 0.88 times now");
    assert_eq!(said(ClaimStatus::Falls, None, other()), "0.88 times as fast now");
    let alike = ClaimReason::Alike { within: 1.25 };
    assert!(said(ClaimStatus::Holds, None, alike).ends_with("; alike is up to 25 % apart"));
    let none = ClaimReason::NoFigure { of: missing() };
    assert_eq!(said(ClaimStatus::NotTested, None, none), "no result for b");
    let best = |status, tied_with| said(status, None, ClaimReason::BestSize { size_bytes: 4096, tied_with });
    assert_eq!(best(ClaimStatus::Holds, vec![]), "4KiB is best now too");
    assert_eq!(best(ClaimStatus::Falls, vec![]), "4KiB is best now");
    let tie = best(ClaimStatus::CannotBeTold, vec![64, 128]);
    assert_eq!(tie, "4KiB comes first now, and ties with 64B and 128B");
}

#[test]
fn two_trials_are_missing_evidence_and_no_ties() {
    let is_late = |record: &Record| matches!(record, Record::Trial(trial) if trial.number > 1);
    let few = racehorse().records().into_iter().filter(|record| !is_late(record));
    let replay = replay(&DecodedRun::of(&Run::from_records(few).unwrap())).unwrap();
    let said = replay_verdict(&replay);
    assert_eq!(
        said,
        [
            "2 trials are too few for a confidence interval, so benchmarks without one are not compared: repeat with \
             --trials 6 \
          or more."
        ]
    );
    let text = replay_table(&replay, Style::default());
    assert!(!text.contains("95 %") && text.contains("?: fewer than three trials"), "{text}");
}

#[test]
fn a_factor_far_above_the_claimed_one_holds_in_direction() {
    let mut claim = ka2yan().replay().claims.swap_remove(0);
    claim.text = "Thirteen times as fast.".to_owned();
    (claim.status, claim.reason) = (ClaimStatus::HoldsInDirection, ClaimReason::AgainstOther);
    (claim.ratio_then, claim.ratio_now) = (Some(13.1), Some(210.0));
    let said = replay_verdict(&Replay { claims: vec![claim], ..ka2yan().replay() });
    assert_eq!(
        said.last().unwrap(),
        "\"Thirteen times as fast.\" holds in direction, but the factor is larger than claimed (13.1 times as fast then, \
         210 times now)."
    );
}

#[test]
fn a_claim_says_that_proxies_decided_it() {
    let made = ReplayBuilder::published("redis-uds").row("TCP", 64, 20_000.0);
    let said = replay_verdict(&made.row("UNIX domain socket", 64, 9000.0).replay()).join("\n");
    let proxies = " now) for proxies of the published mechanisms: a round trip over TCP, without Redis; a round trip over \
                   the socket, without Redis.";
    assert_eq!(said.matches(proxies).count(), 2, "{said}");
}

#[test]
fn best_sizes_have_the_confidence_of_their_trials() {
    let is_late = |record: &Record| matches!(record, Record::Trial(trial) if trial.number > 2);
    let few = qiita().records().into_iter().filter(|record| !is_late(record));
    let replay = replay(&DecodedRun::of(&Run::from_records(few).unwrap())).unwrap();
    let text = replay_table(&replay, Style::default());
    assert!(replay.best_sizes.iter().any(|best| best.now.is_some()));
    let head = text.lines().skip_while(|line| !line.contains("the best block size of each")).nth(1).unwrap();
    assert!(head.contains("75 % in run"), "{text}");
}

#[test]
fn a_described_experiment_has_its_figures_and_addresses() {
    for (name, text) in furlong_analysis::published() {
        let experiment = furlong_analysis::read_experiment(text, name).unwrap();
        let text = crate::experiments(std::slice::from_ref(&experiment), Style::default());
        let words = text.split_whitespace().collect::<Vec<_>>();
        let joined = words.join(" ");
        for source in
            experiment.source.iter().chain(experiment.context.iter().filter_map(|one| one.source.as_ref()))
        {
            assert!(joined.contains(source.as_str()), "{name}: {source}\n{text}");
        }
        let published = experiment.rows.iter().flat_map(|row| &row.published);
        for value in published.flat_map(|published| published.figures.values()) {
            assert!(words.contains(&then(*value).as_str()), "{name}: {value}\n{text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Records with damaged figures that still parse must be printable, whatever the figures are.
    #[test]
    fn no_damage_makes_it_panic(
        hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        number in prop_oneof![Just("0"), Just("1"), Just("18446744073709551615"), Just("-1")],
        which in 0..4_usize,
        field in prop::sample::select(vec![
            "round_trips", "elapsed_ns", "verified_messages", "verified_bytes", "user_ns", "write_ns", "repetitions",
            "size_bytes", "trials", "times", "within", "real_s", "total_ms", "bytes", "exchanges", "year",
        ]),
    ) {
        let records = [ka2yan, itmedia, qiita, racehorse][which]().records();
        let runs = damaged(with_value(&lines(&records), field, number), &hits);
        for replay in runs.into_iter().flatten().filter_map(|run| replay(&DecodedRun::of(&run))) {
            for charts in [Charts::Auto, Charts::Always] {
                replay_table(&replay, Style { charts, ..Style::default() });
            }
            replay_markdown(&replay);
            replay_csv(std::slice::from_ref(&replay));
            replay_racehorse(&replay);
            let json = replay_json(std::slice::from_ref(&replay));
            let read: serde_json::Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(read["rows"].as_array().map(Vec::len), Some(replay.rows.len()));
        }
    }
}
