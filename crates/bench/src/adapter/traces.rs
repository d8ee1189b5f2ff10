//! What programs leave behind: processes of theirs, files, and objects with the link's name.

use furlong_mechanism::LinkSpecification;
use furlong_os::linux::signal;
use furlong_os::process::send_signal;
use furlong_os::{orphans, other_process};
use furlong_stats::distinct;
use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// In the environment of every program, and by that of all that they start: which run they belong to.
pub(crate) const RUN_VARIABLE: &str = "FURLONG_RUN";

/// Kills every process that programs of this run have started and that still lives, and gives their names.
///
/// # Errors
/// Where one may not be killed, or does not end.
pub(crate) fn kill_processes(run: &str) -> io::Result<Vec<String>> {
    kill_all(|| processes_of(run))
}

/// Kills every process with this run in its environment, and no other one: programs of other rows may run at this time.
///
/// # Errors
/// Returns an error if a process may not be killed, or does not end.
pub(super) fn kill_named_processes(run: &str) -> io::Result<Vec<String>> {
    kill_all(|| named_processes(run))
}

fn kill_all(find: impl Fn() -> Vec<i32>) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    // One that is killed may have started another in between.
    let ended = within(TIMEOUT, || {
        let found = find();
        for pid in &found {
            let name = format!("process {pid} ({})", other_process::name(*pid));
            if !names.contains(&name) {
                names.push(name);
            }
            other_process::kill(*pid)?;
        }
        Ok(found.is_empty())
    })?;
    if ended { Ok(names) } else { Err(io::Error::other(format!("{} cannot be ended", names.join(", ")))) }
}

/// The same, for processes that were asked to end and have a moment to do so.
///
/// # Errors
/// As above.
pub(crate) fn remaining_processes(run: &str) -> io::Result<Vec<String>> {
    if within(MOMENT, || Ok(processes_of(run).is_empty()))? { Ok(Vec::new()) } else { kill_processes(run) }
}

/// Ends the command of this run that reaches another host, and its descendants. The other side may be on this host and removes its
/// directory, so it is asked first.
///
/// # Errors
/// Returns an error if a process may not be killed, or does not end.
pub(crate) fn end_processes(run: &str) -> io::Result<()> {
    let have_ended = || Ok(processes_of(run).is_empty());
    if within(MOMENT, have_ended)? {
        return Ok(());
    }
    for pid in processes_of(run) {
        // A process that has exited needs no signal, and one that is stopped acts on none before it goes on.
        let _ = send_signal(pid, signal::TERMINATE);
        let _ = send_signal(pid, signal::CONTINUE);
    }
    if within(LONGER, have_ended)? { Ok(()) } else { kill_processes(run).map(drop) }
}

/// How long processes that are killed may take to end.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How long those may take that end by themselves.
const MOMENT: Duration = Duration::from_millis(500);

/// How long those may take that are asked to.
const LONGER: Duration = Duration::from_secs(2);

/// The processes that programs of this run have started: those with the run in their environment, and those that this process
/// has adopted, which may have another environment.
fn processes_of(run: &str) -> Vec<i32> {
    let mut found = named_processes(run);
    found.extend(orphans::adopted());
    distinct(found)
}

/// The processes with this run in their environment; not this one, which a program may have started too.
fn named_processes(run: &str) -> Vec<i32> {
    let found = other_process::find_by_variable(&format!("{RUN_VARIABLE}={run}"));
    found.into_iter().filter(|pid| *pid != std::process::id() as i32).collect()
}

/// Whether it is so within this time; asks every millisecond.
fn within(time: Duration, mut is_so: impl FnMut() -> io::Result<bool>) -> io::Result<bool> {
    let begin = Instant::now();
    loop {
        if is_so()? {
            return Ok(true);
        }
        if begin.elapsed() >= time {
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Removes all files and named objects of a link that are still there, and gives their names.
pub(super) fn remove_files(specification: &LinkSpecification) -> Vec<String> {
    let in_folder = remove_from(&specification.folder, |_| true);
    in_folder.into_iter().chain(remove_named(&specification.name)).collect()
}

/// Removes everything in memory whose name begins like this, and gives the names: shared memory, semaphores and queues.
pub(crate) fn remove_named(prefix: &str) -> Vec<String> {
    let is_ours = |name: &str| name.trim_start_matches("sem.").starts_with(prefix);
    ["/dev/shm", "/dev/mqueue"].iter().flat_map(|folder| remove_from(Path::new(folder), is_ours)).collect()
}

/// Removes these entries of a folder, and gives their names.
fn remove_from(folder: &Path, is_ours: impl Fn(&str) -> bool) -> Vec<String> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(&is_ours) {
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let gone = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            if gone.is_ok() {
                removed.push(path.display().to_string());
            }
        }
    }
    removed
}
