//! `furlong doctor`: is this machine fit to measure, and has anything been left behind?

use crate::arguments::DoctorOptions;
use crate::output;
use furlong_analysis::{Condition, Disturbance, Level, disturbances, text::capital, unusual_conditions};
use furlong_bench::count::Counting;
use furlong_bench::not_measured::FOLDER_REMEDY;
#[cfg(target_os = "linux")]
use furlong_bench::session;
use furlong_bench::{ChildProgram, leftovers, noise, placement};
use furlong_console::exit::Outcome;
use furlong_model::{CountMethod, Machine, NoiseReading, Placement, format_ns};
#[cfg(target_os = "linux")]
use furlong_os::linux::{
    limits::{Resource, raised},
    logind,
};

/// Looks at what else the machine does: a single hiccup is no verdict.
const READINGS: usize = 5;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// As it should be.
    Good,
    /// Good to know: it shapes the figures or limits what can run.
    Note,
    /// Figures will be unreliable.
    Bad,
}

/// One thing that was looked at.
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

    /// `good` if it holds, else the other.
    fn choose(holds: bool, good: impl Into<String>, otherwise: Finding) -> Finding {
        if holds { Finding::good(good) } else { otherwise }
    }
}

/// Looks at the machine and says what it finds.
pub fn doctor(options: &DoctorOptions) -> anyhow::Result<Outcome> {
    let (mut findings, leftovers) = look_for_leftovers(options.clean);
    let machine = furlong_os::facts::machine(false);
    let pair = placement::resolve(Placement::OtherCore).ok();
    let program = ChildProgram::own()?;
    let readings: Vec<_> = (0..READINGS).map(|_| noise::read(&program, 0, pair)).collect();
    findings.extend(machine_findings(&machine));
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
        "\nThis machine is fit to measure; what is marked note belongs to its figures.\n"
    });
    output::print(&text)?;
    Ok(match leftovers {
        // It was to be removed.
        true if options.clean => Outcome::Failed,
        leftovers if options.strict && (unfit || leftovers) => Outcome::Unfit,
        _ => Outcome::Done,
    })
}

fn machine_findings(machine: &Machine) -> Vec<Finding> {
    let cores = machine.processors.len();
    let mut findings = vec![Finding::choose(
        cores >= 2,
        format!("{cores} processors may be used"),
        Finding::note(
            "only one processor may be used: other-core cannot be measured",
            "taskset, container limits",
        ),
    )];
    if machine.threads_share_cores == Some(true) {
        findings.push(Finding::note(
            "processors share cores (SMT): what runs on the sibling of a measured one slows it",
            "leave the siblings idle; other-core never uses two siblings",
        ));
    }
    findings.push(match machine.clock_source.as_deref() {
        Some(known @ ("tsc" | "QueryPerformanceCounter")) => Finding::good(format!("clock source: {known}")),
        Some(other) => Finding::note(
            format!("clock source: {other}; every reading of the clock may be a system call"),
            "boot with clocksource=tsc if the processor's counter is reliable",
        ),
        None => Finding::note("clock source: cannot be read (/sys is not there)", ""),
    });
    let harness = furlong_bench::run::harness();
    findings.push(Finding::choose(
        harness.clock_read_ns < 100.0,
        format!("reading the clock takes {}", format_ns(harness.clock_read_ns)),
        Finding::note(
            format!(
                "reading the clock takes {}: fast rows are timed in large batches",
                format_ns(harness.clock_read_ns)
            ),
            "",
        ),
    ));
    findings.push(match machine.governor.as_deref() {
        Some("performance") => Finding::good("frequency governor: performance"),
        Some(other) => Finding::note(
            format!("frequency governor: {other}; a processor that sleeps often runs slowly"),
            "as root: cpupower frequency-set -g performance",
        ),
        None => Finding::good("no frequency governor to be seen: the firmware or the host decides"),
    });
    if let Some(hypervisor) = &machine.hypervisor {
        findings.push(Finding::note(
            format!("a virtual machine ({hypervisor}): waking an idle core costs an exit to the host"),
            "the host may move cores; furlong measures the core-to-core transfer throughout each run",
        ));
    }
    if let Some(state) = &machine.deepest_idle_state {
        findings
            .push(Finding::note(format!("idle cores sleep as deeply as {state}: part of every wake-up"), ""));
    }
    findings
}

