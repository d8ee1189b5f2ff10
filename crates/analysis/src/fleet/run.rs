//! What is kept of a run when many are compared.

use crate::conditions::condition_facts;
use crate::costs::cost_medians;
use crate::machine_facts::machine_facts;
use crate::reference::References;
use crate::sound::Sound;
use crate::trials::Trials;
use crate::{CoreToCore, Disturbance, Level, Run, Verdict, cost_name};
use furlong_model::{Case, Cost, Machine, Unit};
use furlong_stats::{SortedMap, sort_by};
use serde::Serialize;
use std::collections::BTreeMap;

/// The name of the cost "transfer of a cache line between two cores".
pub const CORE_TO_CORE: &str = "core-to-core";

/// A cost's name, and for how many bytes.
pub(crate) type CostKey = (String, Option<usize>);

/// The part of a run that a comparison over hosts keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetRun {
    /// The name under which the run was found.
    pub name: String,
    /// The host's name in the records, or the file's name if they have none.
    pub host: String,
    /// The label that the user gave to the conditions of the run.
    pub label: Option<String>,
    /// The kernel's release.
    pub kernel: String,
    /// Seconds since 1970.
    pub started_unix_s: u64,
    /// System, instruction set and runtime.
    pub platform: String,
    /// Facts of the machine, by name.
    pub facts: BTreeMap<String, String>,
    /// The noise level of the run.
    pub level: Level,
    /// The causes of that noise level.
    pub disturbances: Vec<Disturbance>,
    /// The median of each row, in nanoseconds.
    pub rows: Vec<(Case, Unit, f64)>,
    /// Measured costs of the machine in nanoseconds, by name and size in bytes.
    pub costs: SortedMap<CostKey, f64>,
}

/// A file that was not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnusedRun {
    /// Its name.
    pub run: String,
    /// Why.
    #[serde(rename = "reason_data")]
    pub reason: Unused,
}

/// Why a file was not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Unused {
    /// It cannot be read, or is no run.
    Unreadable {
        /// Where, and what is wrong.
        error: String,
    },
    /// It is of another platform than most.
    OtherPlatform {
        /// System, instruction set and runtime.
        platform: String,
        /// Those of most runs.
        most: String,
    },
    /// Nothing of it has a speed or a cost.
    NoRows,
}

impl FleetRun {
    /// What is kept of a run of this name. No more of it is judged than that.
    ///
    /// # Errors
    /// That it has neither rows nor costs.
    pub fn of(name: &str, run: &Run) -> Result<Self, Unused> {
        let header = &run.header;
        let machine = &header.machine;
        let trials = Trials::decode(&run.trials);
        let sound: Vec<Sound> =
            trials.by_case().filter_map(|(case, trials)| Sound::judge(run, case, trials).0).collect();
        let noise = Verdict::of(run, &trials, sound.iter().map(|row| (row.case, row.uncertainty())));
        let references =
            References { run, trials: &trials, rows: sound.iter().map(Sound::reference).collect() };
        let cost = |name: &str, ns| ((name.to_owned(), None), ns);
        let clock = cost(cost_name(Cost::ClockRead), header.harness.clock_read_ns);
        let core_to_core = noise.core_to_core_ns.map(|CoreToCore { median, .. }| cost(CORE_TO_CORE, median));
        let costs: SortedMap<_, _> =
            [clock].into_iter().chain(cost_medians(&references)).chain(core_to_core).collect();
        let costs = costs.into_iter().filter(|(_, ns)| ns.is_finite() && *ns > 0.0).collect();
        let rows: Vec<_> = sound
            .iter()
            .map(|row| (row.case.clone(), row.unit(), row.p50_ns))
            .filter(|(_, _, ns)| ns.is_finite() && *ns > 0.0)
            .collect();
        if rows.is_empty() && run.costs.is_empty() {
            return Err(Unused::NoRows);
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

/// A name without folders and ending, where it is that of a file.
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

/// The runs of the platform that most have, in the order in which they were measured; the others go to `unused`.
pub(super) fn of_one_platform(runs: Vec<FleetRun>, unused: &mut Vec<UnusedRun>) -> Vec<FleetRun> {
    let most =
        most_frequent(runs.iter().map(|run| run.platform.as_str())).map(|(platform, _)| platform.to_owned());
    let (mut used, others): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| Some(&run.platform) == most.as_ref());
    unused.extend(others.into_iter().zip(most.iter().cycle()).map(|(run, most)| UnusedRun {
        run: run.name,
        reason: Unused::OtherPlatform { platform: run.platform, most: most.clone() },
    }));
    sort_by(&mut used, |a, b| (a.started_unix_s, &a.name).cmp(&(b.started_unix_s, &b.name)));
    used
}

/// What stands there most often, and how often; the first by name of those that stand there equally often.
pub(super) fn most_frequent<'a>(texts: impl Iterator<Item = &'a str>) -> Option<(&'a str, usize)> {
    let mut counts: SortedMap<&str, usize> = SortedMap::default();
    texts.for_each(|text| *counts.or_default(text) += 1);
    counts.into_iter().rev().max_by_key(|(_, count)| *count)
}
