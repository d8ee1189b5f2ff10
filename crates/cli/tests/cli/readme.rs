//! Every command that the README, the pages of docs/ and `--help` show can be typed as it stands.

use crate::common::{Place, SSH_TO_HERE, look_for};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// What a line starts with if it is a command of ours; behind `cargo run --release` come its arguments.
const CARGO: &str = "cargo run --release";

/// The command in a line as a shell would take it, without what cargo does; `None` if it is none of ours.
fn command(line: &str) -> Option<String> {
    let line = line.trim();
    let is = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    match line.strip_prefix(CARGO) {
        Some("") => Some("furlong".to_owned()),
        Some(rest) if rest.trim_start().starts_with('#') => Some("furlong".to_owned()),
        Some(rest) => rest.strip_prefix(" -- ").map(|rest| format!("furlong {rest}")),
        None => line.strip_prefix("furlong").filter(|rest| is(rest)).map(|_| line.to_owned()),
    }
}

/// The commands in the shell blocks of the README and of the pages of the book, and in the README's table.
fn pages() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs =
        fs::read_dir(root.join("docs")).expect("a folder").map(|entry| entry.expect("an entry").path());
    let docs = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let readme = root.join("README.md");
    let table = fs::read_to_string(&readme).expect("a README");
    let rows =
        table.lines().filter(|line| line.starts_with("| ")).flat_map(|row| row.split('`').skip(1).step_by(2));
    let in_table: Vec<_> = rows.filter_map(command).collect();
    assert!(in_table.len() > 10, "{in_table:?}");
    docs.chain([readme]).flat_map(|path| commands_of(&path)).chain(in_table).collect()
}

/// The commands in a page's shell blocks.
fn commands_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut commands = Vec::new();
    let mut in_shell = false;
    // A line that ends with a backslash goes on.
    for line in text.replace("\\\n", " ").lines() {
        match line.trim().strip_prefix("```") {
            Some(language) => in_shell = !in_shell && language.trim() == "sh",
            None if in_shell => commands.extend(command(line)),
            None => {}
        }
    }
    commands
}

/// The verbs that a help lists, or the parts of a verb.
fn listed(help: &str) -> Vec<&str> {
    let Some((_, listed)) = help.split_once("Commands:\n") else { return Vec::new() };
    listed
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect()
}

/// The commands under `Examples:` in the help of each verb and of its parts.
fn help(place: &Place) -> Vec<String> {
    let mut commands = Vec::new();
    let mut left = vec![Vec::new()];
    while let Some(words) = left.pop() {
        let asked = words.iter().map(String::as_str).chain(["--help"]);
        let text = place.run(asked).expect_code(0).stdout;
        let verbs = listed(&text);
        assert!(!words.is_empty() || verbs.len() >= 14, "{verbs:?}");
        left.extend(verbs.iter().map(|verb| [words.as_slice(), &[(*verb).to_owned()]].concat()));
        let (_, examples) = text.split_once("Examples:\n").unwrap_or_else(|| panic!("no examples in {text}"));
        let before = commands.len();
        for line in examples.lines().take_while(|line| line.starts_with("  ")) {
            // What an example is for stands behind it, two spaces away.
            let line = line.trim();
            commands.extend(command(line.split_once("  ").map_or(line, |(command, _)| command)));
        }
        assert!(commands.len() > before, "no command in {text}");
    }
    commands
}

/// A line in which `option` has another value, if it has any.
fn with_value(line: &str, option: &str, value: &str) -> String {
    let mut words: Vec<_> = line.split(' ').collect();
    if let Some(place) = words.iter().position(|word| *word == option) {
        words[place + 1] = value;
    }
    words.join(" ")
}

