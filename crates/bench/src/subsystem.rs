//! The programs of other subsystems, which only Windows has. They are two small programs next to furlong's, and do the
//! work of its children.

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

/// Returns the program of this subsystem.
///
/// # Errors
/// Returns the reason if it does not exist.
pub(crate) fn program(subsystem: Subsystem) -> Result<ChildProgram, Unavailable> {
    if !cfg!(windows) {
        return Err(Unavailable::new("only Windows has subsystems", "ask for it on Windows"));
    }
    let name = format!("furlong-child-{subsystem}.exe");
    let beside = ChildProgram::own().map(|own| own.path.with_file_name(&name));
    match beside {
        Ok(path) if path.is_file() => Ok(ChildProgram::at(path)),
        _ => Err(Unavailable::new(
            format!("{name} is not in the directory of furlong.exe"),
            "build it: cargo build --release --package furlong-subsystems",
        )),
    }
}

/// Returns the program of this subsystem, ready to start, with the requested console. If a fresh copy is requested, the
/// program is a copy with a new name. The returned guard removes the copy once its process has ended.
///
/// # Errors
/// Returns an error if the program does not exist, or cannot be copied.
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

/// Copies the program at `path` into the run's directory.
fn copy(path: &Path, folder: &Path) -> io::Result<PathBuf> {
    let copies = folder.join(COPIES);
    if !copies.is_dir() {
        file_system::create_private_folder(&copies).context(|| format!("make {}", copies.display()))?;
    }
    let copy = copies.join(format!("child-{:016x}.exe", identity::random()?));
    fs::copy(path, &copy).context(|| format!("copy {} to {}", path.display(), copy.display()))?;
    Ok(copy)
}

/// Removes a program that was started. Windows releases its file a moment after its process has ended.
fn remove(program: &Path) -> io::Result<()> {
    const ATTEMPTS: u32 = 100;
    const PAUSE: Duration = Duration::from_millis(10);
    for _ in 0..ATTEMPTS {
        match fs::remove_file(program) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(PAUSE),
            // A file that is marked for removal exists until its last user has closed it.
            _ if program.exists() => thread::sleep(PAUSE),
            _ => return Ok(()),
        }
    }
    fs::remove_file(program)
}
