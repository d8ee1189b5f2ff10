//! Keeps processors from halting: a wake-up of a halted virtual processor waits for the host, which takes
//! longer than all else of a round trip and another time in each minute.

use furlong_os::process::{Bond, Child, fork};
use furlong_os::{AsHandle, affinity};
use std::io;

/// Processes of the idle class, one on each processor: everything else goes before them. They end when dropped.
pub struct Awake {
    _spinning: Vec<Child>,
}

impl Awake {
    pub fn on(processors: [usize; 2]) -> io::Result<Awake> {
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
        Ok(Awake { _spinning: processors.into_iter().map(spin).collect::<io::Result<_>>()? })
    }
}