/// Runs a line as it stands, but for the time it takes: where `run` is told no other number of trials it makes
/// one, in which it measures for 2 ms, repeats that at once, and what it measures is not saved unless that was asked. A row is compared
/// with itself just twice, with as many trials as an interval needs. `replay` makes one trial, whatever it is told.
/// `recommend` measures for as short as it can, and no messages of 4 MiB, `explain` and `costs` make three trials of 5 ms. `driver log` follows for
/// 10 ms.
fn expect_it_runs(place: &Place, line: &str) {
    let line = match line {
        _ if line.starts_with("furlong replay ") => &with_value(line, "--trials", "1"),
        // All of them take minutes to build, and Go's compiler half of one.
        _ if line.contains("adapter install --all") => &line.replace("--all", "c"),
        _ if line.contains("adapter install python go") => &line.replace("python go", "python c"),
        // Python starts slowly, and has nine rows.
        _ if line.contains("adapter check python") => &line.replace("check python", "check c"),
        _ if line.contains("'python-*'") => &line.replace("python-*", "python-p*"),
        _ if line.contains("recommend --size 4MiB") => &with_value(line, "--size", "64KiB"),
        line => line,
    };
    let unless = |option: &str, more: &'static str| if line.contains(option) { "" } else { more };
    let compares = line.contains("--self-check");
    let is_many = ["--pairs", "fan-out", "--senders", "--workers"].iter().any(|many| line.contains(many));
    let shorter = format!(
        "{} {} {} {}",
        unless("--trials", if compares { "--repeats 2 --trials 5" } else { "--trials 1" }),
        // Several pairs begin one after the other, and must be measured at the same time; a stall has a third of it.
        unless(
            "--budget",
            match line.contains("--stall") {
                true => "--budget 400ms",
                false if is_many => "--budget 100ms",
                false => "--budget 2ms",
            }
        ),
        unless("save", "--no-save"),
        if line.contains("--across") { unless("--apart", "--apart 100ms") } else { "" }
    );
    let replay = format!("{} --no-save", unless("--trials", "--trials 1"));
    let trials = unless("--trials", "--trials 3");
    let budget = unless("--budget", "--budget 5ms");
    let log = unless("--for", "--for 10ms");
    let replay = if line.contains("--list") { "" } else { &replay };
    let script = format!(
        "furlong() {{
            case \"$1\" in
                run) shift; set -- run {shorter} \"$@\" ;;
                replay) shift; set -- replay {replay} \"$@\" ;;
                driver) [ \"$2\" = log ] && set -- \"$@\" {log} ;;
                recommend) shift; set -- recommend --within 1s --no-save \"$@\" ;;
                explain) set -- \"$@\" {trials} {budget} ;;
                costs) set -- \"$@\" {trials} ;;
            esac
            \"$FURLONG\" \"$@\"
        }}
        {line}"
    );
    let mut shell = place.shell(&script);
    if line.contains("ssh://") {
        shell.env("PATH", place.path_with("ssh", SSH_TO_HERE));
    }
    let running = place.start(&mut shell);
    let finished = running.finish_within(Duration::from_secs(120)).expect_no_panic();
    // On a machine that is not fit, --strict says so; a row may fail to tie with itself by chance, and be too slow or
    // vary too much.
    let may_end = |word: &str, code: i32| line.contains(word) && finished.code == Some(code);
    // Of all adapters a machine may have the tools for none.
    let adapters = line.contains("adapter install") && finished.stdout.contains("not installed");
    // What needs the driver says so where it is not loaded or cannot be built.
    let driver = may_end("furlong driver ", 7) && !line.contains("--source-only");
    let worse =
        may_end("--fail-on regression", 3) || may_end("--fail-on regression", 4) || may_end("--slo", 3);
    // A machine that others use too may not carry a rate just then.
    let too_busy = ["is saturated", "No answer yet"];
    let saturated = may_end("--rate", 7) && too_busy.iter().any(|said| finished.stdout.contains(said));
    // Nor may it let all of several begin soon enough to be measured at the same time.
    let apart = is_many && finished.code == Some(1) && finished.stdout.contains("take a longer --budget");
    // Where there can be no namespaces, that is said.
    let namespaces = may_end("--boundary netns", 7) && finished.stderr.contains("user.max_net_namespaces");
    let fine = finished.code == Some(0)
        || namespaces
        || may_end("--strict", 5)
        || may_end("--self-check", 1)
        || worse
        || saturated
        || apart
        || driver
        || adapters;
    assert!(fine, "{line}: {finished:#?}");
}

/// A place in which the runs are saved that examples compare.
fn with_saved_runs() -> Place {
    let place = Place::new();
    for name in ["before", "after", "after-2"] {
        place.run(["run", "pipe", "--trials", "4", "--budget", "2ms", "--save", name]).expect_code(0);
        for folder in ["results", "results/baseline", "fleet/results"] {
            fs::create_dir_all(place.path(folder)).expect("a folder");
            fs::copy(place.saved(name), place.path(folder).join(format!("{name}.jsonl"))).expect("a copy");
        }
    }
    place
}

/// What takes longer than a test may begins, saves trials, and is interrupted.
fn expect_it_begins(place: &Place, line: &str) {
    let line = line.replacen("furlong", "exec \"$FURLONG\"", 1);
    let running = place.start(&mut place.shell(&line));
    let saved = || (place.records_of_all("trial") > 0).then_some(());
    look_for(Duration::from_secs(60), saved).expect("a trial");
    running.signal(libc::SIGINT);
    let watches = line.contains("--watch");
    let finished = running.finish().expect_code(if watches { 0 } else { 130 });
    assert_eq!(finished.stdout.contains("The run is partial"), !watches, "{finished:#?}");
}

/// What serves until it is interrupted says where; another port than 8080 may be free.
fn expect_it_serves(place: &Place, line: &str) {
    fs::create_dir(place.path("results")).expect("a folder");
    let line = with_value(line, "--port", "0").replacen("furlong", "exec \"$FURLONG\"", 1);
    let running = place.start(&mut place.shell(&line));
    let address = || running.stdout().starts_with("http://127.0.0.1:").then_some(());
    look_for(Duration::from_secs(60), address).expect("an address");
    running.signal(libc::SIGINT);
    running.finish().expect_code(130);
}

/// Whether a line is the quick set, with or without a comment.
fn is_quick_set(line: &str) -> bool {
    line.strip_prefix("furlong").is_some_and(|rest| rest.trim().is_empty() || rest.trim().starts_with('#'))
}

