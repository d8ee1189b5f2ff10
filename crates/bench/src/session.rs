//! What surrounds all trials of a run: a namespace, a folder, names, a janitor, and a way to be asked to end.

use crate::child_process::ChildProgram;
use crate::janitor::Janitor;
use crate::leftovers::{self, Claim, Names, PREFIX};
use crate::persistent::{Entry, PersistentResource};
use furlong_mechanism::LinkSpecification;
use furlong_model::Access;
use furlong_os::cleanup::CleanUp;
#[cfg(target_os = "linux")]
use furlong_os::linux::limits::{Resource, set_sysctl, sysctl_number, try_lift};
#[cfg(target_os = "linux")]
use furlong_os::linux::namespace;
use furlong_os::shutdown::ShutdownRequests;
use furlong_os::wait::is_readable;
use furlong_os::{AsHandle, BorrowedHandle, Context, clock, file_system, identity};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Where the processes of a run come from, and where it may put things.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program of all children: furlong itself.
    pub program: ChildProgram,
    /// Where memory backed by a file has its file; `None` for the run's own folder.
    pub file_folder: Option<PathBuf>,
    /// Whether to take the signals that end a run as requests, to be asked for with [`Session::shutdown_request`].
    pub handle_signals: bool,
}

/// Moves the process into an IPC namespace of its own, if it may, and raises the limits there.
///
/// # Errors
/// Why it may not. Trials run all the same, under the limits of the machine.
#[cfg(target_os = "linux")]
pub fn enter_private_namespace() -> io::Result<()> {
    namespace::enter_private_ipc()?;
    // What cannot be raised stays, and the mechanism's probe will say so.
    const WANTED: [(&str, usize); 4] = [
        ("fs.mqueue.msgsize_max", 16 << 20),
        ("fs.mqueue.queues_max", 1024),
        ("kernel.msgmax", 64 << 20),
        ("kernel.msgmnb", 64 << 20),
    ];
    for (name, value) in WANTED {
        if sysctl_number(name).is_some_and(|current| current < value) {
            let _ = set_sysctl(name, &value.to_string());
        }
    }
    try_lift(Resource::MessageQueueBytes, 64 << 20);
    Ok(())
}

/// The number of the IPC namespace, where there are such.
#[cfg(target_os = "linux")]
pub(crate) fn ipc_namespace() -> Option<u64> {
    namespace::ipc_number()
}

/// The same where there are none.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ipc_namespace() -> Option<u64> {
    None
}

/// Stays where it is.
///
/// # Errors
/// Always: only Linux has namespaces.
#[cfg(not(target_os = "linux"))]
pub fn enter_private_namespace() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux has namespaces"))
}

/// Directories for the journal of a run if the directory for temporary files cannot be used.
const OTHER_BASES: &[&str] = if cfg!(windows) { &[] } else { &["/tmp", "/var/tmp", "/dev/shm"] };

/// Reason why the directory of a run was not created.
enum Unmade {
    /// The base directory cannot be used. Another base directory may work.
    Folder(io::Error),
    /// The janitor was not started, or a directory with this random name already exists.
    Final(io::Error),
}

/// The directory of a run with its journal, and the janitor that will remove it.
struct RunFolder {
    folder: PathBuf,
    names: Names,
    claim: Claim,
    janitor: Janitor,
}

impl RunFolder {
    /// Creates a directory with a new name in `base`.
    fn make(options: &Options, base: &Path) -> Result<RunFolder, Unmade> {
        let prefix = format!("{PREFIX}{:016x}", identity::random().map_err(Unmade::Final)?);
        let folder = base.join(&prefix);
        if base.to_str().is_none() {
            let what = format!("the name of the directory {} (set by TMPDIR) is not UTF-8", base.display());
            return Err(Unmade::Folder(io::Error::new(io::ErrorKind::InvalidInput, what)));
        }
        let names = Names {
            prefix,
            key: leftovers::first_key(identity::random().map_err(Unmade::Final)?),
            file_folder: options.file_folder.clone().unwrap_or_else(|| folder.clone()),
            ipc_namespace: ipc_namespace(),
            boot: identity::boot(),
        };
        // The janitor starts before the directory exists, so that the directory is always removed.
        let janitor = Janitor::start(&options.program, &folder).context(|| "start the janitor");
        let janitor = janitor.map_err(Unmade::Final)?;
        file_system::create_private_folder(&folder)
            .context(|| format!("create the directory {} (set by TMPDIR)", folder.display()))
            .map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => Unmade::Final(error),
                _ => Unmade::Folder(error),
            })?;
        let claim = leftovers::claim(&folder, &names).inspect_err(|_| {
            // The janitor exits with this call. `furlong doctor` finds the directory if it cannot be removed here.
            let _ = leftovers::remove(&folder, None);
        });
        let claim = claim.context(|| format!("write in {}", folder.display())).map_err(Unmade::Folder)?;
        Ok(RunFolder { folder, names, claim, janitor })
    }
}

