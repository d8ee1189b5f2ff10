//! The environment of all trials of a run: a namespace, a directory, names, CPUs, a cleanup process, and requests to end.

use crate::child_process::ChildProgram;
use crate::janitor::Janitor;
use crate::leftovers::{self, Claim, Names, PREFIX};
use crate::persistent::{Entry, PersistentResource};
use crate::placement::AllowedCpus;
use furlong_mechanism::LinkSpecification;
use furlong_model::{Access, RequestedConditions, Unavailable};
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
use std::sync::{Mutex, OnceLock, PoisonError};

/// The program of a run's children, and the places for files.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program of all children: furlong itself.
    pub program: ChildProgram,
    /// The directory of files that back memory; `None` for the run's own directory.
    pub file_folder: Option<PathBuf>,
    /// Whether to record the signals that end a run as requests, which [`Session::shutdown_request`] returns.
    pub handle_signals: bool,
}

/// Moves the process into a new IPC namespace, if it may, and raises the limits there.
///
/// # Errors
/// Returns an error if the process lacks the rights. Trials can still run, under the limits of the machine.
#[cfg(target_os = "linux")]
pub fn enter_private_namespace() -> io::Result<()> {
    namespace::enter_private_ipc()?;
    // A limit that cannot be raised stays; the mechanism's probe reports it.
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

/// Returns the number of the IPC namespace, if the kernel has them.
#[cfg(target_os = "linux")]
pub(crate) fn ipc_namespace() -> Option<u64> {
    namespace::ipc_number()
}

/// Returns `None`, because this system has no namespaces.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ipc_namespace() -> Option<u64> {
    None
}

/// Changes nothing.
///
/// # Errors
/// Returns `Unsupported` always: only Linux has namespaces.
#[cfg(not(target_os = "linux"))]
pub fn enter_private_namespace() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux has namespaces"))
}

/// Directories for the journal of a run if the directory for temporary files cannot be used.
const OTHER_BASES: &[&str] = if cfg!(windows) { &[] } else { &["/tmp", "/var/tmp", "/dev/shm"] };

/// The reason why the directory of a run was not created.
enum DirectoryFailure {
    /// The base directory cannot be used. Another base directory may work.
    Folder(io::Error),
    /// The cleanup process was not started, or a directory with this random name already exists.
    Final(io::Error),
}

/// The directory of a run with its journal, and the cleanup process that will remove it.
struct RunFolder {
    folder: PathBuf,
    names: Names,
    claim: Claim,
    janitor: Janitor,
}

impl RunFolder {
    /// Creates a directory with a new name in `base`.
    fn make(options: &Options, base: &Path) -> Result<RunFolder, DirectoryFailure> {
        let prefix = format!("{PREFIX}{:016x}", identity::random().map_err(DirectoryFailure::Final)?);
        let folder = base.join(&prefix);
        if base.to_str().is_none() {
            let what = format!("the name of the directory {} (set by TMPDIR) is not UTF-8", base.display());
            return Err(DirectoryFailure::Folder(io::Error::new(io::ErrorKind::InvalidInput, what)));
        }
        let names = Names {
            prefix,
            key: leftovers::first_key(identity::random().map_err(DirectoryFailure::Final)?),
            file_folder: options.file_folder.clone().unwrap_or_else(|| folder.clone()),
            ipc_namespace: ipc_namespace(),
            boot: identity::boot(),
        };
        // The cleanup process starts before the directory exists, so that the directory is always removed.
        let janitor = Janitor::start(&options.program, &folder).context(|| "start the cleanup process");
        let janitor = janitor.map_err(DirectoryFailure::Final)?;
        file_system::create_private_folder(&folder)
            .context(|| format!("create the directory {} (set by TMPDIR)", folder.display()))
            .map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => DirectoryFailure::Final(error),
                _ => DirectoryFailure::Folder(error),
            })?;
        let claim = leftovers::claim(&folder, &names).inspect_err(|_| {
            // The cleanup process exits with this call. `furlong doctor` finds the directory if it cannot be removed
            // here.
            let _ = leftovers::remove(&folder, None);
        });
        let claim =
            claim.context(|| format!("write in {}", folder.display())).map_err(DirectoryFailure::Folder)?;
        Ok(RunFolder { folder, names, claim, janitor })
    }
}

