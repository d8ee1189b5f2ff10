//! Differences between two runs except their results: the machine, furlong itself, and the options.

use super::row::ComparedRow;
use crate::conditions::condition_facts;
use crate::machine_facts::{UNKNOWN, machine_facts};
use crate::{NamedRun, Row};
use furlong_model::{Machine, PeerHost, format_ns};
use furlong_stats::distinct;
use serde::Serialize;
use std::collections::BTreeMap;

/// Ratio of two core-to-core times above which they count as different. Readings of one run differ by less on a quiet
/// machine.
const CORE_TO_CORE: f64 = 1.1;

/// Fact that differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The run that is compared with the baseline.
    pub run: String,
    /// Name of the fact, for example `kernel` or `mitigation spectre_v2`.
    pub what: String,
    /// Value in the baseline.
    pub then: String,
    /// Value in the other run.
    pub now: String,
}

/// Returns all differences that may affect figures. Those of the machine come first. `rows` are the common benchmarks.
pub(super) fn differences(baseline: NamedRun, new: NamedRun, rows: &[ComparedRow]) -> Vec<Difference> {
    let headers = [baseline, new].map(|side| &side.run.records.header);
    let mut found = machine_differences(new, "", headers.map(|header| &header.machine));
    if let [Some(then), Some(now)] = headers.map(|header| header.peer.as_deref()) {
        found.extend(machine_differences(new, "responders' ", [&then.machine, &now.machine]));
    }
    found.extend(different(new, "", facts(baseline), facts(new)));
    for (kind, absent, [then, now]) in [
        ("in force", "none", [baseline, new].map(|side| in_force(side, rows))),
        ("command of", UNKNOWN, [baseline, new].map(|side| commands(side, rows))),
    ] {
        found.extend(named(new, (kind, absent), &then, &now));
    }
    found.extend(core_to_core(baseline, new));
    found
}

/// Returns the differences between two machines and the conditions of their processes. Runs of older versions have no recorded
/// conditions.
fn machine_differences(new: NamedRun, prefix: &str, both: [&Machine; 2]) -> Vec<Difference> {
    let listed = |kind: &str, [then, now]: [&[(String, String)]; 2]| {
        named(new, (&format!("{prefix}{kind}"), UNKNOWN), &by_name(then), &by_name(now))
    };
    let [then, now] = both.map(machine_facts);
    let mut found = different(new, prefix, then, now);
    found.extend(listed("mitigation", both.map(|machine| machine.mitigations.as_slice())));
    found.extend(listed("limit", both.map(|machine| machine.limits.as_slice())));
    match both.map(|machine| machine.conditions.as_deref()) {
        [Some(then), Some(now)] => {
            found.extend(different(new, prefix, condition_facts(then), condition_facts(now)));
            found.extend(listed("limit", [&then.limits, &now.limits]));
        }
        [None, None] => {}
        known => {
            let [then, now] =
                known.map(|known| if known.is_some() { "recorded" } else { UNKNOWN }.to_owned());
            found.push(difference(new, format!("{prefix}process conditions"), then, now));
        }
    }
    found
}

/// Returns the facts that differ, of two lists with equal names.
fn different(
    new: NamedRun,
    prefix: &str,
    then: impl IntoIterator<Item = (&'static str, String)>,
    now: impl IntoIterator<Item = (&'static str, String)>,
) -> Vec<Difference> {
    let both = then.into_iter().zip(now).filter(|((_, then), (_, now))| then != now);
    both.map(|((what, then), (_, now))| difference(new, format!("{prefix}{what}"), then, now)).collect()
}

fn difference(new: NamedRun, what: impl Into<String>, then: String, now: String) -> Difference {
    Difference { run: new.name.to_owned(), what: what.into(), then, now }
}

/// Returns the facts of a run. Names and order are fixed.
fn facts(side: NamedRun) -> Vec<(&'static str, String)> {
    let header = &side.run.records.header;
    let host = header.machine.host.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let peer = header.peer.as_deref().map_or_else(
        || "none".to_owned(),
        |PeerHost { machine, address, .. }| {
            format!(
                "{} ({} {}) at {address}",
                machine.host.as_deref().unwrap_or(UNKNOWN),
                machine.system,
                machine.kernel
            )
        },
    );
    vec![
        ("host", host),
        ("host of responders", peer),
        ("furlong", header.version.clone()),
        ("trials", header.trials.to_string()),
        ("repetitions of the run", header.across.to_string()),
        ("time of a trial", format_ns(header.budget_ns as f64)),
        (
            "warm-up of a trial",
            header
                .warm_up_ns
                .map_or_else(|| "until the pace is steady".to_owned(), |ns| format_ns(ns as f64)),
        ),
        ("noise", side.run.summary.run.noise.level.name().to_owned()),
    ]
}

fn by_name(facts: &[(String, String)]) -> BTreeMap<String, String> {
    facts.iter().cloned().collect()
}

/// Returns the benchmarks of a run that both runs have.
fn shared<'a>(side: NamedRun<'a>, rows: &[ComparedRow]) -> impl Iterator<Item = &'a Row> {
    side.run.summary.rows.iter().filter(|row| rows.iter().any(|other| other.case == row.case))
}

/// Returns the settings that the kernel granted to the common benchmarks, by name.
fn in_force(side: NamedRun, rows: &[ComparedRow]) -> BTreeMap<String, String> {
    let granted = shared(side, rows).flat_map(|row| {
        row.effective.iter().map(|(name, value)| (format!("{name} of {}", row.case), value.to_string()))
    });
    granted.collect()
}

/// Returns the commands of own programs for the common benchmarks.
fn commands(side: NamedRun, rows: &[ComparedRow]) -> BTreeMap<String, String> {
    let commands = shared(side, rows).filter_map(|row| {
        let [serve, ask] = &row.programs.as_ref()?.commands;
        let serve = if serve.is_empty() { String::new() } else { format!(", asking '{serve}'") };
        Some((row.case.to_string(), format!("'{ask}'{serve}")))
    });
    commands.collect()
}

/// Returns the differences between named facts of a kind. A fact that one run lacks is `absent` in it.
fn named(
    new: NamedRun,
    (kind, absent): (&str, &str),
    then: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<Difference> {
    let value = |facts: &BTreeMap<String, String>, name: &String| {
        facts.get(name).cloned().unwrap_or_else(|| absent.to_owned())
    };
    distinct(then.keys().chain(now.keys()))
        .into_iter()
        .map(|name| (name, value(then, name), value(now, name)))
        .filter(|(_, then, now)| then != now)
        .map(|(name, then, now)| difference(new, format!("{kind} {name}"), then, now))
        .collect()
}

/// Returns the core-to-core time of a cache line if it differs.
fn core_to_core(baseline: NamedRun, new: NamedRun) -> Option<Difference> {
    let [then, now] = [baseline, new].map(|side| side.run.summary.run.noise.core_to_core_ns);
    let apart = then.zip(now).is_none_or(|(then, now)| {
        let ratio = now.median / then.median;
        ratio.max(1.0 / ratio) > CORE_TO_CORE
    });
    let text = |times: Option<crate::CoreToCore>| {
        let told = |times: crate::CoreToCore| {
            let [median, min, max] = [times.median, times.min, times.max].map(format_ns);
            format!("{median} ({min} to {max})")
        };
        times.map_or_else(|| UNKNOWN.to_owned(), told)
    };
    let is_known = then.is_some() || now.is_some();
    (apart && is_known).then(|| difference(new, "core-to-core round trip", text(then), text(now)))
}
