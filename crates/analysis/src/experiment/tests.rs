//! Tests that read experiments, and that report each mistake with its line.

use super::{published, read_experiment};
use furlong_model::{
    Amount, Experiment, Figure, Meaning, Pattern, Placement, StartMethod, Statement, Target, Touch, Work,
};
use proptest::prelude::*;

/// A small file in which every line is needed or used.
const MINE: &str = r#"name = "mine"
title = "Two of my own"
year = 2026
[measure]
kind = "round-trip"
sizes = ["100", "4KiB"]
count = 1000
order_by = "mean_us"

[[row]]
name = "A"
row = "pipe/block"
published = [
  { size = "100", mean_us = 5 },
  { size = "4KiB", mean_us = 6.5, user_s = 0 },
]

[[row]]
name = "B"
row = "unix-stream/block"

[[claim]]
text = "A is faster."
faster = "A"
than = "B"
"#;

fn read(text: &str) -> Experiment {
    read_experiment(text, "mine.toml").unwrap()
}

/// Returns the published experiments.
fn all() -> Vec<Experiment> {
    published().iter().map(|(name, text)| read_experiment(text, name).unwrap()).collect()
}

/// Returns the error for `MINE` with `old` replaced by `new`.
fn said(old: &str, new: &str) -> String {
    assert!(MINE.contains(old), "{old}");
    let text = MINE.replacen(old, new, 1);
    read_experiment(&text, "mine.toml").unwrap_err().to_string()
}

#[test]
fn all_read_and_bear_the_name_of_their_file() {
    let names: Vec<_> = all().into_iter().map(|experiment| experiment.name).collect();
    let files: Vec<_> = published().iter().map(|(name, _)| *name).collect();
    assert_eq!(names, files);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
    let mut on_disk: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    let mut listed: Vec<_> =
        files.iter().map(|name| std::ffi::OsString::from(format!("{name}.toml"))).collect();
    on_disk.sort();
    listed.sort();
    assert_eq!(listed, on_disk);
    assert!(all().iter().all(|experiment| experiment.source.is_some()));
}

#[test]
fn the_five_say_what_is_wrong_with_their_programs_and_how_these_compare() {
    let all = all();
    assert!(all[..5].iter().all(|experiment| experiment.programs.is_some() && !experiment.faults.is_empty()));
    assert!(all[0].faults[0].contains("mq_open"), "{:?}", all[0].faults);
}

#[test]
fn the_five_have_every_published_figure() {
    let figures = |experiment: &Experiment| -> usize {
        let of_rows = experiment.rows.iter().flat_map(|row| &row.published).map(|size| size.figures.len());
        let starts = experiment.starts.iter().flat_map(|start| [start.first_ms, start.later_ms]).flatten();
        of_rows.sum::<usize>() + starts.count()
    };
    let counts: Vec<_> = all()[..5].iter().map(figures).collect();
    assert_eq!(counts, [5 * 3, 5 * 4, 10 * 4 + 8, 5 * 2, 8 * 2]);
    let calls: usize = all()[1].rows.iter().map(|row| row.system_calls.len()).sum();
    assert_eq!(calls, 5 * 11);
}

#[test]
fn the_five_are_measured_as_published() {
    let all = all();
    let count = |experiment: &Experiment, size| match &experiment.measure.work {
        Work::Exchange(exchange) => exchange.count.exchanges(size),
        Work::Handover { repetitions, .. } => u64::from(*repetitions),
    };
    assert_eq!(count(&all[0], 128), 500_000);
    assert_eq!(count(&all[1], 100 << 20), 10);
    assert_eq!(count(&all[2], 32 << 10), 32_768);
    assert_eq!(count(&all[3], 128), 10_000);
    assert_eq!(all[0].measure.place, Placement::SameCore);
    assert_eq!(all[1].measure.sizes_bytes, [104_857_600]);
    let Work::Exchange(blocks) = &all[2].measure.work else { panic!("{:?}", all[2].measure.work) };
    assert_eq!((blocks.pattern, blocks.per_trial), (Pattern::Request, Amount::Bytes(128 << 20)));
    assert_eq!(blocks.request.as_ref().map(|request| request.size_bytes), Some(1));
}