/// What a run that begins now would say of the machine.
fn load_findings(machine: &Machine, readings: &[NoiseReading]) -> Vec<Finding> {
    let seen = disturbances(readings, machine.processors.len());
    let mut findings = Vec::new();
    if !seen.iter().any(|(_, seen)| matches!(seen, Disturbance::SpinLost { .. }))
        && readings.iter().any(|reading| reading.spin_lost.is_some())
    {
        findings.push(Finding::good("no other process takes time from a busy-waiting process"));
    }
    let bare = readings.iter().filter_map(|reading| reading.core_to_core_ns).reduce(f64::min);
    findings.push(match bare {
        Some(ns) => {
            Finding::good(format!("a cache line goes to the other core and back in {}", format_ns(ns)))
        }
        None if machine.processors.len() > 1 => {
            Finding::bad("two processes could not spin on two cores at once", "stop other work")
        }
        None => Finding::note("no second core: no core-to-core transfer", ""),
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
    if unusual.is_empty() && machine.conditions.is_some() {
        return vec![Finding::good(
            "scheduling policy, nice value, timer slack, filters and limits: defaults",
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
    const WEIGHT: &str = "cpu.weight or cpu.shares of the control group; --cpu-shares of a container";
    match condition {
        Condition::Policy { reset_on_fork: true, .. } => {
            ("benchmark processes get the default policy instead", POLICY)
        }
        Condition::Policy { .. } => ("figures hold for programs with this policy only", POLICY),
        Condition::Nice(_) => ("it changes the CPU time that other processes leave", "nice -n 0, as root"),
        Condition::TimerSlack { .. } => ("it changes how late timed waits end", "the default is 50 us"),
        Condition::HugePagesDisabled => {
            ("memory is mapped in small pages", "start furlong from a process without this setting")
        }
        Condition::CpuWeight(_) => ("other groups get more CPU time than this one (default 100)", WEIGHT),
        Condition::Seccomp { .. } => (
            "it makes each system call slower, and may forbid some",
            "measure outside the container, or with --security-opt seccomp=unconfined",
        ),
        Condition::Limit { .. } => {
            ("benchmarks that need more fail", "ulimit, or LimitNAME= of the service in systemd")
        }
    }
}

fn remedy(seen: &Disturbance) -> &'static str {
    match seen {
        Disturbance::SpinLost { .. } | Disturbance::Pressure { .. } | Disturbance::Load { .. } => {
            "stop the other processes, or wait until they end"
        }
        Disturbance::Stolen { .. } => "ask the host for more CPU time",
        Disturbance::Quota { .. } | Disturbance::Throttled { .. } => {
            "cpu.max or cpu.cfs_quota_us of the control group; --cpus of a container"
        }
        Disturbance::CoreMoved { .. } | Disturbance::WideIntervals { .. } => "",
    }
}

/// What only Linux has.
#[cfg(target_os = "linux")]
fn system_findings() -> Vec<Finding> {
    let private = session::enter_private_namespace();
    let seen_by_logind = private.is_err() && logind::removes_objects_at_logout();
    let mut findings = vec![match private {
        Ok(()) => Finding::good("trials get an IPC namespace of their own, in which furlong raises limits"),
        Err(error) => Finding::note(
            format!("no IPC namespace of our own: {error}; the machine's limits hold"),
            "run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)",
        ),
    }];
    if seen_by_logind {
        findings.push(Finding::note(
            "logind removes this user's System V and POSIX objects at the last logout: a run that goes on then fails",
            "stay logged in, loginctl enable-linger, or RemoveIPC=no in /etc/systemd/logind.conf",
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
        "/dev/shm can be written to",
        Finding::note("/dev/shm cannot be written to: posix-shm cannot run", "mount a tmpfs there"),
    ));
    findings
}

/// What only Windows has.
#[cfg(windows)]
fn system_findings() -> Vec<Finding> {
    let wine = furlong_os::windows::runtime::wine_version();
    wine.map(|version| {
        Finding::bad(
            format!("Wine {version} stands for Windows: figures prove the code and not the speed"),
            "measure on Windows itself",
        )
    })
    .into_iter()
    .collect()
}

fn right_findings(machine: &Machine) -> Vec<Finding> {
    let mut findings = system_findings();
    let counting = Counting::find();
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
                "run as root, or with CAP_PERFMON and CAP_SYS_ADMIN; ptrace counts the same, slower"
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

/// Checks the directory for temporary files. Finds the remains of dead runs there, and removes them if `clean`. The second value is true if
/// something remains, or may remain because the directory cannot be read.
fn look_for_leftovers(clean: bool) -> (Vec<Finding>, bool) {
    let unusable = |error: std::io::Error| {
        Finding::bad(format!("the directory for temporary files cannot be used: {error}"), FOLDER_REMEDY)
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