/// The surroundings of one run. Dropping it removes everything it made.
#[derive(Debug)]
pub struct Session {
    options: Options,
    names: Names,
    folder: PathBuf,
    shutdown_requests: Option<ShutdownRequests>,
    claim: Claim,
    /// Links for which there is a line in the journal, and a folder.
    links: Mutex<u32>,
    noted_programs: AtomicBool,
    /// Whether it was tried to remove everything.
    removed: bool,
    folder_fault: Option<String>,
    _janitor: Janitor,
    /// Where a file that is open keeps its name until it is closed, the folder goes after the journal is.
    _folder: CleanUp,
}

impl Session {
    /// Makes folder and janitor. Call it while the process has one thread.
    ///
    /// # Errors
    /// What could not be made. Nothing is left then.
    pub fn open(options: Options) -> io::Result<Session> {
        clock::check()?;
        let shutdown_requests = if options.handle_signals { Some(ShutdownRequests::new()?) } else { None };
        let (made, folder_fault) = match RunFolder::make(&options, &leftovers::base_folder()) {
            Ok(made) => (made, None),
            Err(Unmade::Final(error)) => return Err(error),
            Err(Unmade::Folder(error)) => {
                let other = OTHER_BASES.iter().find_map(|base| RunFolder::make(&options, base.as_ref()).ok());
                let Some(made) = other else { return Err(error) };
                (made, Some(error.to_string()))
            }
        };
        let RunFolder { folder, names, claim, janitor } = made;
        let links = Mutex::new(0);
        let emptied = folder.clone();
        let emptied = CleanUp::new(move || std::fs::remove_dir(emptied));
        Ok(Session {
            options,
            names,
            folder,
            shutdown_requests,
            claim,
            links,
            noted_programs: AtomicBool::new(false),
            removed: false,
            folder_fault,
            _janitor: janitor,
            _folder: emptied,
        })
    }

    /// Opens the surroundings of adapters that are asked what they claim before a run. [`release`](Session::release) ends them.
    ///
    /// # Errors
    /// Returns what could not be made.
    pub fn for_hello(program: ChildProgram) -> io::Result<Session> {
        let session = Session::open(Options { program, file_folder: None, handle_signals: true })?;
        session.note_programs()?;
        Ok(session)
    }

    /// Opens the surroundings of a command that reaches another host.
    pub(crate) fn for_peer(program: ChildProgram) -> io::Result<Session> {
        let session = Session::open(Options { program, file_folder: None, handle_signals: true })?;
        session.adopt_orphans();
        session.claim.note(&Entry::PeerCommand)?;
        Ok(session)
    }

    /// Removes everything, and lets signals act again: one that has come meanwhile ends this process.
    ///
    /// # Errors
    /// Returns what could not be removed.
    pub fn release(mut self) -> io::Result<()> {
        let removed = self.remove();
        self.shutdown_requests.iter().for_each(ShutdownRequests::release);
        removed
    }

    /// Returns whether a signal asks this process to end. The request is not taken.
    pub(crate) fn is_to_end(&self) -> bool {
        self.shutdown_handle().is_some_and(is_readable)
    }

    /// Makes this process the parent of orphans, if it is furlong's own: in another one they may be those of other code.
    fn adopt_orphans(&self) {
        #[cfg(target_os = "linux")]
        if self.options.handle_signals {
            // Without it, processes of this run are found by their environment alone.
            let _ = furlong_os::orphans::adopt();
        }
    }

    /// Returns the reason if the directory for temporary files cannot be used. The run's directory is then in another one, and mechanisms
    /// that need the directory for temporary files are refused.
    pub fn folder_fault(&self) -> Option<&str> {
        self.folder_fault.as_deref()
    }

    /// The program of all children.
    pub fn program(&self) -> &ChildProgram {
        &self.options.program
    }

