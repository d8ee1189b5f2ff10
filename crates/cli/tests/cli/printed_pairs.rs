//! Pairs that `recommend --emit` prints, timed by `run --program`: a switch between two of them gains what their benchmarks
//! predict.

use crate::common::value::number;
use crate::common::{Place, Summary};
use furlong_testing::skip;
use std::process::Command;
use std::time::Duration;

const ROWS: [&str; 5] = ["pipe/block", "unix-stream/block", "tcp/block", "posix-mq/block", "memfd-shm/futex"];

/// Prints and compiles the pair of a benchmark, as its output tells the reader to. Returns the commands of the server, which
/// may be empty, and the client.
fn pair(place: &Place, row: &str, count: u32) -> [String; 2] {
    let files = row.replace('/', "-");
    let words = ["recommend", "-s", "128", "--emit", "c", "--row", row, "-o", &files];
    let printed = place.run(words).expect_code(0).stderr;
    let commands: Vec<_> = printed.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    let (build, ends) = commands.split_first().expect("a command that compiles");
    place.finish(&mut place.shell(&format!("cd {files} && {build} && mv pair pair-{files}"))).expect_code(0);
    let command = |end: &str| format!("{files}/{} {count}", end.replace("./pair", &format!("pair-{files}")));
    match ends {
        [both] => [String::new(), command(both)],
        [server, client] => [server, client].map(|end| command(end)),
        _ => panic!("{printed}"),
    }
}

/// Measures the benchmarks and their pairs, interleaved.
fn measured(place: &Place, rows: &[&str], count: u32, options: &str) -> Summary {
    let pairs: Vec<_> = rows.iter().flat_map(|row| pair(place, row, count)).collect();
    let programs = pairs.iter().flat_map(|command| ["--program", command]);
    let words = "run --no-save --no-progress --format json -s 128 --place same-core".split(' ');
    let words: Vec<_> = words.chain(options.split(' ')).chain(rows.iter().copied()).chain(programs).collect();
    let name = format!("furlong-test-{}", std::process::id());
    let port = (10_000 + std::process::id() % 20_000).to_string();
    let running = place.start(place.furlong(words).env("PAIR_NAME", name).env("PAIR_PORT", port));
    running.finish_within(Duration::from_secs(240)).expect_code(0).summary()
}

/// Returns the CPU time of an exchange through a benchmark, and through its pair. On one core it is the elapsed time, except that
/// other processes of a busy machine do not count.
fn times_ns(found: &Summary, row: &str) -> [f64; 2] {
    let (mechanism, files) = (row.split('/').next().unwrap(), row.replace('/', "-"));
    [false, true].map(|is_pair| {
        let is_wanted =
            |name: &str| if is_pair { name.ends_with(&format!("pair-{files}")) } else { name == mechanism };
        let row = found.rows.iter().find(|row| is_wanted(&row.case.mechanism));
        let figures = &row.unwrap_or_else(|| panic!("{mechanism} in {found:#?}")).figures;
        ["user", "system"].map(|mode| number(figures, &format!("cpu_ns_per_round_trip.{mode}"))).iter().sum()
    })
}

fn has_compiler() -> bool {
    Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn exchanges_of_printed_pairs_are_counted() {
    if !has_compiler() {
        skip!("needs cc");
    }
    let place = Place::alone();
    let rows = ["pipe/block", "unix-stream/block"];
    let found = measured(&place, &rows, 2000, "--trials 1 --budget 5ms");
    for row in rows {
        let [benchmark, pair] = times_ns(&found, row);
        assert!(benchmark > 100.0 && pair > 100.0 && pair < 1e9, "{row}: {benchmark} {pair}");
    }
    let own = found.rows.iter().filter(|row| !row.verified).count();
    assert_eq!(own, rows.len(), "{found:#?}");
}

mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn switch_between_printed_pairs_gains_what_benchmarks_predict() {
        if !has_compiler() {
            skip!("needs cc");
        }
        let place = Place::alone();
        let found = measured(&place, &ROWS, 20_000, "--trials 9 --budget 100ms");
        let times = ROWS.map(|row| (row, times_ns(&found, row)));
        let (mut lines, mut wrong) = (Vec::new(), Vec::new());
        for (from, before) in &times {
            for (to, after) in &times {
                let [predicted, gained] = [0, 1].map(|index| before[index] - after[index]);
                // A smaller difference is within the noise of a virtual machine.
                if predicted < before[0] / 6.0 {
                    continue;
                }
                let line = format!("{from} -> {to}: predicted {predicted:.0} ns, gained {gained:.0} ns");
                if (gained / predicted - 1.0).abs() > 1.0 / 3.0 {
                    wrong.push(line.clone());
                }
                lines.push(line);
            }
        }
        println!("{times:#?}\n{}", lines.join("\n"));
        assert!(!lines.is_empty() && wrong.is_empty(), "{wrong:#?}\nof {lines:#?}\n{times:#?}");
    }
}