#[test]
fn a_users_own_file_is_read_with_its_defaults() {
    let mine = read(MINE);
    assert_eq!((mine.year, mine.author), (Some(2026), None));
    assert_eq!((mine.measure.trials, mine.measure.place), (10, Placement::OtherCore));
    let Work::Exchange(exchange) = mine.measure.work else { panic!("{:?}", mine.measure.work) };
    assert_eq!(exchange.per_trial, Amount::Exchanges(1000));
    assert_eq!(mine.rows[0].published[1].figures[&Figure::MeanUs], 6.5);
    assert_eq!(mine.rows[1].target.as_ref().map(Target::name), Some("unix-stream/block".to_owned()));
    let faster = Statement::Faster { row: "A".into(), than: "B".into(), times: 1.0, at_most: None };
    assert_eq!(mine.claims[0].states, faster);
}

#[test]
fn lines_have_settings_and_machines_of_their_own() {
    let text = MINE
        .replacen("[measure]", "[[other_machine]]\nname = \"m3\"\ntext = \"a laptop\"\n[measure]", 1)
        .replacen("row = \"unix-stream/block\"", OWN_SETTINGS, 1)
        .replacen("than = \"B\"", "than = \"B\"\ntimes = 2\nat_most = 3\nfrom = \"4KiB\"", 1);
    let mine = read(&text);
    let Some(Target::Row(row)) = &mine.rows[1].target else { panic!("{:?}", mine.rows[1]) };
    let case = mine.measure.case(row, 100).unwrap();
    assert_eq!(case.placement, Placement::SameCore);
    assert_eq!(case.conditions.to_string(), "socket-options nodelay");
    assert_eq!(mine.rows[1].target.as_ref().unwrap().name(), "tcp/block, socket-options nodelay, same-core");
    let published: Vec<_> = mine.rows[1].published.iter().map(|figures| figures.machine.as_deref()).collect();
    assert_eq!(published, [None, Some("m3")]);
    assert_eq!([100, 4096].map(|size| mine.claims[0].is_about(size)), [false, true]);
    assert!(matches!(mine.claims[0].states, Statement::Faster { at_most: Some(most), .. } if most == 3.0));
    let unknown = text.replace("machine = \"m3\"", "machine = \"m4\"");
    let error = read_experiment(&unknown, "mine.toml").unwrap_err().to_string();
    assert!(error.contains("no name in [[other_machine]] is called 'm4'"), "{error}");
    for (old, new, expected) in [
        ("\"nodelay\" }", "\"slow\" }", "'slow'"),
        ("socket-options", "socket-option", "no condition is called 'socket-option'"),
        ("at_most = 3", "at_most = 1", "1 is not a valid ratio"),
    ] {
        let error = read_experiment(&text.replace(old, new), "mine.toml").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// A line whose placement and conditions differ from those of the experiment.
const OWN_SETTINGS: &str = r#"row = "tcp/block"
place = "same-core"
conditions = { socket-options = "nodelay" }
published = [{ size = "100", mean_us = 4 }, { size = "100", machine = "m3", mean_us = 3, p99_us = 9 }]"#;

#[test]
fn the_example_of_the_documentation_reads() {
    let page = include_str!("../../../../docs/experiments.md");
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let mine = read(example);
    assert_eq!(mine.name, "mine");
    assert!(!mine.rows.is_empty() && !mine.claims.is_empty());
}

#[test]
fn every_key_is_documented() {
    let page = include_str!("../../../../docs/experiments.md");
    let schema = include_str!("schema.rs");
    let fields = schema.lines().filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(": "));
    for (field, _) in fields {
        assert!(page.contains(&format!("`{field}`")), "{field} is not in docs/experiments.md");
    }
    for figure in Figure::ALL {
        assert!(page.contains(&format!("`{figure}`")), "{figure} is not in docs/experiments.md");
    }
}

#[test]
fn a_handover_has_backings() {
    let text = "name = \"h\"\ntitle = \"t\"\n[measure]\nkind = \"handover\"\nsizes = [\"1MiB\"]\nrepetitions = 3\n\
                touch = \"line\"\norder_by = \"real_s\"\n[[row]]\nname = \"a\"\nbacking = \"tmpfs\"\n";
    let Work::Handover { touch, repetitions } = read(text).measure.work else { panic!() };
    assert_eq!((touch, repetitions), (Touch::Line, 3));
    let wrong = |old: &str, new: &str| {
        read_experiment(&text.replacen(old, new, 1), "h.toml").unwrap_err().to_string()
    };
    assert!(
        wrong("backing = \"tmpfs\"", "row = \"pipe/block\"")
            .starts_with("h.toml:11: a handover has backings")
    );
    assert!(
        wrong("tmpfs", "ramdisk")
            .starts_with("h.toml:11: no backing is called 'ramdisk'; there are: anonymous")
    );
    assert!(
        wrong("real_s", "mean_us")
            .starts_with("h.toml:8: no figure of this kind of experiment is called 'mean_us'")
    );
    assert!(wrong("touch = \"line\"", "count = 7").starts_with("h.toml:7: a handover has no count"));
    assert!(wrong("repetitions = 3\n", "").starts_with("h.toml:4: a handover needs a number of repetitions"));
    assert!(
        wrong("repetitions = 3\n", "repetitions = 0\n")
            .contains(":6: 0 is not a valid number of repetitions")
    );
}

#[test]
fn each_mistake_is_told_with_its_line() {
    for (old, new, expected) in [
        ("name = \"mine\"\n", "", "mine.toml:1: missing field `name`"),
        ("title", "titel", "mine.toml:2: unknown field `titel`, expected one of `name`, `title`"),
        ("\"Two of my own\"", "\" \"", "mine.toml:2: the text is empty"),
        (
            "\"mine\"",
            "\"My own\"",
            "mine.toml:1: 'My own' is not a valid name: write small letters, digits and hyphens",
        ),
        ("2026", "26", "mine.toml:3: 26 is not a valid year: write a whole number from 1960 to 2999"),
        ("2026", "\"2026\"", "mine.toml:3: invalid type: string \"2026\", expected i64"),
        (
            "round-trip",
            "ping",
            "mine.toml:5: no kind is called 'ping'; there are: round-trip, one-way, request, connect, fan-out, fan-in, work, ready, handover",
        ),
        (
            "4KiB\"]",
            "12XB\"]",
            "mine.toml:6: '12XB' is not a valid size: write whole bytes from 0 to 1GiB, as in 128, 4KiB or 1MiB; 4K is 4KiB, and 4KB is \
             4000",
        ),
        ("[\"100\", \"4KiB\"]", "[]", "mine.toml:6: write 1 to 64 sizes"),
        ("\"4KiB\"]", "\"100\"]", "mine.toml:6: the size 100 occurs twice"),
        ("\"100\", ", "\"0\", ", "mine.toml:6: a size of 0 bytes carries nothing"),
        (
            "count = 1000",
            "count = 0",
            "mine.toml:7: 0 is not a valid count: write a whole number from 1 to 1000000000",
        ),
        ("count = 1000", "total = \"1TB\"", "mine.toml:7: '1TB' is not a valid size"),
        ("count = 1000", "", "mine.toml:5: the amount of work is missing"),
        ("count = 1000", "count = 1\ntotal = \"1KiB\"", "mine.toml:7: count and total exclude each other"),
        ("count = 1000", "count = 1\nper_trial = 1.5", "mine.toml:8: per_trial is a number of exchanges"),
        ("count = 1000", "count = 1\ntrials = 1001", "mine.toml:8: 1001 is not a valid number of trials"),
        (
            "count = 1000",
            "count = 1\nplace = \"here\"",
            "mine.toml:8: no placement is called 'here'; there are: other-core",
        ),
        ("count = 1000", "count = 1\nask = \"1\"", "mine.toml:8: only kind \"request\" has a request"),
        (
            "count = 1000",
            "count = 1\nrequest_by = \"tcp\"",
            "mine.toml:8: only kind \"request\" has a request",
        ),
        ("count = 1000", "count = 1\ntouch = \"byte\"", "mine.toml:8: only a handover has touch"),
        ("round-trip", "request", "mine.toml:5: kind \"request\" needs the size"),
        ("order_by = \"mean_us\"", "", "mine.toml:4: missing field `order_by`"),
        (
            "by = \"mean_us\"",
            "by = \"mean_ms\"",
            "mine.toml:8: no figure of this kind of experiment is called 'mean_ms'; there are: real_s",
        ),
        (
            "by = \"mean_us\"",
            "by = \"steady_ms\"",
            "mine.toml:8: no figure of this kind of experiment is called 'steady_ms'",
        ),
        (
            "pipe/block",
            "pipe+",
            "mine.toml:12: 'pipe+' is not a valid row: write mechanism/wait, as in pipe/block",
        ),
        ("pipe/block", "pipe/sleep", "mine.toml:12: no wait is called 'sleep'; there are: block, spin"),
        ("pipe/block", "Pipe!/block", "mine.toml:12: 'Pipe!' is not a valid name"),
        (
            "row = \"pipe/block\"",
            "",
            "mine.toml:11: the row needs a mechanism, as in row = \"pipe/block\", or a reason",
        ),
        ("row = \"pipe/block\"", "backing = \"tmpfs\"", "mine.toml:12: only a handover has backings"),
        ("size = \"4KiB\", mean", "mean", "mine.toml:15: the figures need a size"),
        (
            "size = \"4KiB\"",
            "size = \"8KiB\"",
            "mine.toml:15: 8KiB is not one of the sizes of [measure]: 100B, 4KiB",
        ),
        ("size = \"4KiB\"", "size = 4096", "mine.toml:15: a size is text"),
        ("size = \"4KiB\"", "size = \"100\"", "mine.toml:15: figures of 100B already exist"),
        ("user_s = 0", "user = 0", "mine.toml:15: no figure of this kind of experiment is called 'user'"),
        ("user_s = 0", "user_s = -1", "mine.toml:15: user_s is a number of 0 or more"),
        ("user_s = 0", "user_s = nan", "mine.toml:15: user_s is a number of 0 or more"),
        (
            "mean_us = 5",
            "mean_us = 0",
            "mine.toml:14: mean_us is a number above 0, since rows are ordered by it",
        ),
        ("mean_us = 5", "mean_us = \"5\"", "mine.toml:14: mean_us is a number above 0"),
        (", mean_us = 5", "", "mine.toml:14: there is no figure"),
        ("name = \"B\"", "name = \"A\"", "mine.toml:19: a row named 'A' already exists"),
        ("unix-stream/block", "pipe/block", "mine.toml:19: 'pipe/block' is already measured for 'A'"),
        ("faster = \"A\"", "faster = \"C\"", "mine.toml:24: no row is called 'C'; there are: A, B"),
        ("than = \"B\"", "than = \"A\"", "mine.toml:25: 'A' is compared with itself"),
        ("than = \"B\"", "than = \"B\"\ntimes = 0.5", "mine.toml:26: 0.5 is not a valid ratio"),
        ("than = \"B\"", "", "mine.toml:23: a claim states one thing"),
        ("than = \"B\"", "than = \"B\"\nsize = \"1KiB\"", "mine.toml:26: 1KiB is not one of the sizes"),
        ("than = \"B\"", "than = \"B\"\nwithin = 1.5", "mine.toml:26: this kind of claim has no within"),
        ("faster = \"A\"\nthan = \"B\"", "fastest = \"B\"", "mine.toml:24: 'B' has no published figures"),
        ("faster = \"A\"\nthan = \"B\"", "alike = [\"A\"]", "mine.toml:24: write two rows"),
        ("faster = \"A\"\nthan = \"B\"", "best_size = \"4KiB\"", "mine.toml:23: a claim states one thing"),
        ("[[claim]]", "[[claim", "mine.toml:22: "),
        ("[[claim]]", "[[start]]\nname = \"s\"\n[[claim]]", "mine.toml:23: the start needs a method"),
        (
            "[[claim]]",
            "[[start]]\nname = \"s\"\nmethod = \"clone\"\n[[claim]]",
            "mine.toml:24: no way to start a process is called 'clone'",
        ),
        (
            "[[claim]]",
            "[[start]]\nname = \"s\"\nmethod = \"fork\"\nfirst_ms = -1\n[[claim]]",
            "mine.toml:25: -1 is not a valid time in milliseconds",
        ),
    ] {
        let said = said(old, new);
        assert!(said.starts_with(expected), "{old:?} -> {new:?}\nsaid     {said}\nexpected {expected}");
    }
}

#[test]
fn windows_has_rows_and_starts_of_its_own() {
    let (_, text) = published().iter().find(|(name, _)| *name == "qiita-windows-blocks").unwrap();
    let [elsewhere, on_windows] =
        [false, true].map(|windows| super::read(text, "blocks.toml", windows).unwrap());
    assert!(!elsewhere.has_subsystems() && on_windows.has_subsystems());
    let targets = |experiment: &Experiment| -> Vec<Option<String>> {
        let published = experiment.rows.iter().filter(|row| !row.published.is_empty());
        published.map(|row| row.target.as_ref().map(Target::name)).collect()
    };
    let names = [
        "anonymous-pipe/block (console)",
        "anonymous-pipe/block (windows)",
        "section/event (console)",
        "section/event (windows)",
    ];
    assert_eq!(targets(&on_windows), names.map(|name| Some(name.to_owned())));
    assert_eq!(targets(&elsewhere)[1], None);
    assert!(on_windows.starts[..4].iter().all(|start| start.method.is_some_and(StartMethod::is_of_windows)));
    let Work::Exchange(exchange) = &on_windows.measure.work else { panic!("it exchanges messages") };
    assert_eq!(exchange.request.as_ref().unwrap().by.as_deref(), Some("anonymous-pipe"));
}

#[test]
fn what_is_wrong_of_windows_is_told_everywhere() {
    let wrong =
        "row = \"pipe/block\"\non_windows = { row = \"anonymous-pipe/block\", subsystem = \"posix\" }";
    let said = said("row = \"pipe/block\"", wrong);
    assert!(said.contains("no subsystem is called 'posix'"), "{said}");
}

#[test]
fn nothing_to_compare_and_too_much_text_are_refused() {
    let (head, _) = MINE.split_once("[[row]]").unwrap();
    let empty = read_experiment(head, "mine.toml").unwrap_err();
    assert!(empty.to_string().starts_with("mine.toml:1: there is nothing to compare"), "{empty}");
    let long = format!("{MINE}#{}", "x".repeat(super::LONGEST_FILE));
    assert!(read_experiment(&long, "mine.toml").unwrap_err().reason.starts_with("the file is longer than"));
    let wordy = said("Two of my own", &"x".repeat(301));
    assert_eq!(wordy, "mine.toml:2: the text has 301 characters, at most 300 are allowed");
}

#[test]
fn errors_do_not_command_a_terminal() {
    let error = read_experiment("name = 1\n\u{1b}[2J = 2", "\u{1b}[2J.toml").unwrap_err().to_string();
    assert!(!error.contains(char::is_control), "{error:?}");
    let word = said("round-trip", "\\u001b[2J").contains(char::is_control);
    assert!(!word);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A damaged file is read or rejected, and the line in the error exists in the file.
    #[test]
    fn no_damage_makes_the_reader_panic(
        which in 0..6_usize,
        hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6),
    ) {
        let intact = published().get(which).map_or(MINE, |(_, text)| *text);
        let tokens = ["\"", "[", "]", "{", "}", "=", "\n", "0", "-1", "1e999", "nan", "name", "[[row]]", "#", "\u{0}",
            "\"\"\"", "9223372036854775807", "size", ",", "é"];
        let mut letters: Vec<String> = intact.chars().map(String::from).collect();
        for (at, token) in hits {
            let at = at.index(letters.len());
            letters[at] = (*token.get(&tokens)).to_owned();
        }
        let text = letters.concat();
        if let Err(error) = read_experiment(&text, "mine.toml") {
            prop_assert!((1..=text.lines().count() + 1).contains(&error.line), "{}", error);
        }
    }
}

