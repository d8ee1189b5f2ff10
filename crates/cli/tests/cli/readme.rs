//! One documented command of each verb runs as written. A unit test of `furlong` checks that all documented commands
//! parse.

use crate::common::Place;
use std::fs;
use std::path::Path;

/// Documented commands, with options that shorten them. `run` has one command for each pattern that no other test
/// here runs.
const COMMANDS: [(&str, &str); 20] = [
    ("furlong run -m fan-in --senders 4", "pipe --trials 1 --budget 100ms --no-save"),
    ("furlong run pipe posix-shm -m fan-out --receivers 4 --stall 1", "--trials 1 --budget 200ms --no-save"),
    ("furlong run pipe tcp -m connect", "--trials 1 --budget 2ms --no-save"),
    ("furlong count pipe/block", ""),
    ("furlong map --all --format csv", "--trials 1"),
    ("furlong tune tcp --sched fifo:50 --set net.core.busy_poll=50", "--trials 3 --budget 2ms --no-save"),
    ("furlong replay --list", ""),
    ("furlong recommend --size 4KiB --emit python --row unix-seqpacket/block", ""),
    ("furlong compare before after", ""),
    ("furlong fleet init kubernetes fleet", ""),
    ("furlong trace generate --to web.jsonl --rate 5k/s --arrival poisson --messages 10000", ""),
    ("furlong runs show @last", ""),
    ("furlong export @last --format openmetrics -o furlong.prom", ""),
    ("furlong report before after -o report.html", ""),
    ("furlong list --why", ""),
    ("furlong ipc --orphans", ""),
    ("furlong doctor", ""),
    ("furlong adapter list", ""),
    ("furlong completions bash > furlong.bash", ""),
    ("furlong man --all -o man1", ""),
];

/// Verbs whose own tests run documented commands, because they take seconds, never exit on their own, or need root or the
/// driver.
const ELSEWHERE: [&str; 5] = ["explain", "costs", "observe", "serve", "driver"];

/// Returns the README, the pages of docs/ and the definitions of all help texts.
fn documentation() -> String {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["../../docs", "src/arguments"].map(|folder| crate_folder.join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder").flatten());
    let files = files.map(|entry| entry.path()).filter(|path| path.is_file());
    let files = files.chain([crate_folder.join("../../README.md")]);
    files.map(|file| fs::read_to_string(file).expect("text")).collect()
}

#[test]
fn a_documented_command_of_each_verb_runs() {
    let (place, documentation) = (Place::with_runs(), documentation());
    for (line, shorter) in COMMANDS {
        assert!(documentation.contains(line), "not documented: {line}");
        let (command, redirection) = line
            .split_once(" >")
            .map_or((line, String::new()), |(command, file)| (command, format!(" >{file}")));
        let script = format!("{} {shorter}{redirection}", command.replacen("furlong", "\"$FURLONG\"", 1));
        let finished = place.finish(&mut place.shell(&script)).expect_no_panic();
        // On a busy machine, several processes may start too far apart to be measured at the same time.
        let apart = finished.code == Some(1) && finished.stdout.contains("use a longer --budget");
        assert!(finished.code == Some(0) || apart, "{line}: {finished:#?}");
    }
    let help = place.run(["--help"]).expect_code(0).stdout;
    let (_, verbs) = help.split_once("Commands:\n").expect("verbs");
    let verbs = verbs.lines().take_while(|line| !line.is_empty());
    let verbs: Vec<_> = verbs.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert!(verbs.len() > 15, "{verbs:?}");
    for verb in verbs.iter().filter(|verb| !verb.is_empty() && **verb != "help") {
        let runs = COMMANDS.iter().any(|(line, _)| line.split(' ').nth(1) == Some(verb));
        assert!(runs || ELSEWHERE.contains(verb), "no command of {verb}");
    }
}
