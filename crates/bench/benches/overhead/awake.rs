//! Keeps CPUs from halting. The wake-up of a halted virtual CPU waits for the host. That wait is longer than the rest
//! of a round trip, and it differs from minute to minute.

use furlong_os::process::{Bond, Child, fork};
use furlong_os::{AsHandle, affinity};
use std::io;

/// `SCHED_IDLE` processes, one on each CPU: every other process has priority over them. They end when this is dropped.
pub struct IdlePreventer {
    _spinning: Vec<Child>,
}

impl IdlePreventer {
    pub fn on(processors: [usize; 2]) -> io::Result<IdlePreventer> {
        let spin = |processor| {
            fork(&[], io::stderr().as_handle(), Bond::DiesWithParent, move || {
                let idle = libc::sched_param { sched_priority: 0 };
                // SAFETY: the parameter outlives the call; 0 is the calling process.
                let set = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const idle) };
                if affinity::pin(processor).is_err() || set != 0 {
                    return 1;
                }
                loop {
                    std::hint::spin_loop();
                }
            })
        };
        Ok(IdlePreventer { _spinning: processors.into_iter().map(spin).collect::<io::Result<_>>()? })
    }
}
