//! Neighbours: processes of known kind and place that run next to the roles of a trial.

use crate::child_process::{ChildKind, done};
use crate::control::{Control, Report};
use crate::not_measured::NotMeasured;
use crate::placement::AllowedCpus;
use crate::session::Session;
use furlong_loops::neighbour_work;
use furlong_model::{
    Failure, Fault, Neighbour, NeighbourUse, Phase, RequestedCondition, Scheduling, Unavailable, format_bytes,
};
use furlong_os::activity::{Activity, State};
use furlong_os::process::{Bond, Child};
use furlong_os::{AsHandle, Context, affinity, available_memory, clock, facts, file_system, role_conditions};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// Size of the last-level cache if the system does not report it: that of a common server.
const USUAL_CACHE_BYTES: u64 = 32 << 20;
/// Buffer of the process that loads the memory, as a multiple of the last-level cache: nothing of it is still in the cache when
/// it is written again.
const TIMES_CACHE: u64 = 4;
/// Size of each write to the file.
const BLOCK_BYTES: usize = 1 << 20;
/// Longest time until a neighbour runs, in nanoseconds: it touches all of its buffer first.
const START_NS: u64 = 10_000_000_000;

/// Task of a neighbour's process.
#[derive(Debug, Serialize, Deserialize)]
struct NeighbourTask {
    work: Neighbour,
    processor: Option<usize>,
    buffer_bytes: u64,
    /// Directory and name of the file, which has a name for a moment. Cleanup removes the name, because it is that of a link.
    file: (PathBuf, String),
}

/// Running neighbours of a trial.
pub(super) struct Neighbours {
    processes: Vec<NeighbourProcess>,
}

struct NeighbourProcess {
    child: Child,
    /// Open as long as the process is needed.
    _control: Control,
    used: NeighbourUse,
    /// Activity before the measured part, and then after it; `None` if the process was dead.
    activities: Vec<Option<Activity>>,
}

/// Returns why this neighbour is impossible here, or `None`.
pub(super) fn refusal(neighbour: Neighbour, session: &Session) -> Option<Unavailable> {
    let needed = buffer_bytes(neighbour);
    if available_memory::available_bytes().is_some_and(|available| needed > available / 2) {
        let reason = format!("the neighbour '{neighbour}' needs {} of memory", format_bytes(needed as usize));
        return Some(Unavailable::new(reason, "choose cpu:N, or end other programs"));
    }
    let folder = file_folder(session);
    let in_memory = file_system::kind(folder).is_ok_and(|kind| file_system::is_memory(&kind));
    (neighbour == Neighbour::FileWriter && in_memory).then(|| {
        let reason = format!("{} is in memory, so its files reach no disk", folder.display());
        Unavailable::new(reason, "name a directory on a disk with --file-folder or TMPDIR")
    })
}

/// Returns the directory of the file that a neighbour writes.
fn file_folder(session: &Session) -> &Path {
    session.file_folder().unwrap_or_else(|| session.folder())
}

/// Returns the size of a neighbour's buffer.
fn buffer_bytes(neighbour: Neighbour) -> u64 {
    let last = || {
        let caches = facts::machine(false).caches;
        caches.iter().max_by_key(|cache| cache.level).map_or(USUAL_CACHE_BYTES, |cache| cache.size_bytes)
    };
    match neighbour {
        Neighbour::BusyLoops(_) => 0,
        Neighbour::CacheWriter => last(),
        Neighbour::MemoryWriter => last() * TIMES_CACHE,
        Neighbour::FileWriter => BLOCK_BYTES as u64,
    }
}

/// Returns the CPU of each process of a neighbour: busy loops share those of the roles, in turn. The others get a CPU that no role
/// has, if possible one of another core, and otherwise the CPU of the last role. `None` if the scheduler chooses.
fn places(neighbour: Neighbour, roles: Option<&[usize]>, cpus: Option<&AllowedCpus>) -> Vec<Option<usize>> {
    let all = roles.unwrap_or_default();
    let is_first = |(place, number): &(usize, &usize)| !all[..*place].contains(number);
    let roles: Vec<usize> = all.iter().enumerate().filter(is_first).map(|(_, number)| *number).collect();
    if let Neighbour::BusyLoops(loops) = neighbour {
        return (0..usize::from(loops)).map(|loop_| roles.get(loop_ % roles.len().max(1)).copied()).collect();
    }
    if roles.is_empty() {
        return vec![None];
    }
    let free = cpus.and_then(|cpus| cpus.apart_from(&roles));
    vec![free.or_else(|| roles.last().copied())]
}