    /// What a link of this run is to be, for messages of up to these sizes, the initiator's first. Links that are there
    /// at the same time have different numbers, from 0, and by them different names.
    ///
    /// # Errors
    /// If the names could not be written down.
    pub fn specification(
        &self,
        link: u32,
        sizes_bytes: [usize; 2],
        blocking: bool,
    ) -> io::Result<LinkSpecification> {
        let names = self.names.of_link(&self.folder, link);
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let mut folder_fault = self.folder_fault.clone();
        while link >= *links {
            let folder = self.names.of_link(&self.folder, *links).folder;
            self.claim.note(&Entry::Links(*links + 1))?;
            let made = file_system::create_private_folder(&folder)
                .context(|| format!("create the directory {}", folder.display()));
            if let Err(error) = made {
                // The next trial tries again. Until then, only mechanisms that need the directory are refused.
                folder_fault = Some(error.to_string());
                break;
            }
            *links += 1;
        }
        Ok(LinkSpecification {
            name: names.name,
            key: names.key,
            sizes_bytes,
            depth: 1,
            receivers: 1,
            buffer_bytes: None,
            access: Access::Copy,
            blocking,
            folder: names.folder,
            file_folder: self.names.file_folder.clone(),
            folder_fault,
        })
    }

    /// The run's name, which nobody else has.
    pub(crate) fn name(&self) -> &str {
        &self.names.prefix
    }

    /// Writes down that programs are about to be started that may start others in their turn.
    ///
    /// # Errors
    /// If that could not be written down.
    pub(crate) fn note_programs(&self) -> io::Result<()> {
        if self.noted_programs.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.adopt_orphans();
        self.claim.note(&Entry::Programs)
    }

    /// The run's own folder, which goes with it.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the user wants files to be, if anywhere.
    pub(crate) fn file_folder(&self) -> Option<&Path> {
        self.options.file_folder.as_deref()
    }

    /// Writes down what is about to be made and would outlive every process. It is removed when what this gives is
    /// dropped, and if this process does not come to that, by the janitor.
    pub(crate) fn making(&self, persistent: PersistentResource) -> io::Result<CleanupGuard<'_>> {
        self.claim.note(&Entry::Making(persistent.clone()))?;
        Ok(CleanupGuard { session: self, persistent: Some(persistent) })
    }

    /// Readable when somebody wants the run to end.
    pub(crate) fn shutdown_handle(&self) -> Option<BorrowedHandle<'_>> {
        self.shutdown_requests.as_ref().map(AsHandle::as_handle)
    }

    /// The signal by which somebody wants the run to end, if there is one.
    pub fn shutdown_request(&self) -> Option<i32> {
        self.shutdown_requests.as_ref()?.take()
    }
}

impl Session {
    /// Removes everything that the run has made; dropping it does the same without a word.
    ///
    /// # Errors
    /// What could not be removed, at the second attempt either. `furlong doctor` names it.
    pub fn close(mut self) -> io::Result<()> {
        self.remove()
    }

    /// What cannot be removed here is named by the next `furlong doctor`, which reads the journal; so it goes last, with
    /// the folder. The janitor has nothing left to do.
    fn remove(&mut self) -> io::Result<()> {
        let remove = |_| leftovers::remove(&self.folder, Some(&self.names));
        let removed = if self.removed { Ok(()) } else { remove(()).or_else(|_| remove(())) };
        self.removed = true;
        // Windows keeps the name of the journal, which is open here, until it is closed: the folder goes after it.
        let removed = removed.or_else(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty if cfg!(windows) => Ok(()),
            _ => Err(error),
        });
        removed.context(|| format!("remove the run's folder {}", self.folder.display()))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Who wants to know closes it.
        let _ = self.remove();
    }
}

/// Something that outlives every process, unless it is removed.
#[derive(Debug)]
pub(crate) struct CleanupGuard<'a> {
    session: &'a Session,
    /// `None` once it is struck off.
    persistent: Option<PersistentResource>,
}

impl CleanupGuard<'_> {
    /// Strikes it off without removing anything: it was not made, or another line of the journal stands for it.
    pub(crate) fn strike_off(mut self) {
        self.note_gone();
    }

    fn note_gone(&mut self) {
        if let Some(persistent) = self.persistent.take() {
            // What is not struck off is looked for in vain, or not taken for ours.
            let _ = self.session.claim.note(&Entry::Gone(persistent));
        }
    }
}

impl Drop for CleanupGuard<'_> {
    fn drop(&mut self) {
        // What is not struck off is tried once more when the session ends, and then named by `furlong doctor`.
        if self.persistent.as_ref().is_some_and(|persistent| persistent.remove().is_ok()) {
            self.note_gone();
        }
    }
}
