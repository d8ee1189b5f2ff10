//! Facts about the machine and the run, as names with values.

use furlong_analysis::{Summary, unusual_conditions};
use furlong_model::{Machine, format_bytes, format_ns};
use furlong_render::document::Fact;
use furlong_render::{condition, date, plain, shell};

fn fact(name: &str, value: Option<String>) -> Option<Fact> {
    let value = value.map(|value| plain(&value)).filter(|value| !value.is_empty())?;
    Some(Fact::new(name, value))
}

/// Returns the recorded facts of a machine.
pub fn machine(machine: &Machine) -> Vec<Fact> {
    let caches: Vec<_> = machine
        .caches
        .iter()
        .map(|cache| {
            let size = format_bytes(usize::try_from(cache.size_bytes).unwrap_or(usize::MAX));
            format!("L{} {} {size}", cache.level, cache.kind)
        })
        .collect();
    let numbers: Vec<_> = machine.processors.iter().map(usize::to_string).collect();
    let memory = machine.memory_bytes.map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)));
    let mitigations: Vec<_> =
        machine.mitigations.iter().map(|(fault, answer)| format!("{fault}: {answer}")).collect();
    let listed = |all: Vec<String>, between: &str| (!all.is_empty()).then(|| all.join(between));
    let yes_or_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    [
        fact("CPU", machine.processor.clone()),
        fact("CPUs", listed(numbers, " ")),
        fact("Threads share cores", machine.threads_share_cores.map(yes_or_no)),
        fact("Caches", listed(caches, ", ")),
        fact("Memory", memory),
        fact("Hypervisor", machine.hypervisor.clone()),
        fact("Kernel", Some(format!("{} {} {}", machine.system, machine.kernel, machine.architecture))),
        fact("Distribution", machine.distribution.clone()),
        fact("Clock", machine.clock_source.clone()),
        fact("Governor", machine.governor.clone()),
        fact("Deepest idle state", machine.deepest_idle_state.clone()),
        fact("Transparent huge pages", machine.transparent_huge_pages.clone()),
        fact("Shared-memory huge pages", machine.transparent_huge_pages_shared.clone()),
        fact("Conditions", listed(unusual_conditions(machine).iter().map(condition).collect(), ", ")),
        fact("Run as root", Some(yes_or_no(machine.root))),
        fact("Mitigations", listed(mitigations, "; ")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the settings of the run, so that it can be repeated.
pub fn method(summary: &Summary) -> Vec<Fact> {
    [
        Some(Fact::command("Command", shell(&summary.run.argv))),
        fact("Measured", Some(date(summary.run.started_unix_s))),
        fact("furlong", Some(summary.run.version.clone())),
        fact("Seed", Some(summary.run.seed.to_string())),
        fact("Time of one clock read", Some(format_ns(summary.run.harness.clock_read_ns))),
        fact("Clock resolution", Some(format_ns(summary.run.harness.clock_step_ns))),
        fact("Noise readings", Some(summary.run.noise.readings.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}