impl Neighbours {
    /// Starts the processes of a neighbour, and waits until they work.
    pub(super) fn start(
        neighbour: Neighbour,
        roles: Option<&[usize]>,
        session: &Session,
    ) -> io::Result<Neighbours> {
        let buffer_bytes = buffer_bytes(neighbour);
        let mut processes = Vec::new();
        for processor in places(neighbour, roles, session.cpus().ok()) {
            let stderr = io::stderr();
            let (child, mut control) = session.program().start(
                ChildKind::Neighbour,
                Vec::new(),
                stderr.as_handle(),
                Bond::DiesWithParent,
            )?;
            let file = (file_folder(session).to_owned(), format!("{}-0", session.name()));
            control.send(&NeighbourTask { work: neighbour, processor, buffer_bytes, file })?;
            let shares_cpu = !matches!(neighbour, Neighbour::BusyLoops(_))
                && processor.is_some_and(|number| roles.unwrap_or_default().contains(&number));
            let used = NeighbourUse { work: neighbour.to_string(), processor, shares_cpu, cpu_ns: 0 };
            processes.push(NeighbourProcess { child, _control: control, used, activities: Vec::new() });
        }
        let deadline_ns = clock::now_ns() + START_NS;
        for process in &mut processes {
            done::<()>(&mut process._control, deadline_ns)
                .context(|| format!("start the neighbour '{neighbour}'"))?;
        }
        Ok(Neighbours { processes })
    }

    /// Reads the CPU time of all processes.
    pub(super) fn read(&mut self) {
        for process in &mut self.processes {
            let is_alive = process.child.try_wait().is_none();
            process.activities.push(process.child.activity().filter(|_| is_alive));
        }
    }

    /// Returns the use of each process between the first and the last reading. `may_starve` is whether the roles may keep
    /// them from running.
    ///
    /// # Errors
    /// Returns `Disturbed` if a process has died, or got no CPU.
    pub(super) fn used(&self, may_starve: bool) -> Result<Vec<NeighbourUse>, NotMeasured> {
        let used = |process: &NeighbourProcess| {
            let NeighbourUse { work, processor, .. } = &process.used;
            let place = processor.map_or_else(String::new, |processor| format!(" on CPU {processor}"));
            let failure = |what: &str| {
                let detail = format!("the neighbour '{work}'{place} {what}");
                NotMeasured::Disturbed(Failure {
                    phase: Phase::Timed,
                    party: None,
                    fault: Fault::Error,
                    detail,
                })
            };
            let readings: Option<Vec<Activity>> = process.activities.iter().copied().collect();
            let readings = readings.ok_or_else(|| failure("has died"))?;
            let (Some(before), Some(after)) = (readings.first(), readings.last()) else {
                return Err(failure("was not observed"));
            };
            let cpu_ns = after.ran_ns.saturating_sub(before.ran_ns);
            let waits = readings.iter().any(|reading| reading.state == State::WaitsForDevice);
            if cpu_ns == 0 && !waits && !may_starve {
                return Err(failure(
                    "got no CPU in the measured part: use a longer --budget, or fewer loops",
                ));
            }
            Ok(NeighbourUse { cpu_ns, ..process.used.clone() })
        };
        self.processes.iter().map(used).collect()
    }
}

/// Runs a neighbour until it is killed.
pub(crate) fn run(control: &mut Control) -> io::Result<()> {
    let Some(NeighbourTask { work, processor, buffer_bytes, file }) = control.receive()? else {
        return Ok(());
    };
    // Under the real-time policy of a furlong that was started with one, a busy loop would starve the roles.
    role_conditions::apply(&RequestedCondition::Scheduling(Scheduling::Other).into())?;
    let _ = available_memory::be_killed_first();
    processor.map_or(Ok(()), affinity::pin)?;
    match work {
        Neighbour::BusyLoops(_) => {
            control.send(&Report::Done(()))?;
            neighbour_work::spin()
        }
        Neighbour::CacheWriter | Neighbour::MemoryWriter => {
            let mut buffer = neighbour_work::buffer(buffer_bytes as usize);
            control.send(&Report::Done(()))?;
            neighbour_work::rewrite(&mut buffer)
        }
        Neighbour::FileWriter => {
            let file = file_system::unnamed_file(&file.0, &file.1, BLOCK_BYTES)?;
            control.send(&Report::Done(()))?;
            write_to_disk(&File::from(file))
        }
    }
}

/// Writes to a file and waits for the disk, until the disk fails.
fn write_to_disk(mut file: &File) -> io::Result<()> {
    let block = vec![1; BLOCK_BYTES];
    loop {
        file.rewind()?;
        file.write_all(&block)?;
        file.sync_data()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_loops_share_the_cpus_of_the_roles_in_turn() {
        let loops = |number, roles| places(Neighbour::BusyLoops(number), roles, None);
        assert_eq!(loops(3, Some(&[4, 2][..])), [Some(4), Some(2), Some(4)]);
        assert_eq!(loops(2, Some(&[4, 4][..])), [Some(4), Some(4)]);
        assert_eq!(loops(2, None), [None, None]);
    }

    #[test]
    fn other_neighbours_keep_away_from_the_roles_if_they_can() {
        let cpus = AllowedCpus::read().unwrap();
        let places = |neighbour, roles| places(neighbour, roles, Some(&cpus));
        let allowed = cpus.numbers();
        let all = places(Neighbour::CacheWriter, Some(allowed));
        assert_eq!(all, [allowed.last().copied()], "every CPU has a role");
        let first = places(Neighbour::MemoryWriter, Some(&allowed[..1]));
        assert_eq!(first == [Some(allowed[0])], allowed.len() == 1, "{first:?}");
        assert_eq!(places(Neighbour::FileWriter, None), [None]);
    }
}
