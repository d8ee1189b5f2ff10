//! Whether a silent process lacks a resource that its peers cannot give it, such as a CPU.

/// State of a process's first thread at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It runs, or waits for a CPU.
    Runnable,
    /// It waits for the disk or another device, in a sleep that no signal interrupts.
    WaitsForDevice,
    /// Any other state: it waits for another process, is stopped, or has exited.
    Other,
}

/// State of a process at one moment, and its CPU time until then.
#[derive(Debug, Clone, Copy)]
pub struct Activity {
    /// State of its first thread.
    pub state: State,
    /// CPU time that the thread has used since it began, in nanoseconds.
    pub ran_ns: u64,
    /// Time of the reading, in nanoseconds of the monotonic clock.
    pub at_ns: u64,
}

/// Resource without which a process cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// A CPU.
    Processor,
    /// The answer of a device, for example the disk that holds a page.
    Device,
}

impl Activity {
    /// Returns the resource that the process has lacked since `earlier`: it was in the same state at both moments, and ran for
    /// less than a hundredth of the time in between.
    pub fn lack_since(self, earlier: Activity) -> Option<Lack> {
        const HARDLY: u64 = 100;
        let elapsed_ns = self.at_ns.saturating_sub(earlier.at_ns);
        let ran_ns = self.ran_ns.saturating_sub(earlier.ran_ns);
        let lack = match self.state {
            State::Runnable => Lack::Processor,
            State::WaitsForDevice => Lack::Device,
            State::Other => return None,
        };
        (self.state == earlier.state && ran_ns < elapsed_ns / HARDLY).then_some(lack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_peer_or_has_run_lacks_nothing() {
        let at = |state, ran_ns, at_ns| Activity { state, ran_ns, at_ns };
        use State::{Other, Runnable, WaitsForDevice};
        for (earlier, later, lack) in [
            (at(Runnable, 5, 1_000), at(Runnable, 5, 2_000), Some(Lack::Processor)),
            (at(Runnable, 5, 1_000), at(Runnable, 14, 2_000), Some(Lack::Processor)),
            (at(Runnable, 5, 1_000), at(Runnable, 15, 2_000), None),
            (at(WaitsForDevice, 5, 1_000), at(WaitsForDevice, 5, 2_000), Some(Lack::Device)),
            (at(Other, 5, 1_000), at(Other, 5, 2_000), None),
            (at(Other, 5, 1_000), at(Runnable, 5, 2_000), None),
            (at(Runnable, 5, 1_000), at(Runnable, 5, 1_000), None),
        ] {
            assert_eq!(later.lack_since(earlier), lack, "{earlier:?} {later:?}");
        }
    }
}
