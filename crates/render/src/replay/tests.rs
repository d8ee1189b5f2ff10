//! What replays look like in each format.

use super::*;
use crate::damage::{damaged, lines, with_value};
use crate::{Charts, Style, replay_markdown, replay_table};
use furlong_analysis::{
    DecodedRun, Replay, Run,
    fixture::{replay::ReplayBuilder, replay::itmedia, replay::ka2yan, replay::qiita, replay::racehorse},
    replay,
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
fn json_reads_back() {
    for replay in all() {
        assert_eq!(
            serde_json::from_str::<Replay>(&replay_json(std::slice::from_ref(&replay))).unwrap(),
            replay
        );
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
        assert!(text.contains("was not tested"), "{text}");
        replay_markdown(&replay);
        assert!(!replay_racehorse(&replay).is_empty());
    }
}

/// The first experiment with terminal escapes, markup and formulas in every text.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Damage that still reads as records must still render: the figures in it may be anything.
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
            let read: Replay = serde_json::from_str(&replay_json(std::slice::from_ref(&replay))).unwrap();
            prop_assert_eq!(read.rows.len(), replay.rows.len());
        }
    }
}
