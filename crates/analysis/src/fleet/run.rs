//! Data of a run that a comparison of many runs keeps.

use crate::conditions::condition_facts;
use crate::costs::cost_medians;
use crate::machine_facts::machine_facts;
use crate::reference::References;
use crate::sound::SoundCase;
use crate::trials::Trials;
use crate::{CoreToCore, Disturbance, Level, Run, Verdict, cost_name};
use furlong_model::{Case, Cost, Machine, Unit};
use furlong_stats::{SortedMap, sort_by};
use serde::Serialize;
use std::collections::BTreeMap;

/// Name of the cost "transfer of a cache line between two cores".
pub const CORE_TO_CORE: &str = "core-to-core";

/// Name of a cost, and its size in bytes.
pub(crate) type CostKey = (String, Option<usize>);

/// Data of a run for the comparison of hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetRun {
    /// Name of the run or its file.
    pub name: String,
    /// Host name in the records, or the name of the file if they have none.
    pub host: String,
    /// Label that the user gave to the conditions of the run.
    pub label: Option<String>,
    /// Release of the kernel.
    pub kernel: String,
    /// Start in seconds since 1970, UTC.
    pub started_unix_s: u64,
    /// System, instruction set and runtime.
    pub platform: String,
    /// Facts of the machine, by name.
    pub facts: BTreeMap<String, String>,
    /// Noise level of the run.
    pub level: Level,
    /// Causes of that noise level.
    pub disturbances: Vec<Disturbance>,
    /// Median of each benchmark, in nanoseconds.
    pub rows: Vec<(Case, Unit, f64)>,
    /// Measured costs of the machine in nanoseconds, by name and size in bytes.
    pub costs: SortedMap<CostKey, f64>,
}

/// File that was not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnusedRun {
    /// Name of the file.
    pub run: String,
    /// Reason.
    #[serde(rename = "reason_data")]
    pub reason: UnusedReason,
}

/// Reason for ignoring a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum UnusedReason {
    /// The file cannot be read, or does not contain a run.
    Unreadable {
        /// Description of the error with its position.
        error: String,
    },
    /// The platform differs from that of most runs.
    OtherPlatform {
        /// System, instruction set and runtime.
        platform: String,
        /// Platform of most runs.
        most: String,
    },
    /// The run has neither speeds nor costs.
    NoRows,
}

impl FleetRun {
    /// Extracts the data from the run with this name. It checks no other part of the run.
    ///
    /// # Errors
    /// Returns an error if the run has neither benchmarks nor costs.
    pub fn of(name: &str, run: &Run) -> Result<Self, UnusedReason> {
        let header = &run.header;
        let machine = &header.machine;
        let trials = Trials::decode(&run.trials);
        let sound: Vec<SoundCase> =
            trials.by_case().filter_map(|(case, trials)| SoundCase::judge(run, case, trials).0).collect();
        let noise = Verdict::of(run, &trials, sound.iter().map(|row| (row.case, row.deciding.uncertainty())));
        let references =
            References { run, trials: &trials, rows: sound.iter().map(SoundCase::reference).collect() };
        let cost = |name: &str, ns| ((name.to_owned(), None), ns);
        let clock = cost(cost_name(Cost::ClockRead), header.harness.clock_read_ns);
        let core_to_core = noise.core_to_core_ns.map(|CoreToCore { median, .. }| cost(CORE_TO_CORE, median));
        let costs: SortedMap<_, _> =
            [clock].into_iter().chain(cost_medians(&references)).chain(core_to_core).collect();
        let costs = costs.into_iter().filter(|(_, ns)| ns.is_finite() && *ns > 0.0).collect();
        let rows: Vec<_> = sound
            .iter()
            .map(|row| (row.case.clone(), row.unit(), row.deciding.ns))
            .filter(|(_, _, ns)| ns.is_finite() && *ns > 0.0)
            .collect();
        if rows.is_empty() && run.costs.is_empty() {
            return Err(UnusedReason::NoRows);
        }
        Ok(FleetRun {
            name: name.to_owned(),
            host: machine.host.clone().unwrap_or_else(|| file_name(name).to_owned()),
            label: header.label.clone(),
            kernel: machine.kernel.clone(),
            started_unix_s: header.started_unix_s,
            platform: platform(machine),
            facts: machine_facts_by_name(machine),
            level: noise.level,
            disturbances: noise.reasons,
            rows,
            costs,
        })
    }
}

/// Returns the last component of a path, without the extension `.jsonl`.
fn file_name(name: &str) -> &str {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    last.strip_suffix(".jsonl").unwrap_or(last)
}

/// Returns the known facts of a machine, by name.
pub fn machine_facts_by_name(machine: &Machine) -> BTreeMap<String, String> {
    let mitigations =
        machine.mitigations.iter().map(|(name, state)| (format!("mitigation {name}"), state.clone()));
    let facts = machine_facts(machine).into_iter().map(|(name, value)| (name.to_owned(), value));
    let conditions = machine.conditions.as_deref().into_iter().flat_map(condition_facts);
    let conditions = conditions.map(|(name, value)| (name.to_owned(), value));
    let limits = machine.conditions.iter().flat_map(|conditions| conditions.limits.clone());
    facts.chain(mitigations).chain(conditions).chain(limits).collect()
}

/// Returns the platform of a machine. Runs are compared within one platform only, because times of different systems,
/// CPU architectures or emulators measure different things.
pub fn platform(machine: &Machine) -> String {
    format!("{} {} {}", machine.system, machine.architecture, machine.runtime)
}

/// Returns the runs of the most frequent platform, in the order in which they were measured. The others are added to
/// `unused`.
pub(super) fn keep_one_platform(runs: Vec<FleetRun>, unused: &mut Vec<UnusedRun>) -> Vec<FleetRun> {
    let most =
        most_frequent(runs.iter().map(|run| run.platform.as_str())).map(|(platform, _)| platform.to_owned());
    let (mut used, others): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| Some(&run.platform) == most.as_ref());
    unused.extend(others.into_iter().zip(most.iter().cycle()).map(|(run, most)| UnusedRun {
        run: run.name,
        reason: UnusedReason::OtherPlatform { platform: run.platform, most: most.clone() },
    }));
    sort_by(&mut used, |a, b| (a.started_unix_s, &a.name).cmp(&(b.started_unix_s, &b.name)));
    used
}

/// Returns the most frequent text and its number. If several are equally frequent, it returns the first in alphabetical
/// order.
pub(super) fn most_frequent<'a>(texts: impl Iterator<Item = &'a str>) -> Option<(&'a str, usize)> {
    let mut counts: SortedMap<&str, usize> = SortedMap::default();
    texts.for_each(|text| *counts.or_default(text) += 1);
    counts.into_iter().rev().max_by_key(|(_, count)| *count)
}