#[test]
fn claims_of_meaning_are_read_and_checked() {
    let with = |keys: &str| MINE.replacen("faster = \"A\"\nthan = \"B\"", keys, 1);
    let mine = read(&with("meaning = \"keeps-boundaries\"\nof = \"B\"\nholds = false"));
    let claim = &mine.meanings[0];
    assert_eq!((claim.meaning, claim.of.as_str(), claim.holds), (Meaning::KeepsBoundaries, "B", false));
    assert!(mine.claims.is_empty() && read(&with("meaning = \"persists\"\nof = \"A\"")).meanings[0].holds);
    for (keys, error) in [
        ("meaning = \"lasts\"\nof = \"A\"", "24: no meaning is called 'lasts'; there are: persists,"),
        ("meaning = \"persists\"\nof = \"C\"", "25: no row is called 'C'; there are: A, B"),
        ("meaning = \"persists\"", "23: a claim with a meaning needs of"),
        ("meaning = \"persists\"\nof = \"A\"\nsize = \"100\"", "26: this kind of claim has no size"),
        ("faster = \"A\"\nthan = \"B\"\nholds = true", "26: this kind of claim has no holds"),
        ("holds = true", "23: a claim states one thing"),
    ] {
        let said = read_experiment(&with(keys), "mine.toml").unwrap_err().to_string();
        assert!(said.starts_with(&format!("mine.toml:{error}")), "{keys}: {said}");
    }
}

#[test]
fn every_publication_has_an_address_or_says_that_it_was_not_seen() {
    for experiment in all() {
        let source = experiment.source.unwrap_or_default();
        let is_domain = |word: &str| {
            let host = word.split('/').next().unwrap_or_default().trim_end_matches([',', ';']);
            host.rsplit_once('.').is_some_and(|(name, end)| {
                !name.is_empty() && (2..=7).contains(&end.len()) && !["md", "csv", "rst"].contains(&end)
            })
        };
        let words = source.split([' ', '(']);
        let has_address = words.filter(|word| !word.contains('*')).any(is_domain);
        let unseen = experiment.unseen.unwrap_or_default();
        assert!(has_address || unseen == "Its address.", "{}: {source}", experiment.name);
    }
}