/// Whether a line takes long as it stands, whatever options are added. `replay_published` runs the longest experiment whole.
fn takes_long(line: &str) -> bool {
    is_quick_set(line) || ["replay --all", "replay qiita", "--watch"].iter().any(|words| line.contains(words))
}

/// Files that examples read.
const FRAMES: &str = "size = \"16KiB\"\nrate = \"1k/s\"\npattern = \"one-way\"\n";

/// What is there when a line about adapters is typed: the one in Python, or a new one.
fn prepare_adapters(place: &Place, line: &str) {
    let installed = ["run 'python-", "check python", "remove python"];
    if installed.iter().any(|words| line.contains(words)) {
        place.run(["adapter", "install", "python", "c"]).expect_code(0);
    }
    if line.contains("./mine") && !line.contains("adapter new") {
        place.run(["adapter", "new", "--lang", "python", "mine"]).expect_code(0);
    }
}

/// What serves and what asks, as examples call them, in one version or two.
const PROGRAMS: [(&str, &str); 2] =
    [("serve", "echo ready; exec sleep 60"), ("ask", "echo ready; sleep 0.01; echo done 1000")];
const VERSIONS: [&str; 3] = ["", "-a", "-b"];

/// Tries a line in a place of its own, so that tests which run alone have their turn between two lines.
fn try_one(line: &str) {
    let place = Place::new();
    fs::write(place.path("frames.toml"), FRAMES).expect("a file");
    for (name, script) in PROGRAMS {
        for version in VERSIONS {
            let path = place.path(&format!("{name}{version}"));
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
            fs::set_permissions(path, Permissions::from_mode(0o755)).expect("a program");
        }
    }
    prepare_adapters(&place, line);
    if takes_long(line) {
        expect_it_begins(&place, line);
    } else if line.starts_with("furlong serve") {
        expect_it_serves(&place, line);
    } else {
        // What comes after `&&` begins only if the machine is fit, and would take a quick set's time.
        expect_it_runs(&place, line.trim_end_matches(" && furlong"));
    }
}

/// Whether a line reads runs that were saved before.
fn reads_saved_runs(line: &str) -> bool {
    ["compare", "report", "export", "runs"].iter().any(|verb| line.starts_with(&format!("furlong {verb}")))
}

/// These commands, each once: what one is for stands behind it.
fn each_once(lines: &[String]) -> BTreeSet<String> {
    lines.iter().map(|line| line.split(" #").next().unwrap_or(line).trim_end().to_owned()).collect()
}

/// All commands. What stands in both the README and a help is tried once.
fn commands() -> BTreeSet<String> {
    each_once(&[pages(), help(&Place::new())].concat())
}

#[test]
fn every_command_that_reads_saved_runs_can_be_typed() {
    let place = with_saved_runs();
    for line in commands().iter().filter(|line| reads_saved_runs(line)) {
        println!("{line}");
        expect_it_runs(&place, line);
    }
}

/// Whether a line measures for seconds, however short it is told to be: many candidates, the cells of an experiment, or costs.
fn measures_much(line: &str) -> bool {
    ["recommend", "replay", "explain", "costs"]
        .iter()
        .any(|verb| line.starts_with(&format!("furlong {verb}")))
}

/// Every second of the other commands: a test for each half, so that they run side by side. Those of the pages that measure
/// little, or all that are slow.
fn try_half(first: usize, slow: bool) {
    let of_pages = each_once(&pages());
    let all = if slow { commands() } else { of_pages.clone() };
    let is_slow = |line: &String| measures_much(line) || !of_pages.contains(line);
    let lines: Vec<_> =
        all.into_iter().filter(|line| !reads_saved_runs(line) && is_slow(line) == slow).collect();
    assert!(lines.len() > 20, "{lines:?}");
    for line in lines.iter().skip(first).step_by(2) {
        println!("{line}");
        try_one(line);
    }
}

#[test]
fn every_command_of_a_page_can_be_typed_1_of_2() {
    try_half(0, false);
}

#[test]
fn every_command_of_a_page_can_be_typed_2_of_2() {
    try_half(1, false);
}

/// Run where slow tests are asked for.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn every_command_of_a_help_can_be_typed_1_of_2() {
        try_half(0, true);
    }

    #[test]
    #[ignore = "slow"]
    fn every_command_of_a_help_can_be_typed_2_of_2() {
        try_half(1, true);
    }
}

#[test]
fn commands_are_told_from_other_lines() {
    assert_eq!(command("furlong run 'pipe/*'  # all").as_deref(), Some("furlong run 'pipe/*'  # all"));
    assert_eq!(command("cargo run --release").as_deref(), Some("furlong"));
    assert_eq!(command("cargo run --release   # the quick set").as_deref(), Some("furlong"));
    assert_eq!(command("cargo run --release -- list --why").as_deref(), Some("furlong list --why"));
    for line in
        ["cargo test --release --workspace", "furlongs", "cargo run --release -p xtask", "", "# furlong"]
    {
        assert_eq!(command(line), None, "{line}");
    }
    assert!(is_quick_set("furlong # all") && is_quick_set("furlong") && !is_quick_set("furlong run"));
}
