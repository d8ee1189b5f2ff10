//! Conditions of this process that change figures: scheduling, quotas, filters and limits, most of them inherited.

use crate::control_group;
use crate::linux::proc_files::Status;
use crate::linux::{limits, load, runtime, scheduling};
use furlong_model::Conditions;
use std::fs::read_to_string;
use std::path::PathBuf;

/// `SCHED_FLAG_RESET_ON_FORK`: children get the default policy.
const RESET_ON_FORK: u64 = 1;

/// Reads the conditions of this process.
pub fn read() -> Conditions {
    let status = Status::read();
    let scheduling = scheduling::attributes().ok();
    let (quota_cpus, quota_period_us) = load::quota().unzip();
    let text = |field: &str| status.field(field).map(str::to_owned);
    Conditions {
        policy: scheduling.map(|found| policy_name(found.sched_policy as i32).to_owned()),
        priority: scheduling.map(|found| found.sched_priority.into()),
        nice: nice(),
        reset_on_fork: scheduling.map(|found| found.sched_flags & RESET_ON_FORK != 0),
        // Older kernels report 0.
        slice_ns: scheduling.map(|found| found.sched_runtime).filter(|ns| *ns > 0),
        autogroup: autogroup(),
        timer_slack_ns: attribute(libc::PR_GET_TIMERSLACK),
        huge_pages_disabled: attribute(libc::PR_GET_THP_DISABLE).map(|disabled| disabled != 0),
        quota_cpus,
        quota_period_us,
        cpu_weight: cpu_weight(),
        seccomp: status.field("Seccomp").map(|mode| {
            match mode {
                "0" => "disabled",
                "1" => "strict",
                _ => "filter",
            }
            .to_owned()
        }),
        seccomp_filters: status.field("Seccomp_filters").and_then(|count| count.parse().ok()),
        no_new_privileges: status.field("NoNewPrivs").map(|set| set == "1"),
        security_label: line("/proc/self/attr/current"),
        store_bypass: text("Speculation_Store_Bypass"),
        indirect_branch: text("SpeculationIndirectBranch"),
        container: Some(runtime::container()),
        build: Some(crate::BUILD.to_owned()),
        memory_nodes: text("Mems_allowed_list"),
        limits: limits::soft_limits(),
    }
}

/// Returns whether a seccomp filter applies to this process.
pub fn is_filtered() -> bool {
    const FILTER: u64 = 2;
    attribute(libc::PR_GET_SECCOMP) == Some(FILTER)
}

fn policy_name(policy: i32) -> &'static str {
    match policy {
        libc::SCHED_OTHER => "other",
        libc::SCHED_FIFO => "fifo",
        libc::SCHED_RR => "rr",
        libc::SCHED_BATCH => "batch",
        libc::SCHED_IDLE => "idle",
        libc::SCHED_DEADLINE => "deadline",
        _ => "unnamed",
    }
}

/// Returns the nice value. -1 is a valid value, so only errno reports an error.
fn nice() -> Option<i64> {
    // SAFETY: errno belongs to this thread, and getpriority has only integer arguments.
    unsafe {
        *libc::__errno_location() = 0;
        let nice = libc::getpriority(libc::PRIO_PROCESS, 0);
        (*libc::__errno_location() == 0).then_some(i64::from(nice))
    }
}

/// Returns the nice value of the session's autogroup, which counts only in the root control group.
fn autogroup() -> Option<String> {
    if limits::sysctl("kernel.sched_autogroup_enabled")? == "0" {
        return Some("disabled".to_owned());
    }
    // As in `/autogroup-83 nice 0`; the number is that of the session.
    line("/proc/self/autogroup")?.split_once(' ').map(|(_, nice)| nice.to_owned())
}

/// Returns the first line of a small file of the kernel.
fn line(path: &str) -> Option<String> {
    let text = read_to_string(path).ok()?;
    text.lines()
        .next()
        .map(|line| line.trim_end_matches('\0').trim().to_owned())
        .filter(|line| !line.is_empty())
}

/// Returns an attribute that is the result of `prctl`.
fn attribute(which: i32) -> Option<u64> {
    // SAFETY: these attributes access no memory.
    u64::try_from(unsafe { libc::prctl(which, 0, 0, 0, 0) }).ok()
}

/// Returns the smallest CPU weight of the control groups of this process. Version 1 uses CPU shares with a default of 1024.
fn cpu_weight() -> Option<u64> {
    let of_group = |group: PathBuf| {
        let number = |name: &str| read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
        number("cpu.weight").or_else(|| Some(number("cpu.shares")?.saturating_mul(100).div_ceil(1024)))
    };
    control_group::around("cpu").into_iter().filter_map(of_group).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::process::{Bond, Exit, fork};
    use std::io;
    use std::os::fd::AsFd;

    #[test]
    fn changed_conditions_are_read() {
        let mut child = fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, || {
            // SAFETY: each call has integer arguments or reads one structure, and changes only this process.
            unsafe {
                let none = libc::sched_param { sched_priority: 0 };
                libc::sched_setscheduler(0, libc::SCHED_BATCH | libc::SCHED_RESET_ON_FORK, &raw const none);
                libc::setpriority(libc::PRIO_PROCESS, 0, 7);
                libc::prctl(libc::PR_SET_TIMERSLACK, 1_000_000, 0, 0, 0);
                libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                let files = libc::rlimit { rlim_cur: 77, rlim_max: 77 };
                libc::setrlimit(libc::RLIMIT_NOFILE, &raw const files);
            }
            let found = read();
            let files = ("RLIMIT_NOFILE".to_owned(), "77".to_owned());
            let right = found.policy.as_deref() == Some("batch")
                && found.reset_on_fork == Some(true)
                && found.nice == Some(7)
                && found.timer_slack_ns == Some(1_000_000)
                && found.huge_pages_disabled == Some(true)
                && found.no_new_privileges == Some(true)
                && found.build.as_deref() == Some(crate::BUILD)
                && found.limits.contains(&files);
            i32::from(!right)
        })
        .unwrap();
        assert_eq!(child.wait(), Some(Exit::Code(0)));
    }
}
