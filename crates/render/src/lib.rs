//! Renders results as text for terminals, as Markdown, as tables for spreadsheets and as JSON for programs.
//!
//! Text for readers is a document value, built once from the figures. A back end for terminals and one for Markdown
//! print it, so both contain the same text. This crate computes nothing that is not in the [`Summary`], except for
//! charts, which show more of the data that the summary was computed from.
//!
//! ```no_run
//! use furlong_analysis::{DecodedRun, Run};
//! use furlong_render::{Style, table};
//! # fn main() -> Result<(), furlong_analysis::ReadError> {
//! let run = Run::read("run.jsonl")?;
//! print!("{}", table(&DecodedRun::of(&run).summary, Style::default()));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod atlas;
mod bar;
mod boundaries;
mod braille;
mod brief;
mod capacity;
mod cells;
mod chart;
pub mod charts;
mod columns;
mod comparison;
mod costs;
mod count;
mod counting;
mod cpu_map;
mod csv;
#[cfg(test)]
mod damage;
pub mod document;
mod experiments;
mod explain;
mod explain_sentences;
mod export;
mod figures;
mod findings;
mod fleet;
mod grid;
mod growth;
mod json;
mod markdown;
mod marks;
mod noise;
mod object;
mod origin;
mod printed;
mod prose;
mod ranking;
mod recommendation;
mod replay;
mod runs;
mod self_check;
mod size_classes;
mod standings;
mod style;
mod summary;
mod sweep;
mod tails;
mod terminal;
mod timeline;
mod tuning;
mod unmeasured;
mod used_costs;
pub mod words;

pub use atlas::{ATLAS_TITLE, atlas_chapters, atlas_json, atlas_markdown, atlas_table, atlas_verdict};
pub use capacity::{chart as capacity_chart, table as capacity_table};
pub use comparison::{
    comparison_csv, comparison_json, comparison_junit, comparison_verdict, document as comparison_document,
    incomparable,
};
pub use costs::costs_json;
pub use count::count_json;
pub use cpu_map::{LatencyScale, cpu_map_csv, cpu_map_json, cpu_map_table, cpu_map_title, relation_words};
pub use csv::csv;
pub use experiments::{experiment_list, experiments};
pub use explain::{agreement, explanation_json, overview};
pub use explain_sentences::not_explained;
pub use export::{
    NamedSummary, export_csv, export_json, export_markdown, export_openmetrics, export_parquet,
};
pub use findings::finding;
pub use fleet::{
    document as fleet_document, fleet_chapters, fleet_csv, fleet_json, fleet_title, fleet_verdict,
};
pub use furlong_analysis::text::{format_count, listed, plain, plain_sentence};
pub use furlong_model::{format_digits, three_digits};
pub use json::{json, self_check_json};
pub use markdown::{escape as escape_markdown, with_charts as markdown_with_charts};
pub use marks::marked_name;
pub use noise::{condition, disturbance, noise as noise_reasons};
pub use origin::{date, shell};
pub use printed::{
    brief_table, comparison_markdown, comparison_table, costs_table, count_table, document_text,
    explanation_table, fleet_markdown, fleet_table, markdown, over_time, recommendation_table,
    replay_markdown, replay_table, self_check_table, standings, table, table_of_run,
};
pub use prose::{DEBUG_BUILD_WARNING, floor, footnotes, machine, run_warnings};
pub use recommendation::{RecommendationDetail, recommendation_json, recommendation_sentences};
pub use replay::{
    claim_reason, claim_status, document as replay_document, replay_csv, replay_json, replay_racehorse,
    replay_verdict,
};
pub use runs::{ListedRun, runs_json, runs_table, saved_run_table};
pub use size_classes::tables as size_tables;
pub use style::{Charts, Style};
pub use summary::document as summary_document;
pub use timeline::{no_timeline, timeline_chart};
pub use tuning::{tuning_json, tuning_markdown, tuning_table};

