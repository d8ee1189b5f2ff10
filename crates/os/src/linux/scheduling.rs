//! Scheduling attributes of a thread: policy, priority, nice value and time slice.

use crate::error::{Context, check};
use std::io;

/// Returns the scheduling attributes of the calling thread.
pub(super) fn attributes() -> io::Result<libc::sched_attr> {
    const SIZE: u32 = size_of::<libc::sched_attr>() as u32;
    let mut attributes = libc::sched_attr {
        size: SIZE,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel fills at most `SIZE` bytes of one structure of this size.
    check(unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0) })
        .context(|| "sched_getattr")?;
    Ok(attributes)
}
