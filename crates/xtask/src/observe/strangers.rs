//! Programs that are not furlong's: the reported links are compared with their own statistics, and with the calls that strace counts in
//! a second run.

use super::place::{DIRECTORY, list, observe, sum};
use super::{Amount, Case, differ, print_table};
use crate::driver::step;
use anyhow::Context;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Starts the programs.
const SCRIPT: &str = include_str!("../../templates/observed.sh");

/// Program with the kind of its link, the programs at both ends, and the checks besides strace: the messages that it counts, and
/// whether they are answered.
struct Stranger(&'static str, [&'static str; 3], &'static str);

/// Description, expected number and reported number of messages.
type Count = (&'static str, f64, f64);

/// Programs, those of the quick part first. Tasks and results of a pool have the same program at both ends.
const STRANGERS: [Stranger; 7] = [
    Stranger("pool", ["pipe", "python3", "python3"], "count"),
    Stranger("pipeline", ["pipe", "seq", "cat"], ""),
    Stranger("redis", ["tcp", "redis-benchmark", "redis-server"], "count answered"),
    Stranger("postgres", ["unix", "pgbench", "postgres"], "count answered"),
    Stranger("nginx", ["unix", "nginx", "python3"], "count answered"),
    Stranger("dbus", ["unix", "python3", "dbus-daemon"], "count answered"),
    Stranger("chromium", ["unix", "chromium", "chromium"], ""),
];

/// Observes the programs.
pub fn test(amount: Amount) -> anyhow::Result<Vec<Case>> {
    fs::write(Path::new(DIRECTORY).join("observed.sh"), SCRIPT)?;
    let (mut rows, mut cases) = (Vec::new(), Vec::new());
    for stranger in STRANGERS.iter().take(if amount == Amount::Quick { 2 } else { 7 }) {
        let Stranger(name, [means, from, to], _) = stranger;
        // Another process may have delayed the observer.
        let counts = stranger
            .count()
            .and_then(|counts| if counts.iter().all(is_right) { Ok(counts) } else { stranger.count() });
        let faults = match &counts {
            Ok(counts) => {
                counts.iter().filter_map(|count| differ(count.0, is_right(count), count.1, count.2)).collect()
            }
            Err(error) => vec![format!("{error:#}")],
        };
        for (what, expected, reported) in counts.unwrap_or_default() {
            let [program, link, what] = [*name, &format!("{means}, {from} to {to}"), what].map(str::to_owned);
            rows.push(vec![program, link, what, expected.to_string(), reported.to_string()]);
        }
        cases.push(Case::new("other programs", name, faults));
    }
    print_table("Other programs", &["program", "link", "messages", "expected", "reported"], &rows);
    Ok(cases)
}

/// Returns whether the numbers differ by at most 5 %. No messages at all would prove nothing.
fn is_right((_, expected, reported): &Count) -> bool {
    *reported > 0.0 && (reported / expected - 1.0).abs() <= 0.05
}

impl Stranger {
    fn count(&self) -> anyhow::Result<Vec<Count>> {
        let Stranger(name, [means, ..], checks) = self;
        let script = format!("sh {DIRECTORY}/observed.sh {name}");
        if SCRIPT.contains(&format!("\n{name}-prepare)")) {
            step::output(Command::new("sh").args(["-c", &format!("{script}-prepare 0")]))?;
        }
        let (report, printed) = observe(&["--command", &format!("{script} 4000")])?;
        let links = || list(&report, "links").filter(|link| self.is_link(link));
        let all = sum(links(), "messages");
        let own = printed.lines().find_map(|line| line.strip_prefix("count ")?.trim().parse().ok());
        let mut counts = match checks.contains("count") {
            true => vec![("own count", own.context("the program has counted nothing")?, all)],
            false => vec![("any", all.max(1.0), all)],
        };
        if checks.contains("answered") {
            let answered = links().filter(|link| link["pattern"] == "requests-and-responses");
            counts.push(("answered", all, sum(answered, "messages")));
        }
        // Each thread has a log, because otherwise a line may contain a part of a call.
        let logs = format!("{DIRECTORY}/strace-{name}");
        let _ = fs::remove_dir_all(&logs);
        fs::create_dir(&logs)?;
        let strace = "strace -ff -qq -yy --seccomp-bpf -e trace=write,writev,sendto,sendmsg";
        let (report, _) = observe(&["--command", &format!("{strace} -o {logs}/log {script} 2000")])?;
        let links = list(&report, "links").filter(|link| link["means"] == *means);
        let sent = sum(links.flat_map(|link| list(link, "senders")), "messages");
        let call = format!("^(write|writev|sendto|sendmsg)\\([0-9]+<{means}.*\\) += [1-9]");
        let count = format!("cat {logs}/log* | grep -aciE '{call}'");
        let traced = step::text(Command::new("sh").args(["-c", &count]))?.parse()?;
        counts.push(("all of this kind, by strace", traced, sent));
        Ok(counts)
    }

    fn is_link(&self, link: &Value) -> bool {
        let [means, from, to] = self.1;
        let has = |keys: [&str; 2], name: &str| {
            keys.iter().flat_map(|key| list(link, key)).any(|end| end["command"] == name)
        };
        let is_between = has(["senders", "other_senders"], from) && has(["receivers", "other_receivers"], to);
        link["means"] == means && is_between
    }
}
