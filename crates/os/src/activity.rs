//! Whether a process from which nothing comes lacks something that nobody it works with can give it.

/// What the first thread of a process does at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It runs, or waits for a processor.
    Runnable,
    /// It waits for the disk or another device, and no signal ends that.
    WaitsForDevice,
    /// Anything else: it waits for somebody, is stopped, or has ended.
    Other,
}

/// What a process does at one moment, and how far it has come.
#[derive(Debug, Clone, Copy)]
pub struct Activity {
    /// What it does.
    pub state: State,
    /// How long it has run since it began, in nanoseconds.
    pub ran_ns: u64,
    /// The moment.
    pub at_ns: u64,
}

/// What a process lacks that would go on if it had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// A processor.
    Processor,
    /// The answer of a device: the disk, for a page that was taken from it.
    Device,
}

impl Activity {
    /// What it has lacked since `earlier`: it was in the same state at both moments and has run for less than a hundredth of the
    /// time in between.
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
