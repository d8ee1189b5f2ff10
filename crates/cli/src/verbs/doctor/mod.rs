//! `furlong doctor`: whether this machine is fit to measure, and whether dead runs have left anything.

#[cfg(target_os = "linux")]
mod processors;

use crate::arguments::DoctorOptions;
use crate::output;
use furlong_analysis::{Condition, Disturbance, Level, disturbances, text::capital, unusual_conditions};
use furlong_bench::count::CallCounting;
use furlong_bench::not_measured::FOLDER_REMEDY;
use furlong_bench::placement::AllowedCpus;
#[cfg(target_os = "linux")]
use furlong_bench::session;
use furlong_bench::{ChildProgram, leftovers, noise};
use furlong_console::exit::Outcome;
use furlong_model::{CountMethod, CpuList, Machine, NoiseReading, Placement, format_ns};
use furlong_os::facts::governor;
#[cfg(target_os = "linux")]
use furlong_os::linux::{
    limits::{Resource, raised},
    logind,
};

/// The number of noise readings, so that a single short disturbance does not decide.
const READINGS: usize = 5;

/// The importance of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// As it should be.
    Good,
    /// Affects figures or limits which mechanisms can run.
    Note,
    /// Makes figures unreliable.
    Bad,
}

/// The result of one check.
struct Finding {
    weight: Weight,
    text: String,
    remedy: &'static str,
}

impl Finding {
    fn good(text: impl Into<String>) -> Finding {
        Finding { weight: Weight::Good, text: text.into(), remedy: "" }
    }

    fn note(text: impl Into<String>, remedy: &'static str) -> Finding {
        Finding { weight: Weight::Note, text: text.into(), remedy }
    }

    fn bad(text: impl Into<String>, remedy: &'static str) -> Finding {
        Finding { weight: Weight::Bad, text: text.into(), remedy }
    }

    /// Returns `good` if the condition holds, otherwise `otherwise`.
    fn choose(holds: bool, good: impl Into<String>, otherwise: Finding) -> Finding {
        if holds { Finding::good(good) } else { otherwise }
    }
}

/// Checks the machine and prints the findings.
pub fn doctor(options: &DoctorOptions) -> anyhow::Result<Outcome> {
    let (mut findings, leftovers) = look_for_leftovers(options.clean);
    let machine = furlong_os::facts::machine(false);
    let cpus = AllowedCpus::read().ok();
    let pair = cpus.as_ref().and_then(|cpus| cpus.resolve(Placement::OtherCore).ok());
    let program = ChildProgram::own()?;
    let readings: Vec<_> = (0..READINGS).map(|_| noise::read(&program, 0, pair)).collect();
    findings.extend(machine_findings(&machine));
    #[cfg(target_os = "linux")]
    findings.extend(cpus.zip(pair).iter().flat_map(|(cpus, pair)| processors::findings(cpus, *pair)));
    findings.extend(load_findings(&machine, &readings));
    findings.extend(condition_findings(&machine));
    findings.extend(right_findings(&machine));
    let unfit = findings.iter().any(|finding| finding.weight == Weight::Bad);

    let mut text = String::new();
    for finding in &findings {
        let mark = match finding.weight {
            Weight::Good => "ok  ",
            Weight::Note => "note",
            Weight::Bad => "BAD ",
        };
        text.push_str(&format!("{mark}  {}\n", finding.text));
        if !finding.remedy.is_empty() {
            text.push_str(&format!("      remedy: {}\n", finding.remedy));
        }
    }
    text.push_str(if unfit {
        "\nThis machine is not fit to measure now: see the lines marked BAD.\n"
    } else {
        "\nThis machine is fit to measure; consider the lines marked note when you interpret its results.\n"
    });
    output::print(&text)?;
    Ok(match leftovers {
        // The user asked for its removal, which failed.
        true if options.clean => Outcome::Failed,
        leftovers if options.strict && (unfit || leftovers) => Outcome::Unfit,
        _ => Outcome::Done,
    })
}

