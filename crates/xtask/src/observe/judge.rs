//! Judges the report about a benchmark by its known link.

use super::differ;
use super::place::{list, number, sum};
use serde_json::Value;
use std::collections::BTreeSet;

/// Largest relative difference of rates, and of CPU shares, whose intervals are not quite the same.
const TOLERANCES: [f64; 2] = [0.1, 0.25];

/// Known link of a benchmark.
pub struct KnownLink {
    pub pattern: &'static str,
    /// `MEANS SIZE WAITS` of the mechanism in truth.txt.
    pub mechanism: [&'static str; 3],
    /// `STRATEGY MEANS` of the wait strategy in truth.txt.
    pub wait: [&'static str; 2],
}

/// Report about a running benchmark, with figures of other sources.
pub struct Observation {
    pub report: Value,
    /// PIDs of the initiator and of the responder.
    pub roles: [i32; 2],
    /// Messages per second, as the benchmark reports.
    pub rate: f64,
    /// CPU share of the responder, as the kernel reports.
    pub cpu_share: f64,
    /// Further relative difference of rates and CPU shares, because the machine lost CPU time.
    pub tolerance: f64,
}

impl KnownLink {
    /// Returns whether the receiver busy-waits in memory, without system calls: a semaphore makes one only to sleep and to wake.
    pub fn is_silent(&self) -> bool {
        let [means, _, waits] = self.mechanism;
        self.wait == ["busy-waits", "same"] && waits == "memory" && means != "process-vm"
    }

    /// Returns the differences between the link and a report.
    pub fn differences(&self, found: &Observation) -> Vec<String> {
        let [means, _, waits] = self.mechanism;
        let [strategy, doorbell] = self.wait;
        let wakes = if doorbell == "same" { means } else { doorbell };
        if means == "ring" {
            let calls = found.process(0, "io_uring_calls");
            let calls = differ("calls of io_uring", calls > 10.0, "more than 10", calls);
            return calls.into_iter().chain(found.invented(found.rate)).collect();
        }
        if self.is_silent() {
            let facts = found.busy().into_iter().chain([found.memory(), found.invented(10.0)]);
            return facts.flatten().collect();
        }
        let mut differences = self.differences_of_link(found, if means == "memory" { wakes } else { means });
        match strategy {
            "busy-waits" if waits == "memory" => differences.extend(found.busy().into_iter().flatten()),
            "may-block" => differences.extend(found.memory()),
            _ => differences.extend(found.wait(wakes, strategy)),
        }
        differences
    }

    fn differences_of_link(&self, found: &Observation, means: &str) -> Vec<String> {
        let is_answered = self.pattern == "round-trip";
        let slack = (TOLERANCES[0] + found.tolerance) * found.rate;
        let rate_of = |what, expected: f64, links: &[&Value]| {
            let rate = sum(links.iter().copied(), "messages_per_s");
            let is_enough = (rate > 0.0 || expected == 0.0) && rate >= expected - slack;
            let is_right = rate <= expected + slack && (is_enough || self.wait[0] == "may-block");
            differ(what, is_right, format!("{means} {expected:.0}/s"), format!("{rate:.0}/s"))
        };
        if means == "sysv-sem" {
            // The direction is not visible. Each message is an operation at each end.
            let expected = if is_answered { 4.0 } else { 2.0 } * found.rate;
            let links = |pid| found.links(means).filter(move |link| has_pid(link, &["users"], pid));
            let role = |pid| rate_of("operations", expected, &links(pid).collect::<Vec<_>>());
            return found.roles.into_iter().filter_map(role).collect();
        }
        let [initiator, responder] = found.roles;
        let requests: Vec<_> = found.between(means, initiator, responder).collect();
        let responses: Vec<_> = found.between(means, responder, initiator).collect();
        let mut differences = vec![
            rate_of("messages", found.rate, &requests),
            rate_of("responses", if is_answered { found.rate } else { 0.0 }, &responses),
        ];
        let (size, pattern) =
            (self.mechanism[1], if is_answered { "requests-and-responses" } else { "unanswered" });
        let bytes = if size == "same" { Some(128.0) } else { size.parse().ok() };
        // The wake-ups of one message may use several words.
        for link in requests.into_iter().chain(responses).filter(|_| means == self.mechanism[0]) {
            let [reported, requester] = [&link["size_bytes"]["p50"], &link["requester"]];
            differences.push(differ("size", reported.as_f64() == bytes, size, reported));
            // Reading memory is not a send.
            let is_right = link["pattern"] == pattern || means == "process-vm";
            differences.push(differ("pattern", is_right, pattern, &link["pattern"]));
            let is_right = requester.is_null() || *requester == initiator;
            differences.push(differ("requester", is_right, initiator, requester));
        }
        differences.into_iter().flatten().collect()
    }
}

impl Observation {
    fn links<'a>(&'a self, means: &'a str) -> impl Iterator<Item = &'a Value> {
        list(&self.report, "links").filter(move |link| link["means"] == means)
    }

    /// Returns the links of this kind from one process to another one.
    fn between<'a>(&'a self, means: &'a str, from: i32, to: i32) -> impl Iterator<Item = &'a Value> {
        let [sends, receives] = [["senders", "other_senders"], ["receivers", "other_receivers"]];
        self.links(means).filter(move |link| has_pid(link, &sends, from) && has_pid(link, &receives, to))
    }

    /// Returns a figure of the process of a role.
    fn process(&self, role: usize, key: &str) -> f64 {
        let process = list(&self.report, "processes").find(|process| process["pid"] == self.roles[role]);
        process.map_or(0.0, |process| number(process, key))
    }

    /// Checks how the responder waits for messages.
    fn wait(&self, means: &str, strategy: &str) -> Option<String> {
        let ends = self.links(means).flat_map(|link| list(link, "receivers").chain(list(link, "users")));
        let ends = ends.filter(|end| end["pid"] == self.roles[1] && number(end, "messages") > 10.0);
        let found: BTreeSet<_> = ends.filter_map(|end| end["wait"].as_str()).collect();
        differ("wait strategy", found.contains(strategy), strategy, format!("{found:?}"))
    }

    /// Checks that the responder is reported as busy.
    fn busy(&self) -> [Option<String>; 2] {
        let [share, sleeps] = ["cpu_share", "voluntary_switches_per_s"].map(|key| self.process(1, key));
        let is_right = (share / self.cpu_share - 1.0).abs() < TOLERANCES[1] + self.tolerance;
        let share = differ("CPU share", is_right, format!("{:.2}", self.cpu_share), format!("{share:.2}"));
        [share, differ("sleeps/s", sleeps < 100.0, "none", format!("{sleeps:.0}"))]
    }

    /// Checks that memory of both roles is listed.
    fn memory(&self) -> Option<String> {
        let is_user = |memory, role: i32| list(memory, "processes").any(|pid| *pid == role);
        // The roles also share a page through which furlong ends a trial.
        let is_link = |memory: &&Value| memory["name"] != "furlong-control-page";
        let mut listed = list(&self.report, "shared_memory").filter(is_link);
        let is_right = listed.any(|memory| self.roles.into_iter().all(|role| is_user(memory, role)));
        differ("shared memory", is_right, "memory of both roles", "none")
    }

    /// Checks that no link of the roles has invented messages.
    fn invented(&self, most: f64) -> Option<String> {
        let ends = ["senders", "receivers", "users"];
        let is_own = |link: &&Value| self.roles.into_iter().any(|pid| has_pid(link, &ends, pid));
        let links = list(&self.report, "links").filter(is_own);
        let rate = links.map(|link| number(link, "messages_per_s")).fold(0.0, f64::max);
        differ("messages/s", rate <= (1.0 + TOLERANCES[0]) * most, format!("at most {most:.0}"), rate)
    }
}

/// Returns whether this process is one of those in a list.
fn has_pid(link: &Value, keys: &[&str], pid: i32) -> bool {
    keys.iter().flat_map(|key| list(link, key)).any(|end| end["pid"] == pid)
}
