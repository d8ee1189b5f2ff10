//! `SCHED_DEADLINE`: cases whose roles cannot have it, or would leave too little CPU time for the supervisor.

use crate::placement::allowed;
use furlong_model::{Case, Placement, RequestedCondition, Scheduling, Unavailable};
use furlong_os::role_conditions;
use std::io;

/// The setting whose value -1 switches admission control off. Then the kernel lets pinned threads have the policy.
const ADMISSION: &str = "kernel.sched_rt_runtime_us";

/// Returns why the roles of a case cannot run under `SCHED_DEADLINE`, or `None`. `processors` are the CPUs that they are pinned to.
pub(crate) fn refusal(case: &Case, processors: Option<&[usize]>) -> Option<Unavailable> {
    let policy = case.conditions.real_time_policy()?;
    let Scheduling::Deadline { runtime_us, period_us } = policy else { return None };
    let refused =
        |reason: String, remedy: &str| Some(Unavailable::new(format!("{policy}: {reason}"), remedy));
    if case.placement == Placement::OtherHost {
        return refused("the CPUs of the other host are unknown".to_owned(), "measure on one host");
    }
    let on = |processor: &usize, all: &[usize]| all.iter().filter(|other| *other == processor).count();
    let (roles, cpus) = match processors {
        Some(all) => (all.iter().map(|processor| on(processor, all)).max()?, 1),
        None => (case.all_parties().len(), allowed().ok()?.len()),
    };
    let (reserved, highest) =
        (roles as u64 * u64::from(runtime_us) * 100, Scheduling::HIGHEST_DEADLINE_PERCENT);
    if reserved > cpus as u64 * u64::from(period_us) * u64::from(highest) {
        let each = runtime_us * 100 / period_us;
        let reason = format!("{roles} roles with {each} % on {cpus} CPUs exceed {highest} % of the CPU time");
        return refused(reason, "choose a shorter runtime, fewer roles, or a CPU per role");
    }
    let admits_all = |condition: &RequestedCondition| matches!(condition, RequestedCondition::KernelSetting(setting) if setting.to_string() == format!("{ADMISSION}=-1"));
    if case.conditions.iter().any(admits_all) {
        return None;
    }
    let error = match processors {
        Some(all) => all.iter().find_map(|cpu| role_conditions::probe(&case.conditions, Some(*cpu)).err())?,
        None => role_conditions::probe(&case.conditions, None).err()?,
    };
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "run furlong as root (CAP_SYS_NICE). The kernel also requires that a role may use every CPU of its root domain: use \
             --place free, or switch admission control off with --set kernel.sched_rt_runtime_us=-1"
        }
        _ => "other processes have reserved the CPU time, or this kernel lacks the policy: leave it out",
    };
    refused(format!("cannot be set here: {error}"), remedy)
}