fn machine_findings(machine: &Machine) -> Vec<Finding> {
    let cores = machine.processors.len();
    let mut findings = vec![Finding::choose(
        cores >= 2,
        format!("{cores} CPUs are available"),
        Finding::note(
            "only one CPU is available: cross-core benchmarks cannot run",
            "check taskset and the limits of the container",
        ),
    )];
    if machine.threads_share_cores == Some(true) {
        findings.push(Finding::note(
            "CPUs share cores (SMT): processes on the sibling of a benchmarked CPU slow it down",
            "leave the siblings idle; cross-core benchmarks never use two siblings",
        ));
    }
    findings.push(match machine.clock_source.as_deref() {
        Some(known @ ("tsc" | "QueryPerformanceCounter")) => Finding::good(format!("clock source: {known}")),
        Some(other) => Finding::note(
            format!("clock source: {other}; each clock read may be a system call"),
            "boot with clocksource=tsc if the CPU's counter is reliable",
        ),
        None => Finding::note("clock source: unknown (/sys is not mounted)", ""),
    });
    let harness = furlong_bench::run::harness();
    findings.push(Finding::choose(
        harness.clock_read_ns < 100.0,
        format!("a clock read takes {}", format_ns(harness.clock_read_ns)),
        Finding::note(
            format!(
                "a clock read takes {}: fast benchmarks are timed in large batches",
                format_ns(harness.clock_read_ns)
            ),
            "",
        ),
    ));
    findings.push(judge_governors(machine.processors.iter().map(|cpu| (*cpu, governor(*cpu))).collect()));
    if let Some(hypervisor) = &machine.hypervisor {
        findings.push(Finding::note(
            format!("a virtual machine ({hypervisor}): waking an idle core requires a VM exit to the host"),
            "pin the vCPUs on the host, which may move them; furlong measures the core-to-core transfer throughout each run",
        ));
    }
    if let Some(state) = &machine.deepest_idle_state {
        findings.push(Finding::note(
            format!("idle cores enter states up to {state}: leaving them is part of every wake-up"),
            "",
        ));
    }
    findings
}

/// Judges the frequency governors of CPUs.
fn judge_governors(mut governors: Vec<(usize, Option<String>)>) -> Finding {
    let is_visible = governors.iter().any(|(_, governor)| governor.is_some());
    governors.retain(|(_, governor)| governor.as_deref().is_some_and(|governor| governor != "performance"));
    match &governors[..] {
        [(_, Some(governor)), ..] => Finding::note(
            format!(
                "frequency governor of CPUs {}: {governor}; a CPU that often sleeps runs at a low frequency",
                CpuList(governors.iter().map(|(cpu, _)| *cpu).collect())
            ),
            "sudo cpupower frequency-set -g performance",
        ),
        _ if is_visible => Finding::good("frequency governor: performance"),
        _ => Finding::good("no frequency governor visible: the firmware or the host sets the frequency"),
    }
}

/// Returns the disturbances that a run would report if it began now.
fn load_findings(machine: &Machine, readings: &[NoiseReading]) -> Vec<Finding> {
    let seen = disturbances(readings, machine.processors.len());
    let mut findings = Vec::new();
    if !seen.iter().any(|(_, seen)| matches!(seen, Disturbance::SpinLost { .. }))
        && readings.iter().any(|reading| reading.spin_lost.is_some())
    {
        findings.push(Finding::good("no other process preempts a busy-waiting process"));
    }
    let bare = readings.iter().filter_map(|reading| reading.core_to_core_ns).reduce(f64::min);
    findings.push(match bare {
        Some(ns) => Finding::good(format!("cache-line round trip between cores: {}", format_ns(ns))),
        None if machine.processors.len() > 1 => {
            Finding::bad("two processes could not busy-wait on two cores in parallel", "stop other processes")
        }
        None => Finding::note("no second core, so no core-to-core transfer", ""),
    });
    findings.extend(seen.iter().map(|(level, seen)| {
        let weight = if *level == Level::Unreliable { Weight::Bad } else { Weight::Note };
        Finding { weight, text: capital(&furlong_render::disturbance(seen)), remedy: remedy(seen) }
    }));
    findings
}

