//! A summary as text: for a terminal, for Markdown, for a spreadsheet and for programs.
//!
//! Nothing is computed here that is not in the [`Summary`], so all formats say the same.

mod bar;
mod costs;
mod count;
mod csv;
mod explain;
mod fit;
mod grid;
mod json;
mod layout;
mod markdown;
mod object;
mod prose;
mod self_check;
mod style;
mod table;
mod text;
mod unmeasured;

pub use costs::{costs_json, costs_table};
pub use count::{count_json, count_table};
pub use csv::csv;
pub use explain::{explanation_json, explanation_table};
pub use json::{json, self_check_json};
pub use markdown::markdown;
pub use self_check::self_check_table;
pub use style::Style;
pub use table::table;

#[cfg(doc)]
use crate::Summary;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, Run, fixture, summarise};
    use furlong_model::Record;
    use proptest::prelude::*;

    /// The fixture with terminal escapes, markup and line breaks in every text of a record.
    fn hostile() -> crate::Summary {
        const EVIL: &str = "\u{1b}[2J\u{202e}a|b\n<script>`c`\0";
        let mut records = fixture::records();
        for record in &mut records {
            match record {
                Record::Run(header) => {
                    header.machine.processor = Some(EVIL.into());
                    header.machine.kernel = EVIL.into();
                }
                Record::Trial(trial) => trial.case.mechanism += EVIL,
                _ => {}
            }
        }
        summarise(&Run::from_records(records).unwrap())
    }

    #[test]
    fn a_table_for_a_terminal() {
        insta::assert_snapshot!(table(&fixture::summary(), Style::default()));
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
    fn a_page_of_markdown() {
        insta::assert_snapshot!(markdown(&fixture::summary()));
    }

    /// The fixture after `change` to its first rows.
    fn reshaped(change: impl FnOnce(&mut [crate::Row])) -> crate::Summary {
        let mut summary = fixture::summary();
        change(&mut summary.rows);
        summary
    }

    #[test]
    fn rows_of_two_kinds_are_marked_and_described() {
        let summary = reshaped(|rows| {
            rows[0].shape.trials_bimodal = Some([31_000.0, 44_200.0]);
            rows[0].shape.trials_drift = true;
            rows[0].shape.trials_autocorrelation = Some(0.62);
            rows[1].shape.samples_bimodal = Some([5_000.0, 7_000.0]);
            rows[2].shape.trials_bimodal = Some([41_000.0, 54_000.0]);
        });
        let page = markdown(&summary);
        for expected in [
            "| posix-mq/block ^ |",
            "- ^ two modes or a drift: ",
            "- ^ posix-mq/block 128B other-core: trials fall into two groups, around 31.0 us and 44.2 us; the median \
             is of one or the other; each trial is like the one before it (correlation 0.62), so the interval is too \
             narrow.\n",
            "- ^ posix-shm/futex 128B other-core: round trips of the same trial are of two kinds, around 5.00 us and \
             7.00 us.\n",
        ] {
            assert!(page.contains(expected), "{expected} is missing in {page}");
        }
        let place = |name: &str| page.find(&format!("- ^ {name}")).unwrap();
        assert!(place("pipe/block") < place("posix-shm/futex"), "groups of trials come first");
        assert!(table(&summary, Style::default()).contains("posix-mq/block ^ "));
    }

    #[test]
    fn no_more_than_six_shapes_are_described() {
        let shaped = |count: usize| {
            let drift = |row: &mut crate::Row| row.shape.trials_drift = true;
            markdown(&reshaped(|rows| rows.iter_mut().take(count).for_each(drift)))
        };
        assert!(!shaped(6).contains("more.") && shaped(6).matches("- ^ ").count() == 7);
        assert!(shaped(8).contains("- ^ and 2 more.") && shaped(8).matches("- ^ ").count() == 8);
    }

    #[test]
    fn late_sends_are_said_under_their_table() {
        let text = table(&fixture::summary(), Style::default());
        let (_, paced) = text.split_once(", one message every 100 us\n").unwrap();
        let (paced, _) = paced.split_once("\n\n").unwrap();
        assert!(paced.ends_with("sent late: 3.1 % of unix-seqpacket/block"), "{paced}");
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
    fn json_reads_back() {
        let summary = fixture::summary();
        assert_eq!(serde_json::from_str::<crate::Summary>(&json(&summary)).unwrap(), summary);
    }

    #[test]
    fn hostile_text_stays_text() {
        let summary = hostile();
        for text in [table(&summary, Style::default()), markdown(&summary), csv(&summary)] {
            let control = |c: char| c.is_control() && c != '\n';
            assert!(!text.contains(control) && !text.contains('\u{202e}'), "{text}");
        }
        let markdown = markdown(&summary);
        assert!(!markdown.contains("a|b") && !markdown.contains("<script>"), "{markdown}");
    }

    #[test]
    fn an_empty_run_still_says_what_it_is() {
        let header = Record::Run(fixture::header());
        let summary = summarise(&Run::from_records([header]).unwrap());
        assert!(summary.partial && summary.noise.level == Level::Quiet);
        let text = table(&summary, Style::default());
        assert!(text.contains("Nothing was measured") && text.contains("Xeon"), "{text}");
        assert!(csv(&summary).starts_with("mechanism,wait,"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Damage that still reads as records must still render: the figures in it may be anything.
        #[test]
        fn no_damage_makes_it_panic(
            hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
            number in prop_oneof![Just("0"), Just("1"), Just("18446744073709551615")],
            field in prop::sample::select(vec![
                "round_trips", "elapsed_ns", "round_trips_per_sample", "verified_messages", "processor",
                "user_ns", "steal_ticks", "spin_lost", "core_to_core_ns", "clock_step_ns",
            ]),
        ) {
            let lines = fixture::records().into_iter().map(|record| serde_json::to_string(&record).unwrap() + "\n");
            let key = format!("\"{field}\":");
            let mut text = String::new();
            for line in lines {
                let mut parts = line.split(&key);
                text += parts.next().unwrap_or_default();
                for part in parts {
                    let end = part.find([',', '}']).unwrap_or(0);
                    text += &format!("{key}{number}{}", &part[end..]);
                }
            }
            let intact = Run::from_reader(text.as_bytes());
            let mut bytes = text.into_bytes();
            for (at, byte) in hits {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            for run in [intact, Run::from_reader(bytes.as_slice())].into_iter().flatten() {
                let summary = summarise(&run);
                table(&summary, Style::default());
                markdown(&summary);
                csv(&summary);
                let read: crate::Summary = serde_json::from_str(&json(&summary)).unwrap();
                prop_assert_eq!(read.rows.len(), summary.rows.len());
            }
        }
    }
}
