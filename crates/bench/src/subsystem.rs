//! Programs of a subsystem of their own, which Windows alone has: two small ones that lie beside furlong's and do what its
//! children do.

use crate::child_process::ChildProgram;
use crate::leftovers::COPIES;
use crate::session::Session;
use furlong_model::{ChildStart, Subsystem, Unavailable};
use furlong_os::cleanup::CleanUp;
use furlong_os::{Context, file_system, identity};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The program of this subsystem.
///
/// # Errors
/// Why there is none.
pub(crate) fn program(subsystem: Subsystem) -> Result<ChildProgram, Unavailable> {
    if !cfg!(windows) {
        return Err(Unavailable::new("only Windows has subsystems", "ask for it on Windows"));
    }
    let name = format!("furlong-child-{subsystem}.exe");
    let beside = ChildProgram::own().map(|own| own.path.with_file_name(&name));
    match beside {
        Ok(path) if path.is_file() => Ok(ChildProgram::at(path)),
        _ => Err(Unavailable::new(
            format!("{name} does not lie beside furlong.exe"),
            "build it: cargo build --release --package furlong-subsystems",
        )),
    }
}

/// The program of this subsystem as it is to be started: with the console that is asked for, and where it is to be a fresh
/// copy, under a name that nobody has started before, with what removes the copy once its process has ended.
///
/// # Errors
/// That there is none, or that it cannot be copied.
pub(crate) fn to_start(
    subsystem: Subsystem,
    child: ChildStart,
    session: &Session,
) -> io::Result<(ChildProgram, Option<CleanUp>)> {
    let ChildProgram { mut path, arguments, .. } =
        program(subsystem).map_err(|why| io::Error::other(why.reason))?;
    let mut removes = None;
    if child.fresh_copy {
        path = copy(&path, session.folder())?;
        let copied = path.clone();
        removes = Some(CleanUp::new(move || remove(&copied)));
    }
    Ok((ChildProgram { arguments, console: child.console, ..ChildProgram::at(path) }, removes))
}

/// A copy of the program at `path` in the run's folder.
fn copy(path: &Path, folder: &Path) -> io::Result<PathBuf> {
    let copies = folder.join(COPIES);
    if !copies.is_dir() {
        file_system::create_private_folder(&copies).context(|| format!("make {}", copies.display()))?;
    }
    let copy = copies.join(format!("child-{:016x}.exe", identity::random()?));
    fs::copy(path, &copy).context(|| format!("copy {} to {}", path.display(), copy.display()))?;
    Ok(copy)
}

/// Removes a program that was started: Windows lets go of its file a moment after its process has ended.
fn remove(program: &Path) -> io::Result<()> {
    const ATTEMPTS: u32 = 100;
    const PAUSE: Duration = Duration::from_millis(10);
    for _ in 0..ATTEMPTS {
        match fs::remove_file(program) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(PAUSE),
            // What was marked to be removed is there until the last who uses it is gone.
            _ if program.exists() => thread::sleep(PAUSE),
            _ => return Ok(()),
        }
    }
    fs::remove_file(program)
}
