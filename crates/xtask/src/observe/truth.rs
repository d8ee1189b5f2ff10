//! Ground truth: furlong's own benchmarks, whose links are known, are observed while they run.

use super::judge::{KnownLink, Observation};
use super::place::{carried_per_second, finish, furlong, list, observe, run};
use super::{Amount, Case};
use crate::until::until;
use anyhow::{Context, anyhow};
use furlong_os::other_process::processes;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// Times of the runs of a benchmark. One of them must be observed correctly, because other programs delay messages and the observer.
const TIMES: [&str; 3] = ["1s", "2s", "3s"];

/// Time after which no benchmark is observed again.
const MOST_TIME: Duration = Duration::from_secs(240);

/// Observes benchmarks: those that busy-wait in memory without system calls, or the others.
pub fn test(amount: Amount, is_silent: bool) -> anyhow::Result<Vec<Case>> {
    let (begin, mut cases) = (Instant::now(), Vec::new());
    for (family, name, known) in benchmarks(amount)? {
        let mut found = None;
        for time in TIMES.into_iter().filter(|_| known.is_silent() == is_silent) {
            let faults = match observe_run(amount, run(&name, known.pattern, ["1k/s", time])) {
                Ok(None) => break,
                Ok(Some(observed)) => known.differences(&observed),
                Err(error) => vec![format!("{error:#}")],
            };
            if found.insert(faults).is_empty() || begin.elapsed() > MOST_TIME {
                break;
            }
        }
        let pattern = known.pattern;
        let case = |faults| Case::new(&format!("{family}, {pattern}"), &format!("{name} {pattern}"), faults);
        cases.extend(found.map(case));
    }
    Ok(cases)
}

/// Returns the families, names and links of all benchmarks, with one of two patterns in turn, and the first wait strategy of a mechanism
/// with both; or of one per kind of the link and of the link that wakes the receiver.
fn benchmarks(amount: Amount) -> anyhow::Result<Vec<(String, String, KnownLink)>> {
    let all = finish(furlong(&["list", "--format", "json"]).spawn()?)?;
    let all = all.as_array().context("furlong list is not a list")?;
    let (mut found, mut kinds) = (Vec::new(), HashSet::new());
    for (index, entry) in all.iter().filter(|entry| entry["available"] == true).enumerate() {
        let text = |value: &Value| value.as_str().map(str::to_owned).context("furlong list lacks a name");
        let (name, family) = (text(&entry["mechanism"])?, text(&entry["capabilities"]["family"])?);
        if ["floor", "adapter"].contains(&family.as_str()) {
            continue;
        }
        for (position, wait) in list(&entry["capabilities"], "waits").enumerate() {
            let wait_name = text(wait)?;
            let (mechanism, wait) = (fact("mechanism", &name)?, fact("wait", &wait_name)?);
            for (number, pattern) in ["one-way", "round-trip"].into_iter().enumerate() {
                let is_turn = (index + position) % 2 == number;
                let is_selected = match amount {
                    Amount::All => is_turn || position == 0,
                    Amount::Quick => is_turn && kinds.insert([mechanism[0], wait[1]]),
                };
                let (known, name) = (KnownLink { pattern, mechanism, wait }, format!("{name}/{wait_name}"));
                found.extend(is_selected.then_some((family.clone(), name, known)));
            }
        }
    }
    Ok(found)
}

/// Returns the words of the first line of the known links that begins with `kind` and a pattern of the name.
fn fact<const N: usize>(kind: &str, name: &str) -> anyhow::Result<[&'static str; N]> {
    let is_named = |pattern: &str| match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => name.starts_with(start) && name.ends_with(end),
    };
    let mut lines = include_str!("truth.txt").lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.find(|words| words.len() > 2 && words[0] == kind && is_named(words[1]));
    let facts = line.and_then(|words| words[2..].try_into().ok());
    facts.with_context(|| format!("truth.txt does not describe {kind} {name}"))
}

/// Observes a run of a benchmark; returns `None` if it does not have this pattern.
fn observe_run(amount: Amount, mut run: Command) -> anyhow::Result<Option<Observation>> {
    let (mut run, mut roles) = (run.spawn().context("start furlong")?, Vec::new());
    until("two roles", || {
        roles = find_roles()?;
        // Earlier children measure the machine, and the messages of the verification are not sent at the rate.
        std::thread::sleep(Duration::from_millis(120));
        Ok((roles.len() == 2 && roles == find_roles()?) || run.try_wait()?.is_some())
    })?;
    // No machine can measure the benchmark.
    if run.try_wait()?.is_some_and(|ended| ended.code() == Some(2)) {
        return Ok(None);
    }
    let usage = || roles.iter().map(|pid| scheduled(*pid)).collect::<anyhow::Result<Vec<_>>>();
    let (begin, before) = (Instant::now(), usage());
    let report = observe(&[&run.id().to_string(), "--for", "300ms"]);
    let (wall_ns, after) = (begin.elapsed().as_nanos() as f64, usage());
    // The roles must have exited before the next run.
    let run = finish(run)?;
    if run["skipped"][0]["status"] == "refused" {
        return Ok(None);
    }
    let (before, after) = (before?, after?);
    let (rate, roles) = (carried_per_second(&run)?, <[i32; 2]>::try_from(roles));
    let roles = roles.map_err(|roles| anyhow!("the benchmark had {} roles", roles.len()))?;
    let share = |role: usize, figure: usize| (after[role][figure] - before[role][figure]) / wall_ns;
    let (cpu_share, lost) = (share(1, 0), share(0, 1) + share(1, 1));
    // The quick part judges no rates if the machine lost CPU time.
    let tolerance = if amount == Amount::Quick && lost > 0.05 { f64::INFINITY } else { lost };
    Ok(Some(Observation { report: report?.0, roles, rate, cpu_share, tolerance }))
}

/// Returns the PIDs of the roles, the initiator first. No other process of furlong has such a standard error.
fn find_roles() -> anyhow::Result<Vec<i32>> {
    let errors = |pid: &i32| fs::read_link(format!("/proc/{pid}/fd/2")).unwrap_or_default();
    let is_role = |pid: &i32| errors(pid).to_string_lossy().starts_with("/memfd:furlong-stderr");
    let mut found: Vec<_> = processes()?.into_iter().filter(is_role).collect();
    found.sort_unstable();
    Ok(found)
}

/// Returns the CPU time of a process with one thread, and the time in which it waited for a CPU, in nanoseconds.
fn scheduled(pid: i32) -> anyhow::Result<[f64; 2]> {
    let text =
        fs::read_to_string(format!("/proc/{pid}/schedstat")).context("the benchmark ended too early")?;
    let numbers: Vec<f64> = text.split(' ').filter_map(|word| word.parse().ok()).take(2).collect();
    numbers.try_into().map_err(|_| anyhow!("schedstat has an unknown format: {text}"))
}