/// Judges the conditions that this process and its roles have inherited.
fn condition_findings(machine: &Machine) -> Vec<Finding> {
    let unusual = unusual_conditions(machine);
    if unusual.is_empty() && machine.conditions.as_ref().is_some_and(|known| known.policy.is_some()) {
        return vec![Finding::good(
            "scheduling policy, nice value, timer slack, filters, limits and build: defaults",
        )];
    }
    let finding = |condition: &Condition| {
        let (means, remedy) = meaning(condition);
        Finding::note(format!("{}: {means}", capital(&furlong_render::condition(condition))), remedy)
    };
    unusual.iter().map(finding).collect()
}

/// Returns the effect of a condition on figures, and its remedy.
fn meaning(condition: &Condition) -> (&'static str, &'static str) {
    const POLICY: &str = "start furlong without chrt, or as root: chrt -o 0 furlong";
    const WEIGHT: &str =
        "raise cpu.weight or cpu.shares of the control group, or --cpu-shares of the container";
    match condition {
        Condition::Policy { reset_on_fork: true, .. } => {
            ("benchmark processes get the default policy instead", POLICY)
        }
        Condition::Policy { .. } => ("figures hold for programs with this policy only", POLICY),
        Condition::Nice(_) => {
            ("it changes the CPU time that other processes leave", "run as root with nice -n 0")
        }
        Condition::TimerSlack { .. } => {
            ("it changes how late timers expire", "start furlong with the default of 50 us")
        }
        Condition::HugePagesDisabled => {
            ("memory is mapped in small pages", "start furlong from a process without this setting")
        }
        Condition::CpuWeight(_) => ("other groups get more CPU time than this one (default 100)", WEIGHT),
        Condition::Seccomp { .. } => (
            "it slows down each system call, and may block some",
            "measure outside the container, or with --security-opt seccomp=unconfined",
        ),
        Condition::DebugBuild => {
            ("its loops are not optimised, so all figures are too large", "build furlong with --release")
        }
        Condition::SecurityLabel(_) => (
            "the security module checks each access, and may block some",
            "compare with a run without the profile",
        ),
        Condition::Speculation { .. } => (
            "this process runs slower than others on this machine",
            "start furlong without a seccomp filter, or without prctl(PR_SET_SPECULATION_CTRL)",
        ),
        Condition::Container(_) => (
            "figures hold for this container: its filters, quota and file systems count",
            "compare with a run on the host",
        ),
        Condition::Limit { .. } => (
            "benchmarks that need more fail",
            "raise it with ulimit, or with LimitNAME= of the service in systemd",
        ),
    }
}

fn remedy(seen: &Disturbance) -> &'static str {
    match seen {
        Disturbance::SpinLost { .. } | Disturbance::Pressure { .. } | Disturbance::Load { .. } => {
            "stop the other processes, or wait until they end"
        }
        Disturbance::Stolen { .. } => "ask the host for more CPU time",
        Disturbance::Quota { .. } | Disturbance::Throttled { .. } => {
            "raise cpu.max or cpu.cfs_quota_us of the control group, or --cpus of the container"
        }
        Disturbance::CoreMoved { .. } | Disturbance::WideIntervals { .. } => "",
    }
}

/// Returns the findings of Linux alone.
#[cfg(target_os = "linux")]
fn system_findings() -> Vec<Finding> {
    let private = session::enter_private_namespace();
    let seen_by_logind = private.is_err() && logind::removes_objects_at_logout();
    let mut findings = vec![match private {
        Ok(()) => Finding::good("trials run in a private IPC namespace, in which furlong raises limits"),
        Err(error) => Finding::note(
            format!("no private IPC namespace: {error}; the machine's limits apply"),
            "run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)",
        ),
    }];
    if seen_by_logind {
        findings.push(Finding::note(
            "logind removes this user's System V and POSIX objects at the last logout, so a run that is still in progress fails",
            "stay logged in, run loginctl enable-linger, or set RemoveIPC=no in /etc/systemd/logind.conf",
        ));
    }
    if let Ok(bytes) = raised(Resource::MessageQueueBytes) {
        findings.push(Finding::choose(
            bytes >= 1 << 20,
            format!("POSIX queues may hold {bytes} bytes (RLIMIT_MSGQUEUE)"),
            Finding::note(
                format!("POSIX queues may hold {bytes} bytes (RLIMIT_MSGQUEUE)"),
                "ulimit -q unlimited",
            ),
        ));
    }
    findings.push(Finding::choose(
        furlong_os::linux::segment::can_create_in("/dev/shm".as_ref()).is_ok(),
        "/dev/shm is writable",
        Finding::note("/dev/shm is not writable: posix-shm cannot run", "mount a writable tmpfs on it"),
    ));
    findings
}