/// The session of one run. Dropping it removes everything that the run created.
#[derive(Debug)]
pub struct Session {
    options: Options,
    names: Names,
    folder: PathBuf,
    shutdown_requests: Option<ShutdownRequests>,
    claim: Claim,
    /// The number of links that have a line in the journal and a directory.
    links: Mutex<u32>,
    noted_programs: AtomicBool,
    /// Set once cleanup has been attempted.
    removed: bool,
    folder_fault: Option<String>,
    cpus: OnceLock<Result<AllowedCpus, Unavailable>>,
    _janitor: Janitor,
    /// Removes the directory after the journal is closed: on some systems an open file keeps its name.
    _folder: CleanUp,
}

impl Session {
    /// Creates the directory and starts the cleanup process. Call it while the process has only one thread.
    ///
    /// # Errors
    /// Returns an error if anything cannot be created. Nothing remains then.
    pub fn open(options: Options) -> io::Result<Session> {
        clock::check()?;
        let shutdown_requests = if options.handle_signals { Some(ShutdownRequests::new()?) } else { None };
        let (made, folder_fault) = match RunFolder::make(&options, &leftovers::base_folder()) {
            Ok(made) => (made, None),
            Err(DirectoryFailure::Final(error)) => return Err(error),
            Err(DirectoryFailure::Folder(error)) => {
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
            cpus: OnceLock::new(),
            _janitor: janitor,
            _folder: emptied,
        })
    }

    /// Opens a session for adapters that are asked for their claims before a run. [`release`](Session::release) ends
    /// it.
    ///
    /// # Errors
    /// Returns an error if anything cannot be created.
    pub fn for_hello(program: ChildProgram) -> io::Result<Session> {
        let session = Session::open(Options { program, file_folder: None, handle_signals: true })?;
        session.note_programs()?;
        Ok(session)
    }

    /// Opens a session for a command that connects to another host.
    pub(crate) fn for_peer(program: ChildProgram) -> io::Result<Session> {
        let session = Session::open(Options { program, file_folder: None, handle_signals: true })?;
        session.adopt_orphans();
        session.claim.note(&Entry::PeerCommand)?;
        Ok(session)
    }

    /// Removes everything, and restores the default action of signals: a signal that arrived in between ends this
    /// process.
    ///
    /// # Errors
    /// Returns an error if something cannot be removed.
    pub fn release(mut self) -> io::Result<()> {
        let removed = self.remove();
        self.shutdown_requests.iter().for_each(ShutdownRequests::release);
        removed
    }

    /// Returns whether a signal has requested the end of this process. Keeps the request.
    pub(crate) fn is_to_end(&self) -> bool {
        self.shutdown_handle().is_some_and(is_readable)
    }

    /// Makes this process the parent of orphans, if it is furlong: in any other process the orphans may belong to other
    /// code.
    fn adopt_orphans(&self) {
        #[cfg(target_os = "linux")]
        if self.options.handle_signals {
            // If this fails, processes of this run are found by their environment only.
            let _ = furlong_os::orphans::adopt();
        }
    }

    /// Returns the reason if the directory for temporary files cannot be used. The run's directory is then in another
    /// one, and mechanisms that need the directory for temporary files are refused.
    pub fn folder_fault(&self) -> Option<&str> {
        self.folder_fault.as_deref()
    }

    /// Returns the CPUs for all trials, which are read once.
    ///
    /// # Errors
    /// Returns the reason if the CPUs cannot be read, or if no process can be pinned here.
    pub fn cpus(&self) -> Result<&AllowedCpus, Unavailable> {
        self.cpus.get_or_init(AllowedCpus::read).as_ref().map_err(Clone::clone)
    }

    /// Returns the program of all children.
    pub fn program(&self) -> &ChildProgram {
        &self.options.program
    }

