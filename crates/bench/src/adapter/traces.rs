//! The remains of programs: processes, files, and objects with the name of the link.

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

/// The environment variable that names the run. Every program has it, and so have all processes that they start.
pub(crate) const RUN_VARIABLE: &str = "FURLONG_RUN";

/// Kills all live processes that programs of this run have started, and returns their names.
///
/// # Errors
/// Returns an error if a process may not be killed, or does not end.
pub(crate) fn kill_processes(run: &str) -> io::Result<Vec<String>> {
    kill_all(|| processes_of(run))
}

/// Kills all processes that have this run in their environment, and no others: programs of other rows may run at this
/// time.
///
/// # Errors
/// Returns an error if a process may not be killed, or does not end.
pub(super) fn kill_named_processes(run: &str) -> io::Result<Vec<String>> {
    kill_all(|| named_processes(run))
}

fn kill_all(find: impl Fn() -> Vec<i32>) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    // A killed process may have started another one in between.
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
    if ended { Ok(names) } else { Err(io::Error::other(format!("cannot kill {}", names.join(", ")))) }
}

/// Waits a moment for processes that were asked to end, kills those that remain, and returns their names.
///
/// # Errors
/// Returns an error if a process may not be killed, or does not end.
pub(crate) fn remaining_processes(run: &str) -> io::Result<Vec<String>> {
    if within(MOMENT, || Ok(processes_of(run).is_empty()))? { Ok(Vec::new()) } else { kill_processes(run) }
}

/// Ends the command of this run that connects to another host, and its descendants. The agent may be on this host and
/// removes its directory, so it is asked first.
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

/// The time that killed processes may take to end.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The time that processes may take to end without a signal.
const MOMENT: Duration = Duration::from_millis(500);

/// The time that processes may take to end after a signal.
const LONGER: Duration = Duration::from_secs(2);

/// Returns the processes that programs of this run have started. They have the run in their environment, or this
/// process has adopted them: adopted processes may have another environment.
fn processes_of(run: &str) -> Vec<i32> {
    let mut found = named_processes(run);
    found.extend(orphans::adopted());
    distinct(found)
}

/// Returns the processes with this run in their environment, except this one, which a program may have started too.
fn named_processes(run: &str) -> Vec<i32> {
    let found = other_process::find_by_variable(&format!("{RUN_VARIABLE}={run}"));
    found.into_iter().filter(|pid| *pid != std::process::id() as i32).collect()
}

/// Returns whether the condition becomes true within this time. Checks it every millisecond.
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

/// Removes all remaining files and named objects of a link, and returns their names.
pub(super) fn remove_files(specification: &LinkSpecification) -> Vec<String> {
    let in_folder = remove_from(&specification.folder, |_| true);
    in_folder.into_iter().chain(remove_named(&specification.name)).collect()
}

/// Removes all shared memory, semaphores and queues whose names have this prefix, and returns their names.
pub(crate) fn remove_named(prefix: &str) -> Vec<String> {
    let is_ours = |name: &str| name.trim_start_matches("sem.").starts_with(prefix);
    ["/dev/shm", "/dev/mqueue"].iter().flat_map(|folder| remove_from(Path::new(folder), is_ours)).collect()
}

/// Removes matching entries of a directory, and returns their paths.
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