/// Returns the findings of Windows alone.
#[cfg(windows)]
fn system_findings() -> Vec<Finding> {
    let wine = furlong_os::windows::runtime::wine_version();
    wine.map(|version| {
        Finding::bad(
            format!("Wine {version} instead of Windows: results check correctness, not speed"),
            "measure on Windows itself",
        )
    })
    .into_iter()
    .collect()
}

fn right_findings(machine: &Machine) -> Vec<Finding> {
    let mut findings = system_findings();
    let counting = CallCounting::find();
    findings.push(Finding::choose(
        counting.method() == CountMethod::Tracepoint,
        "system calls are counted by the kernel's tracepoint",
        Finding::note(
            format!(
                "system calls are counted by {}: {}",
                counting.method(),
                counting.why_not_better().join("; ")
            ),
            if cfg!(windows) {
                "count on Linux"
            } else {
                "run as root, or with CAP_PERFMON and CAP_SYS_ADMIN; ptrace counts the same calls, but is slower"
            },
        ),
    ));
    findings.push(Finding::good(format!(
        "running as {}",
        match machine.root {
            true if cfg!(windows) => "an administrator",
            true => "root",
            false => "an ordinary user",
        }
    )));
    findings
}

/// Checks the directory for temporary files. Finds the remains of dead runs there, and removes them if `clean`. The
/// second value is true if something remains, or may remain because the directory cannot be read.
fn look_for_leftovers(clean: bool) -> (Vec<Finding>, bool) {
    let unusable = |error: std::io::Error| {
        Finding::bad(format!("cannot use the directory for temporary files: {error}"), FOLDER_REMEDY)
    };
    let mut findings: Vec<_> = leftovers::try_base_folder().err().map(unusable).into_iter().collect();
    let found = match leftovers::find() {
        Ok(found) => found,
        Err(error) => {
            if findings.is_empty() {
                findings.push(unusable(error));
            }
            return (findings, true);
        }
    };
    if found.is_empty() {
        findings.push(Finding::good("nothing is left of dead runs"));
    }
    let mut left = false;
    for leftover in &found {
        let folder = leftover.folder.display();
        if !clean {
            left = true;
            findings.push(Finding::note(format!("left by a dead run: {folder}"), "furlong doctor --clean"));
            continue;
        }
        findings.push(match leftovers::remove(&leftover.folder, leftover.names.as_ref()) {
            Ok(()) => Finding::good(format!("removed the remains of a dead run: {folder}")),
            Err(error) => {
                left = true;
                Finding::bad(format!("cannot remove {folder}: {error}"), "")
            }
        });
    }
    (findings, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn governors_other_than_performance_are_named_with_their_cpus() {
        let judge = |governors: &[Option<&str>]| {
            let governors = governors.iter().map(|name| name.map(str::to_owned)).enumerate();
            let finding = judge_governors(governors.collect());
            (finding.weight, finding.text)
        };
        assert_eq!(judge(&[Some("performance"); 2]).1, "frequency governor: performance");
        assert!(judge(&[None; 2]).1.starts_with("no frequency governor"));
        let (weight, text) = judge(&[Some("performance"), Some("powersave"), Some("powersave")]);
        assert!(weight == Weight::Note && text.contains("governor of CPUs 1-2: powersave;"), "{text}");
    }
}
