//! Facts of a machine that affect figures, by name. Names and order are fixed.

use furlong_model::{Machine, format_bytes};

/// Value of a fact that was not recorded.
pub(crate) const UNKNOWN: &str = "unknown";

/// Returns the facts with their values.
pub(crate) fn machine_facts(machine: &Machine) -> Vec<(&'static str, String)> {
    let known = |fact: &Option<String>| fact.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let yes_or_no = |fact: bool| if fact { "yes" } else { "no" }.to_owned();
    let numbers: Vec<_> = machine.processors.iter().map(usize::to_string).collect();
    let caches: Vec<_> = machine
        .caches
        .iter()
        .map(|cache| {
            let size = format_bytes(usize::try_from(cache.size_bytes).unwrap_or(usize::MAX));
            format!("L{} {} {size}", cache.level, cache.kind)
        })
        .collect();
    let core_choice = machine.core_choice.as_ref().map_or_else(
        || "first two cores".to_owned(),
        |choice| format!("{} and {}", choice.cpus[0], choice.cpus[1]),
    );
    let memory = machine.memory_bytes.map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)));
    vec![
        ("processor", known(&machine.processor)),
        ("architecture", machine.architecture.clone()),
        ("hypervisor", machine.hypervisor.clone().unwrap_or_else(|| "none".to_owned())),
        ("kernel", format!("{} {}", machine.system, machine.kernel)),
        ("runtime", machine.runtime.to_string()),
        ("distribution", known(&machine.distribution)),
        ("processors", numbers.join(" ")),
        ("CPUs of other-core", core_choice),
        ("threads share cores", machine.threads_share_cores.map_or_else(|| UNKNOWN.to_owned(), yes_or_no)),
        ("caches", caches.join(", ")),
        ("memory", known(&memory)),
        ("clock source", known(&machine.clock_source)),
        ("governor", known(&machine.governor)),
        ("deepest idle state", known(&machine.deepest_idle_state)),
        ("transparent huge pages", known(&machine.transparent_huge_pages)),
        ("shared-memory huge pages", known(&machine.transparent_huge_pages_shared)),
        ("root", yes_or_no(machine.root)),
        ("own IPC namespace", yes_or_no(machine.private_ipc_namespace)),
    ]
}