#[cfg(doc)]
use furlong_analysis::Summary;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::damage::{damaged, hostile, lines, with_value};
    use crate::object::assert_has_all;
    use furlong_analysis::{CountSummary, DecodedRun, Level, PayloadKind, Run, explain};
    use furlong_fixture as fixture;
    use furlong_fixture::costs::{EVERYWHERE, PIPE, RunBuilder, SPINNER};
    use furlong_model::{CoreChoice, CountMethod, End, Placement, Record, Runtime, Wait};
    use proptest::prelude::*;
    use std::num::NonZeroU32;

    #[test]
    fn a_table_for_a_terminal() {
        insta::assert_snapshot!(table(&fixture::summary(), Style::default()));
    }

    #[test]
    fn cores_that_interrupts_decided_are_named() {
        let chosen = |record| match record {
            Record::Run(mut header) => {
                header.machine.core_choice =
                    Some(Box::new(CoreChoice { cpus: [2, 3], instead_of: [0, 1], interrupts_per_s: 1234 }));
                Record::Run(header)
            }
            other => other,
        };
        let run = Run::from_records(fixture::records().into_iter().map(chosen)).unwrap();
        let text = markdown(&DecodedRun::of(&run).summary).replace('\n', " ");
        let named = "other-core on CPUs 2 and 3, because 0 and 1 serve 1234 interrupts/s";
        assert!(text.contains(named) && !markdown(&fixture::summary()).contains("interrupts"), "{text}");
    }

    #[test]
    fn every_table_of_a_run_under_wine_says_so() {
        let under_wine = |record| match record {
            Record::Run(mut header) => {
                header.machine.runtime = Runtime::Wine("8.0".to_owned());
                Record::Run(header)
            }
            Record::End(end) => Record::End(End { started_again: NonZeroU32::new(2), ..end }),
            other => other,
        };
        let run = Run::from_records(fixture::records().into_iter().map(under_wine)).unwrap();
        let summary = DecodedRun::of(&run).summary;
        let text = markdown(&summary);
        let tables = summary.groups.iter().filter(|group| group.carries != PayloadKind::Nothing).count();
        let said = text.replace('\n', " ").matches("figures prove the code and not the speed").count();
        assert_eq!(said, 1 + tables, "above all tables and below each: {text}");
        assert!(text.contains("Wine failed to start 2 "), "{text}");
        let usual = markdown(&fixture::summary());
        assert!(!usual.contains("prove the code") && !usual.contains("Wine failed"), "{usual}");
    }

    #[test]
    fn a_table_for_a_narrow_terminal_fits() {
        let text = table(&fixture::summary(), Style { width: 60, ..Style::default() });
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= 60, "{widest}\n{text}");
    }

    #[test]
    fn the_default_table_fits_in_a_hundred_columns() {
        let text = table(&fixture::summary(), Style::default());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
    }

    #[test]
    fn a_column_of_intervals_names_a_coverage_only_where_there_is_one() {
        let with_trials = |count: u32| {
            let is_kept = |record: &Record| !matches!(record, Record::Trial(trial) if trial.number >= count);
            let run = Run::from_records(fixture::records().into_iter().filter(is_kept)).unwrap();
            table(&DecodedRun::of(&run).summary, Style::default())
        };
        let one = with_trials(1);
        assert!(one.contains("  interval  ") && !one.contains("  0 %  "), "{one}");
        let three = with_trials(3);
        assert!(three.contains("  75 % in run  "), "{three}");
    }

    #[test]
    fn interval_headings_are_explained_with_their_column() {
        let text = |trials: usize, width| {
            let mut summary = fixture::summary();
            summary.rows.iter_mut().for_each(|row| row.trials = trials);
            table(&summary, Style { width, ..Style::default() })
        };
        let (three, nine) = (text(3, 100), text(9, 100));
        assert!(
            three.contains("\n75 % in run: interval of p50 in this run; 3 trials cannot cover more"),
            "{three}"
        );
        assert!(
            nine.contains("\n95 % in run: interval of p50 in this run; p50 of another run can be"),
            "{nine}"
        );
        assert!(!text(9, 50).contains("95 % in run"), "{}", text(9, 50));
        let [three, nine] = [three, nine].map(|text| text.replace("\n  ", " "));
        assert!(three.contains("\nfrom-to: interval of 'vs first'"), "{three}");
        assert!(three.contains("ran; 3 trials cannot cover 95 %, and "), "{three}");
        assert!(nine.contains("\nfrom-to: 95 % interval of 'vs first'"), "{nine}");
    }

    #[test]
    fn percentiles_of_too_few_samples_are_not_printed() {
        let text = |samples: u64, width| {
            let mut summary = fixture::summary();
            for row in &mut summary.rows {
                row.exchange.ns.samples = samples;
                row.exchange.ns.p9999 = (samples >= 100_000).then_some(123_456.0);
            }
            table(&summary, Style { width, ..Style::default() })
        };
        let legend = "–: too few samples: p99 needs 100, p99.9 10,000 and p99.99 100,000";
        for (samples, dashes, has_far_tail) in
            [(99, true, false), (9_999, true, false), (10_000, false, false)]
        {
            let text = text(samples, 200);
            assert_eq!((text.contains(legend), text.contains("p99.99  ")), (dashes, has_far_tail), "{text}");
        }
        let text_of_many = text(100_000, 200);
        assert!(text_of_many.contains("123 us") && !text_of_many.contains(legend), "{text_of_many}");
        // A mark in a column that is not there is not explained.
        assert!(!text(9_999, 70).contains(legend), "{}", text(9_999, 70));
    }

    #[test]
    fn small_ratios_to_one_pair_alone_keep_their_digits() {
        let summary = reshaped(|rows| {
            let against_one = Some(furlong_analysis::AgainstOne { sum: 0.8, slowest: 0.00625 });
            let (least, most) = (0.007, 0.009);
            let (fairness, slowest_per_second) = (0.9, 120.0);
            rows[0].shares =
                Some(furlong_analysis::Shares { fairness, least, most, slowest_per_second, against_one });
        });
        let text = markdown(&summary);
        assert!(text.contains("| 0.00625x |") && !text.contains("| 0.01x |"), "{text}");
        assert!(text.contains("| 0.700-0.900 % |"), "{text}");
        // A stream of several groups has these columns, too.
        let stream = reshaped(|rows| {
            for row in rows {
                row.case = row.case.clone().with_pattern(furlong_model::Pattern::FanIn);
                row.exchange.unit = furlong_analysis::Unit::Message;
                row.exchange.bytes_per_second = Some(123_456_789.0);
                row.depth = Some([furlong_model::Depth::of(481); 2]);
                row.shares = summary.rows[0].shares;
            }
        });
        let narrow = table(&stream, Style { width: 80, ..Style::default() });
        assert!(narrow.contains("  all/s  ") && !narrow.contains("fairness"), "{narrow}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    }

    #[test]
    fn tail_stays_in_tables_of_messages_at_a_rate() {
        let mut summary = fixture::summary();
        summary.rows.retain(|row| row.case.arrival.interval_ns().is_some());
        summary.groups.retain(|group| summary.rows.iter().any(|row| row.group == group.name));
        for row in &mut summary.rows {
            (row.exchange.ns.samples, row.exchange.ns.p9999) = (100_000, Some(123_456.0));
        }
        let text = table(&summary, Style::default());
        let head = text.lines().find(|line| line.contains("p50")).unwrap();
        for name in ["  p99  ", "  p99.9  ", "  p99.99  ", "  max  "] {
            assert!(head.contains(name), "{name}: {text}");
        }
        assert!(!head.contains("switches"), "{text}");
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        let coloured = table(&fixture::summary(), Style { colour: true, ..Style::default() });
        assert!(coloured.contains("\u{1b}["));
        let mut plain = String::new();
        for part in coloured.split("\u{1b}[") {
            let text =
                if plain.is_empty() { part } else { part.split_once('m').map_or(part, |(_, text)| text) };
            plain.push_str(text);
        }
        assert_eq!(plain.trim_start_matches("1m"), table(&fixture::summary(), Style::default()));
    }

    #[test]
    fn the_ranking_is_drawn_first_if_charts_are_always_wanted() {
        let style = Style { charts: Charts::Always, ..Style::default() };
        let text = table(&fixture::summary(), style);
        let (_, charts) = text.split_once("\nRanking: ").expect("a ranking");
        let (charts, _) = charts.split_once("\n= no two").expect("footnotes");
        insta::assert_snapshot!(format!("Ranking: {charts}"));
        for charts in [Charts::Auto, Charts::Never] {
            assert!(!table(&fixture::summary(), Style { charts, ..style }).contains("Ranking: "));
        }
    }

    #[test]
    fn a_page_of_markdown() {
        insta::assert_snapshot!(markdown(&fixture::summary()));
    }

    /// Returns the fixture with `change` applied to its first rows.
    fn reshaped(change: impl FnOnce(&mut [furlong_analysis::Row])) -> furlong_analysis::Summary {
        let mut summary = fixture::summary();
        change(&mut summary.rows);
        summary
    }

    #[test]
    fn pipes_that_the_kernel_has_shrunk_are_named() {
        let page = |bytes, asked| {
            markdown(&reshaped(|rows| {
                rows[0].effective.insert("pipe-size-bytes".to_owned(), bytes);
                rows[0].case.buffer_bytes = asked;
            }))
        };
        let words = "Pipes held less than the default 64 KiB, because this user has many pipes";
        assert!(page(8192, None).contains(words) && page(8192, None).contains("(8KiB)"));
        assert!(!page(65536, None).contains(words) && !page(8192, Some(8192)).contains(words));
    }

    #[test]
    fn buffers_of_equal_size_in_effect_are_named() {
        let page = |bytes: [u64; 2]| {
            markdown(&reshaped(|rows| {
                rows[1].case = rows[0].case.clone();
                for ((row, bytes), asked) in rows.iter_mut().zip(bytes).zip([1024, 2048]) {
                    row.effective.insert("send-buffer-bytes".to_owned(), bytes);
                    row.case.buffer_bytes = Some(asked);
                }
            }))
        };
        let words = "Equal in effect, whatever size was requested: ";
        let equal = page([4608, 4608]);
        assert!(equal.contains(words) && equal.contains("send-buffer-bytes 4608"), "{equal}");
        assert!(!page([4608, 8192]).contains(words));
    }

    #[test]
    fn doubtful_medians_are_marked_and_said() {
        let summary = reshaped(|rows| {
            rows[0].shape.trials_bimodal = Some([31_000.0, 44_200.0]);
            rows[0].shape.trials_drift = true;
            rows[1].shape.samples_bimodal = Some([5_000.0, 8_000.0]);
            rows[1].shape.samples_smaller_share = Some(0.4);
            rows[2].shape.trials_bimodal = Some([41_000.0, 54_000.0]);
            rows[3].shape.samples_bimodal = Some([5_000.0, 8_000.0]);
            rows[3].shape.samples_smaller_share = Some(0.1);
        });
        let page = markdown(&summary);
        for expected in [
            "| posix-mq/block ^ |",
            "| posix-shm/futex ^ |",
            "| unix-dgram/block ! |",
            "- ^ trials fall into two groups, and the median is of one or the other: posix-mq/block 128B other-core (31.0 us and \
             44.2 us), pipe/block 128B other-core (41.0 us and 54.0 us).\n",
            "- ^ trials drift, so the interval is too narrow: posix-mq/block 128B other-core.\n",
            "- ^ each trial has round trips of two kinds, and the median may be of either: posix-shm/futex 128B \
             other-core (5.00 us and 8.00 us).\n",
        ] {
            assert!(page.contains(expected), "{expected} is missing in {page}");
        }
        assert!(table(&summary, Style::default()).contains("posix-mq/block ^ "));
    }

    #[test]
    fn no_more_than_six_rows_of_one_doubt_are_named() {
        let shaped = |count: usize| {
            let drift = |row: &mut furlong_analysis::Row| row.shape.trials_drift = true;
            markdown(&reshaped(|rows| rows.iter_mut().take(count).for_each(drift)))
        };
        assert!(!shaped(6).contains("more.") && shaped(6).matches("- ^ ").count() == 1);
        assert!(shaped(8).contains(" and 2 more.") && shaped(8).matches("- ^ ").count() == 1);
    }

    /// Returns the fixture with counts of ptrace for all rows on one core except the last one.
    fn counted() -> furlong_analysis::Summary {
        let rows = [("posix-mq", Wait::Block), ("posix-shm", Wait::Futex), ("pipe", Wait::Block)];
        let counts = rows.map(|(name, wait)| {
            let mut count = fixture::count(&fixture::case(name, wait, Placement::SameCore), "read", 500);
            count.method = CountMethod::Ptrace;
            count.why_not_better = vec!["no tracepoint: Permission denied (EACCES)".to_owned()];
            Record::Count(count)
        });
        DecodedRun::of(&Run::from_records(fixture::records().into_iter().chain(counts)).unwrap()).summary
    }

    #[test]
    fn counted_calls_have_a_column_where_a_row_was_counted() {
        let page = markdown(&counted());
        assert_eq!(page.matches("| switches | calls | vs first |").count(), 4, "{page}");
        assert_eq!(page.matches("| switches | vs first |").count(), 1, "no notification was counted: {page}");
        assert!(page.contains("| 2.00 | 2.00 | 1.29x |") && page.contains("| 2.00 |  | 2.56x |"), "{page}");
        let note = "System calls were counted by ptrace; no tracepoint: Permission denied (EACCES).";
        assert_eq!(page.matches(note).count(), 1, "{page}");
        let text = table(&counted(), Style { width: 120, ..Style::default() });
        assert!(text.contains("switches  calls  vs first"), "{text}");
        assert_eq!(text.matches(note).count(), 1, "{text}");
        let narrow = table(&counted(), Style { width: 60, ..Style::default() });
        assert!(
            narrow.contains("calls  ") && !narrow.contains("switches"),
            "requested columns stay: {narrow}"
        );
    }

    #[test]
    fn counted_calls_for_a_terminal() {
        let mut summary = counted();
        summary.rows.retain(|row| row.case.placement == Placement::SameCore);
        summary.groups.retain(|group| summary.rows.iter().any(|row| row.group == group.name));
        summary.skipped.clear();
        insta::assert_snapshot!(table(&summary, Style::default()));
    }

    #[test]
    fn counted_calls_for_a_spreadsheet() {
        let sheet = csv(&counted());
        let lines: Vec<Vec<_>> = sheet.lines().map(|line| line.split(',').collect()).collect();
        let at = |name: &str| lines[0].iter().position(|column| *column == name).unwrap();
        let cells =
            |line: &Vec<&str>| [line[at("system_calls")].to_owned(), line[at("count_method")].to_owned()];
        let counted = lines.iter().filter(|line| cells(line) == ["2", "ptrace"]).count();
        let others = lines.iter().filter(|line| cells(line) == ["", ""]).count();
        assert_eq!((counted, counted + others + 1), (3, lines.len()), "{sheet}");
    }

    #[test]
    fn late_sends_are_said_under_their_table() {
        let text = table(&fixture::summary(), Style::default());
        let (_, paced) = text.split_once(", at 10k/s\n").unwrap();
        let (paced, _) = paced.split_once("\n\n").unwrap();
        let said = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let by_timer = "sent late by furlong's timer, and timed from the send: 2.0 % of unix-seqpacket/block by 90.0 us (at most \
                        1.20 ms)";
        let waited = "sent late after another message, and timed from when they were due: 1.1 % of unix-seqpacket/block";
        let in_flight = "most messages in flight at once: unix-seqpacket/block 1";
        assert!(said(paced).ends_with(&format!("{by_timer} {waited} {in_flight}")), "{paced}");
        // Programs and older records do not distinguish these.
        let mut before = fixture::summary();
        for row in &mut before.rows {
            (row.timer_late, row.late_sends_share) = (None, row.late_sends_share.map(|_| 0.92));
        }
        let paced = said(&table(&before, Style::default()));
        assert!(
            paced.contains("sent late, and timed from when they were due: 92.0 % of unix-seqpacket/block (so its times hold"),
            "{paced}"
        );
    }

    #[test]
    fn a_spreadsheet() {
        insta::assert_snapshot!(csv(&fixture::summary()));
    }

    #[test]
    fn an_object_for_programs() {
        insta::assert_snapshot!(json(&fixture::summary()));
    }

    #[test]
    fn json_has_all_figures() {
        let summary = fixture::summary();
        assert_has_all(&json(&summary), &summary);
    }

    #[test]
    fn hostile_text_stays_text() {
        let run = hostile();
        let run = DecodedRun::of(&run);
        let summary = &run.summary;
        let style = Style { charts: Charts::Always, ..Style::default() };
        let drawn = table_of_run(&run, style);
        assert!(drawn.contains("at least this long"), "{drawn}");
        for text in [drawn, table(summary, Style::default()), markdown(summary), csv(summary)] {
            let control = |c: char| c.is_control() && c != '\n';
            assert!(!text.contains(control) && !text.contains('\u{202e}'), "{text}");
        }
        let markdown = markdown(summary);
        assert!(!markdown.contains("a|b") && !markdown.contains("<script>"), "{markdown}");
    }

    #[test]
    fn an_empty_run_still_says_what_it_is() {
        let header = Record::Run(fixture::header());
        let summary = DecodedRun::of(&Run::from_records([header]).unwrap()).summary;
        assert!(summary.run.partial && summary.run.noise.level == Level::Quiet);
        let text = table(&summary, Style::default());
        assert!(text.contains("Nothing was measured") && text.contains("Xeon"), "{text}");
        assert!(csv(&summary).starts_with("mechanism,wait,"));
    }

    #[test]
    fn narrow_tables_keep_p99_and_legends_go_with_their_columns() {
        let at = |width| table(&fixture::summary(), Style { width, ..Style::default() });
        let (narrow, wide) = (at(70), at(200));
        assert!(narrow.contains(" p99 ") && !narrow.contains("from-to"), "{narrow}");
        assert!(wide.contains("from-to: ") && wide.contains("  max  ") && wide.contains(" p99.9 "), "{wide}");
        // The tail is also shown for messages at a fixed rate, which are measured for their tail.
        let heads: Vec<_> = narrow.lines().filter(|line| line.trim_start().starts_with("#  ")).collect();
        assert!(heads.len() > 3 && heads.iter().all(|head| head.contains("p99")), "{narrow}");
    }

    #[test]
    fn figures_are_not_warned_of_where_there_are_none() {
        let noisy = || {
            let mut summary = fixture::summary();
            summary.run.noise.level = Level::Unreliable;
            summary
        };
        let with = |keep: fn(&furlong_analysis::SkippedCase) -> bool| {
            let mut summary = noisy();
            (summary.rows, summary.groups) = (Vec::new(), Vec::new());
            summary.skipped.retain(keep);
            table(&summary, Style::default())
        };
        assert!(table(&noisy(), Style::default()).contains("UNRELIABLE: do not use absolute times"));
        let refused = with(|entry| !entry.status.is_failure());
        assert!(!refused.contains("UNRELIABLE") && refused.contains("Nothing was measured."), "{refused}");
        let failed = with(|entry| entry.status.is_failure());
        assert!(failed.contains("The machine was UNRELIABLE.\n"), "{failed}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Records with damaged figures that still parse must be printable, whatever the figures are.
        #[test]
        fn no_damage_makes_it_panic(
            hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
            number in prop_oneof![Just("0"), Just("1"), Just("18446744073709551615")],
            field in prop::sample::select(vec![
                "round_trips", "elapsed_ns", "round_trips_per_sample", "verified_messages", "processor",
                "user_ns", "steal_ticks", "spin_lost", "core_to_core_ns", "clock_step_ns",
            ]),
        ) {
            let runs = damaged(with_value(&lines(&fixture::records()), field, number), &hits);
            for run in runs.into_iter().flatten() {
                let run = DecodedRun::of(&run);
                let summary = &run.summary;
                for charts in [Charts::Auto, Charts::Always] {
                    table_of_run(&run, Style { charts, ..Style::default() });
                }
                markdown(summary);
                csv(summary);
                assert_has_all(&json(summary), summary);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// With arbitrary figures as counts and costs, the explanation must still be printable and parsable.
        #[test]
        fn no_figures_make_it_panic(
            number in prop_oneof![Just("0"), Just("1"), Just("18446744073709551615")],
            cost in prop_oneof![Just("0.0"), Just("-1.5"), Just("1e308"), Just("1e-308")],
            field in prop::sample::select(vec![
                "round_trips", "voluntary_switches", "involuntary_switches", "minor_faults", "read", "size_bytes",
            ]),
        ) {
            let records = RunBuilder::with_references().row(&PIPE, &EVERYWHERE).row(&SPINNER, &EVERYWHERE).records();
            let changed = records.into_iter().filter_map(|record| {
                let text = with_value(&serde_json::to_string(&record).unwrap(), "ns", cost);
                // The bounds of declared calls are objects, and stay.
                serde_json::from_str::<Record>(&with_value(&text, field, number))
                    .or_else(|_| serde_json::from_str(&text)).ok()
            });
            let run = Run::from_records(changed).unwrap();
            let asked: Vec<_> = run.trials.iter().map(|trial| trial.case.clone()).collect();
            let run = DecodedRun::of(&run);
            let explanation = explain(&run, &asked);
            assert_has_all(&explanation_json(&explanation), &explanation);
            explanation_table(&explanation, Style::default());
            costs_table(&explanation.costs, Style::default());
            let counts = CountSummary::of(&run);
            assert_has_all(&count_json(&counts), &counts);
        }
    }
}