    /// Returns the specification of a link for messages of up to these sizes, the initiator's first. Links that exist
    /// at the same time have different numbers, from 0, and so different names.
    ///
    /// # Errors
    /// Returns an error if the names cannot be written into the journal.
    pub fn specification(
        &self,
        link: u32,
        sizes_bytes: [usize; 2],
        blocking: bool,
    ) -> io::Result<LinkSpecification> {
        let names = self.names.link_names(&self.folder, link);
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let mut folder_fault = self.folder_fault.clone();
        while link >= *links {
            let folder = self.names.link_names(&self.folder, *links).folder;
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
            conditions: RequestedConditions::default(),
            blocking,
            folder: names.folder,
            file_folder: self.names.file_folder.clone(),
            folder_fault,
        })
    }

    /// Returns the unique name of the run.
    pub(crate) fn name(&self) -> &str {
        &self.names.prefix
    }

    /// Records in the journal that programs are about to be started that may start other programs.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub(crate) fn note_programs(&self) -> io::Result<()> {
        if self.noted_programs.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        self.adopt_orphans();
        self.claim.note(&Entry::Programs)
    }

    /// Returns the run's own directory, which is removed with the run.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the directory for files that the user has chosen, if any.
    pub(crate) fn file_folder(&self) -> Option<&Path> {
        self.options.file_folder.as_deref()
    }

    /// Records a resource that is about to be created and would outlive every process. Dropping the returned guard
    /// removes the resource. If this process dies first, the cleanup process removes it.
    pub(crate) fn making(&self, persistent: PersistentResource) -> io::Result<CleanupGuard<'_>> {
        self.claim.note(&Entry::Making(persistent.clone()))?;
        Ok(CleanupGuard { session: self, persistent: Some(persistent) })
    }

    /// Returns a handle that becomes readable when the run is requested to end.
    pub(crate) fn shutdown_handle(&self) -> Option<BorrowedHandle<'_>> {
        self.shutdown_requests.as_ref().map(AsHandle::as_handle)
    }

    /// Returns the signal that has requested the end of the run, if any.
    pub fn shutdown_request(&self) -> Option<i32> {
        self.shutdown_requests.as_ref()?.take()
    }
}

impl Session {
    /// Removes everything that the run has created. Dropping the session does so without reporting errors.
    ///
    /// # Errors
    /// Returns an error if something cannot be removed at the second attempt either. `furlong doctor` lists it.
    pub fn close(mut self) -> io::Result<()> {
        self.remove()
    }

    /// Removes everything that the run has created. The journal goes last, with the directory, because `furlong doctor`
    /// reads from it the names of the remaining objects. Afterwards the cleanup process has nothing to do.
    fn remove(&mut self) -> io::Result<()> {
        let remove = |_| leftovers::remove(&self.folder, Some(&self.names));
        let removed = if self.removed { Ok(()) } else { remove(()).or_else(|_| remove(())) };
        self.removed = true;
        // The journal is open here. Windows keeps its name until it is closed, so the directory is removed later.
        let removed = removed.or_else(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty if cfg!(windows) => Ok(()),
            _ => Err(error),
        });
        removed.context(|| format!("remove the run's directory {}", self.folder.display()))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Callers that need the error call `close`.
        let _ = self.remove();
    }
}

/// A guard of a resource that outlives every process unless it is removed.
#[derive(Debug)]
pub(crate) struct CleanupGuard<'a> {
    session: &'a Session,
    /// `None` once the resource is struck off.
    persistent: Option<PersistentResource>,
}

impl CleanupGuard<'_> {
    /// Strikes the resource off without removing it: it was not created, or another line of the journal records it.
    pub(crate) fn strike_off(mut self) {
        self.note_gone();
    }

    fn note_gone(&mut self) {
        if let Some(persistent) = self.persistent.take() {
            // A stale journal entry is harmless: cleanup finds nothing, or an object that is not ours.
            let _ = self.session.claim.note(&Entry::Gone(persistent));
        }
    }
}

impl Drop for CleanupGuard<'_> {
    fn drop(&mut self) {
        // If the removal fails, the end of the session tries it again, and then `furlong doctor` lists the resource.
        if self.persistent.as_ref().is_some_and(|persistent| persistent.remove().is_ok()) {
            self.note_gone();
        }
    }
}
