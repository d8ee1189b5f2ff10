//! What surrounds all trials of a run: a namespace, a folder, names, a janitor, and ears for signals.

use crate::leftovers::{self, Claim, Names, PREFIX};
use crate::persistent::{Entry, PersistentResource};
use furlong_mechanism::LinkSpecification;
use furlong_os::linux::limits::{Resource, set_sysctl, sysctl_number, try_lift};
use furlong_os::linux::namespace;
use furlong_os::process::{Bond, Child, fork};
use furlong_os::shutdown::ShutdownRequests;
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, BorrowedHandle, Context, Handle, file_system, identity, pipe};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where the processes of a run come from, and where it may put things.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program that plays roles: furlong itself.
    pub program: PathBuf,
    /// Where memory backed by a file has its file; `None` for the run's own folder.
    pub file_folder: Option<PathBuf>,
    /// Whether to take the signals that end a run as wishes, to be asked for with [`Session::wish`].
    pub hear_signals: bool,
}

/// Moves the process into an IPC namespace of its own, if it may, and raises the limits there.
///
/// # Errors
/// Why it may not. Trials run all the same, under the limits of the machine.
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

/// The surroundings of one run. Dropping it removes everything it made.
#[derive(Debug)]
pub struct Session {
    options: Options,
    names: Names,
    folder: PathBuf,
    shutdown_requests: Option<ShutdownRequests>,
    claim: Claim,
    /// Open as long as this process lives; the janitor waits for its end.
    _lifeline: Handle,
    /// Ended when this is dropped, whatever it does then: even one that was stopped holds nothing up.
    _janitor: Child,
}

impl Session {
    /// Makes folder and janitor. Call it while the process has one thread.
    ///
    /// # Errors
    /// What could not be made. Nothing is left then.
    pub fn open(options: Options) -> io::Result<Session> {
        let name = format!("{PREFIX}{:016x}", identity::random()?);
        let folder = leftovers::base_folder().join(&name);
        let file_folder = options.file_folder.clone().unwrap_or_else(|| folder.clone());
        let shutdown_requests = if options.hear_signals { Some(ShutdownRequests::new()?) } else { None };
        let null: Handle = fs::OpenOptions::new().write(true).open("/dev/null")?.into();
        // The janitor comes before the folder: from its first moment somebody will remove it.
        let (watched, lifeline) = pipe::pipe().context(|| "make the lifeline")?;
        let janitor = start_janitor(&watched, &folder, null.as_handle()).context(|| "start the janitor")?;
        file_system::create_private_folder(&folder)
            .context(|| format!("make the folder {} (TMPDIR chooses where)", folder.display()))?;
        let key = (identity::random()? as i32 & 0x7fff_fffe).max(2);
        let names =
            Names { name, key, file_folder, ipc_namespace: namespace::ipc_number(), boot: identity::boot() };
        let claim = leftovers::claim(&folder, &names).inspect_err(|_| {
            // The janitor ends with this call; what cannot be removed either is for `furlong doctor`.
            let _ = leftovers::remove(&folder, None);
        });
        let claim = claim.context(|| format!("write in {}", folder.display()))?;
        Ok(Session {
            options,
            names,
            folder,
            shutdown_requests,
            claim,
            _lifeline: lifeline,
            _janitor: janitor,
        })
    }

    /// The program that plays roles.
    pub fn program(&self) -> &Path {
        &self.options.program
    }

    /// What a link of this run is to be, for messages of up to these sizes, the initiator's first.
    pub fn specification(&self, sizes_bytes: [usize; 2], blocking: bool) -> LinkSpecification {
        LinkSpecification {
            name: self.names.name.clone(),
            key: self.names.key,
            sizes_bytes,
            depth: 1,
            buffer_bytes: None,
            blocking,
            folder: self.folder.clone(),
            file_folder: self.names.file_folder.clone(),
        }
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

impl Drop for Session {
    fn drop(&mut self) {
        // What cannot be removed here is named by the next `furlong doctor`, which reads the journal; so it
        // goes last, with the folder. The janitor has nothing left to do.
        let _ = leftovers::remove(&self.folder, Some(&self.names));
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

/// A process of its own session that outlives this one by a moment: once the lifeline ends it removes what is
/// left of the run.
fn start_janitor(watched: &Handle, folder: &Path, stderr: BorrowedHandle<'_>) -> io::Result<Child> {
    let number = watched.raw_handle();
    fork(&[number], stderr, Bond::Outlives, || {
        // Nothing is ever written: this returns at the end of the lifeline.
        let _ = wait_any(&[watched.as_handle()], u64::MAX);
        i32::from(leftovers::remove_run(folder).is_err())
    })
}
