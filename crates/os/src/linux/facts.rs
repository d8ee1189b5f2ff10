//! Facts about this machine that affect results.

use crate::linux::{affinity, conditions, identity, limits, runtime};
use furlong_model::{Cache, Machine};
use std::fs::read_to_string;

/// Collects the available facts. The caller determines `private_ipc_namespace`.
pub fn machine(private_ipc_namespace: bool) -> Machine {
    let processors = affinity::allowed().unwrap_or_default();
    let first = processors.first().copied().unwrap_or(0);
    let [system, kernel, architecture, _, version] = names();
    Machine {
        runtime: runtime::runtime(&kernel, &version),
        system,
        kernel,
        architecture,
        distribution: assignment("/etc/os-release", "PRETTY_NAME", '=').map(|name| name.replace('"', "")),
        processor: assignment("/proc/cpuinfo", "model name", ':'),
        threads_share_cores: Some(processors.iter().any(|&cpu| affinity::core_siblings(cpu).len() > 1)),
        processors,
        caches: caches(first),
        memory_bytes: assignment("/proc/meminfo", "MemTotal", ':')
            .and_then(|text| text.strip_suffix("kB")?.trim().parse::<u64>().ok())
            .map(|kibibytes| kibibytes * 1024),
        mitigations: mitigations(),
        clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        governor: governor(first),
        deepest_idle_state: deepest_idle_state(first),
        transparent_huge_pages: chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        transparent_huge_pages_shared: chosen("/sys/kernel/mm/transparent_hugepage/shmem_enabled"),
        hypervisor: hypervisor(),
        limits: kernel_limits(),
        private_ipc_namespace,
        root: identity::is_administrator(),
        host: None,
        core_choice: None,
        conditions: Some(Box::new(conditions::read())),
    }
}

/// Returns the frequency governor of a CPU, if the kernel has one.
pub fn governor(processor: usize) -> Option<String> {
    line(&format!("/sys/devices/system/cpu/cpu{processor}/cpufreq/scaling_governor"))
}

/// Returns the first line of a small file.
fn line(path: &str) -> Option<String> {
    let text = read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Returns the word in brackets, in a file that lists possible values.
fn chosen(path: &str) -> Option<String> {
    let list = line(path)?;
    let (_, behind) = list.split_once('[')?;
    behind.split_once(']').map(|(chosen, _)| chosen.to_owned())
}

/// Returns the value after `name` and `separator` in a file of such lines.
fn assignment(path: &str, name: &str, separator: char) -> Option<String> {
    let text = read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (left, right) = line.split_once(separator)?;
        (left.trim() == name).then(|| right.trim().to_owned())
    })
}

/// Returns the version and revision of the running kernel, as reported by the kernel.
pub fn kernel_version() -> Option<(u32, u32)> {
    crate::facts::version_in(&names()[1])
}

/// Returns the name of this host.
pub fn host_name() -> Option<String> {
    let [_, _, _, name, _] = names();
    Some(name).filter(|name| !name.is_empty())
}

/// Returns the system, the kernel release, the instruction set, the name of the host and the kernel's version, from `uname`.
fn names() -> [String; 5] {
    let mut names = std::mem::MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: the kernel fills one utsname, for which zeroes are a valid value.
    let names = unsafe {
        libc::uname(names.as_mut_ptr());
        names.assume_init()
    };
    let text = |field: &[libc::c_char]| {
        field.iter().take_while(|&&c| c != 0).map(|&c| char::from(c as u8)).collect::<String>()
    };
    [
        text(&names.sysname),
        text(&names.release),
        text(&names.machine),
        text(&names.nodename),
        text(&names.version),
    ]
}

fn caches(processor: usize) -> Vec<Cache> {
    let cache = |index: usize| {
        let folder = format!("/sys/devices/system/cpu/cpu{processor}/cache/index{index}");
        let size = line(&format!("{folder}/size"))?;
        let (number, factor) = match size.strip_suffix('K') {
            Some(number) => (number, 1024),
            None => (size.strip_suffix('M')?, 1024 * 1024),
        };
        Some(Cache {
            level: line(&format!("{folder}/level"))?.parse().ok()?,
            kind: line(&format!("{folder}/type"))?,
            size_bytes: number.parse::<u64>().ok()? * factor,
        })
    };
    (0..).map_while(cache).collect()
}

/// Returns the kernel's mitigation of each CPU vulnerability that affects this machine.
fn mitigations() -> Vec<(String, String)> {
    let Ok(folder) = std::fs::read_dir("/sys/devices/system/cpu/vulnerabilities") else { return Vec::new() };
    let mut found: Vec<_> = folder
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, line(entry.path().to_str()?)?)))
        .filter(|(_, state)| state != "Not affected")
        .collect();
    found.sort();
    found
}

fn deepest_idle_state(processor: usize) -> Option<String> {
    let name =
        |state: usize| line(&format!("/sys/devices/system/cpu/cpu{processor}/cpuidle/state{state}/name"));
    (0..).map_while(name).last()
}

/// Returns the hypervisor's name, from the CPUID instruction or otherwise from the kernel.
fn hypervisor() -> Option<String> {
    let flags = assignment("/proc/cpuinfo", "flags", ':')?;
    flags.split_whitespace().any(|flag| flag == "hypervisor").then(|| {
        identified_hypervisor()
            .or_else(|| line("/sys/hypervisor/type"))
            .unwrap_or_else(|| "unnamed".to_owned())
    })
}

/// Returns the name in leaf 0x4000_0000, which hypervisors fill by convention.
#[cfg(target_arch = "x86_64")]
fn identified_hypervisor() -> Option<String> {
    let leaf = std::arch::x86_64::__cpuid(0x4000_0000);
    let name: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].into_iter().flat_map(u32::to_le_bytes).collect();
    match name.as_slice() {
        b"KVMKVMKVM\0\0\0" => Some("KVM".to_owned()),
        b"Microsoft Hv" => Some("Hyper-V".to_owned()),
        b"VMwareVMware" => Some("VMware".to_owned()),
        b"XenVMMXenVMM" => Some("Xen".to_owned()),
        b"TCGTCGTCGTCG" => Some("QEMU without KVM".to_owned()),
        _ => None,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn identified_hypervisor() -> Option<String> {
    None
}

/// Returns the limits that determine which messages a mechanism accepts.
fn kernel_limits() -> Vec<(String, String)> {
    const NAMES: [&str; 9] = [
        "fs.mqueue.msg_max",
        "fs.mqueue.msgsize_max",
        "fs.mqueue.queues_max",
        "fs.pipe-max-size",
        "kernel.msgmax",
        "kernel.msgmnb",
        "kernel.shmmax",
        "net.core.rmem_max",
        "net.core.wmem_max",
    ];
    NAMES.iter().filter_map(|name| Some(((*name).to_owned(), limits::sysctl(name)?))).collect()
}
