//! Requested conditions of this process: scheduling policy, nice value, time slice and the node of its memory.

use crate::cleanup::CleanUp;
use crate::error::{Context, check};
use crate::linux::scheduling::attributes;
use crate::linux::{affinity, limits, memory_node};
use furlong_model::{RequestedCondition, RequestedConditions, Scheduling};
use std::io;

/// Longest time under a real-time policy without a blocking call. After it the kernel ends the process with SIGXCPU, so that
/// a busy-waiting role cannot keep a CPU from the rest of the system.
const LONGEST_REAL_TIME_US: u64 = 20_000_000;

/// Sets the conditions of the calling thread, which is a role.
///
/// # Errors
/// Returns `PermissionDenied` if this process may not, and `Unsupported` if the kernel accepts but ignores a condition.
pub fn apply(conditions: &RequestedConditions) -> io::Result<()> {
    if conditions.real_time_policy().is_some() {
        limits::lower(libc::RLIMIT_RTTIME, LONGEST_REAL_TIME_US).context(|| "setrlimit RLIMIT_RTTIME")?;
    }
    set(conditions)
}

/// Binds the memory of this thread and of the processes that it starts to the requested node, until the result is dropped.
///
/// # Errors
/// Returns `NotFound` if the node cannot be used.
pub fn bind_memory(conditions: &RequestedConditions) -> io::Result<Option<CleanUp>> {
    let Some(node) = conditions.memory_node() else { return Ok(None) };
    let before = memory_node::MemoryPolicy::read()?;
    memory_node::bind(node)?;
    Ok(Some(CleanUp::new(move || before.set())))
}

/// Sets the conditions of a thread that ends at once, on this CPU if one is given.
///
/// # Errors
/// Returns the errors of [`apply`].
pub fn probe(conditions: &RequestedConditions, processor: Option<usize>) -> io::Result<()> {
    let is_set_here = |condition: &RequestedCondition| {
        condition.is_scheduling() || matches!(condition, RequestedCondition::MemoryNode(_))
    };
    if !conditions.iter().any(is_set_here) {
        return Ok(());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || {
            processor.map_or(Ok(()), affinity::pin)?;
            set(conditions)
        })?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread has panicked")))
    })
}

/// Sets the conditions of the calling thread, and checks that they are in effect.
fn set(conditions: &RequestedConditions) -> io::Result<()> {
    conditions.memory_node().map_or(Ok(()), memory_node::bind)?;
    if !conditions.iter().any(RequestedCondition::is_scheduling) {
        return Ok(());
    }
    let mut wanted = attributes()?;
    for condition in conditions.iter() {
        match condition {
            RequestedCondition::Scheduling(policy) => {
                let (number, priority) = policy_number(*policy);
                (wanted.sched_policy, wanted.sched_priority) = (number as u32, priority.into());
                if let Scheduling::Deadline { runtime_us, period_us } = policy {
                    wanted.sched_runtime = u64::from(*runtime_us) * 1_000;
                    wanted.sched_period = u64::from(*period_us) * 1_000;
                    wanted.sched_deadline = wanted.sched_period;
                    // Without it, the role could start no threads (EAGAIN).
                    wanted.sched_flags |= libc::SCHED_FLAG_RESET_ON_FORK as u64;
                }
            }
            RequestedCondition::Nice(nice) => wanted.sched_nice = (*nice).into(),
            RequestedCondition::Slice { ns } => wanted.sched_runtime = (*ns).into(),
            _ => {}
        }
    }
    // SAFETY: the kernel reads one structure, whose size is in its first field.
    check(unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const wanted, 0) })
        .context(|| "sched_setattr")?;
    let effective = attributes()?;
    let ignored = conditions.iter().find(|condition| match condition {
        RequestedCondition::Scheduling(_) => {
            (effective.sched_policy, effective.sched_priority, effective.sched_period)
                != (wanted.sched_policy, wanted.sched_priority, wanted.sched_period)
        }
        // The kernel stores the nice value of `SCHED_IDLE`, whose weight is fixed.
        RequestedCondition::Nice(_) => {
            effective.sched_nice != wanted.sched_nice || effective.sched_policy == libc::SCHED_IDLE as u32
        }
        RequestedCondition::Slice { .. } => effective.sched_runtime != wanted.sched_runtime,
        _ => false,
    });
    ignored.map_or(Ok(()), |ignored| {
        let words = format!("sched_setattr: {ignored} has no effect on this kernel or under this policy");
        Err(io::Error::new(io::ErrorKind::Unsupported, words))
    })
}

const fn policy_number(policy: Scheduling) -> (libc::c_int, u8) {
    match policy {
        Scheduling::Other => (libc::SCHED_OTHER, 0),
        Scheduling::Batch => (libc::SCHED_BATCH, 0),
        Scheduling::Idle => (libc::SCHED_IDLE, 0),
        Scheduling::Fifo(priority) => (libc::SCHED_FIFO, priority),
        Scheduling::RoundRobin(priority) => (libc::SCHED_RR, priority),
        Scheduling::Deadline { .. } => (libc::SCHED_DEADLINE, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::conditions::read;
    use furlong_model::{CONDITION_KINDS, Capabilities};

    fn conditions(values: [&str; 3]) -> RequestedConditions {
        let axis = |(kind, value): (usize, &str)| match value {
            "" => Vec::new(),
            value => vec![CONDITION_KINDS[kind].read(value).unwrap()],
        };
        let axes: Vec<_> = values.into_iter().enumerate().map(axis).collect();
        RequestedConditions::combinations(&axes, &Capabilities::DEFAULT).remove(0)
    }

    #[test]
    fn requested_conditions_are_in_effect() {
        std::thread::spawn(|| {
            set(&conditions(["batch", "7", ""])).unwrap();
            let found = read();
            assert_eq!((found.policy.as_deref(), found.nice), (Some("batch"), Some(7)));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn probe_changes_nothing_here() {
        let before = read();
        probe(&conditions(["idle", "", ""]), None).unwrap();
        assert_eq!(read(), before);
    }

    #[test]
    fn condition_without_effect_is_an_error() {
        // A nice value means nothing to a real-time policy, which an ordinary user may not request either.
        let error = probe(&conditions(["fifo:1", "5", ""]), None).unwrap_err();
        assert!(
            matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied),
            "{error}"
        );
    }
}
