//! A silence that was noticed, and what the roles do in it.

use super::RoleProcess;
use furlong_model::{Failure, Fault};
use furlong_os::activity::{Activity, Lack};
use furlong_os::clock;
use std::time::Duration;

/// A silence that was noticed, and what each role did then.
pub(super) struct Silence {
    noticed_ns: u64,
    activities: Vec<Option<Activity>>,
}

impl Silence {
    /// It is noticed now.
    pub(super) fn of<D>(processes: &[RoleProcess<D>]) -> Silence {
        let activities = processes.iter().map(|process| process.child.activity()).collect();
        Silence { noticed_ns: clock::now_ns(), activities }
    }

    /// How long it has been known, in milliseconds.
    pub(super) fn known_ms(&self) -> u64 {
        (clock::now_ns() - self.noticed_ns) / 1_000_000
    }

    /// That a role would have gone on since, had it been given what none of the others can give it. Nothing has come for `quiet`.
    pub(super) fn lack<D>(&self, processes: &[RoleProcess<D>], quiet: Duration) -> Option<Failure> {
        let (process, lack) = processes.iter().zip(&self.activities).find_map(|(process, earlier)| {
            let lack = process.child.activity()?.lack_since((*earlier)?)?;
            Some((process, lack))
        })?;
        let lacked = match lack {
            Lack::Processor => "ready to run, but other processes kept the processors",
            Lack::Device => {
                "in a wait that no signal ends (state D: the disk, another device, a frozen control group)"
            }
        };
        let detail = format!(
            "{lacked}: nothing came from it for {quiet:?}; run again when fewer processes are busy, or with a longer --timeout"
        );
        Some(Failure { phase: process.phase, party: Some(process.party), fault: Fault::Silent, detail })
    }
}
