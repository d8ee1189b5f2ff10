//! The objects that a killed run can leave behind, and how they are found and removed.
//!
//! A run has one directory. Before the run creates anything else, it writes a journal there, with the names of all
//! objects that it may create, and locks it. The lock ends with the run. So if the journal can be locked, the run is
//! dead, and the directory is a leftover. The first line of the journal has the names. Each further line is an
//! `Entry`, for example of a resource that outlives processes; it is written before the resource is created.

#[cfg(target_os = "linux")]
use crate::adapter::{end_processes, kill_processes, remove_named};
pub use crate::persistent::PREFIX;
use crate::persistent::{self, Entry, PersistentResource};
#[cfg(target_os = "linux")]
use furlong_mechanism::DIRECTIONS;
#[cfg(target_os = "linux")]
use furlong_os::linux::{namespace, posix_queue, segment, sysv_queue, sysv_semaphore};
use furlong_os::{Context, file_system, identity};
use furlong_stats::sort_by;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The file in a run's directory that lists all other objects.
const JOURNAL: &str = "journal";

/// The common parts of all names that a run may use outside its directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// The prefix of shared memory, POSIX queues and files: the number of a link follows.
    pub prefix: String,
    /// The first System V key; each link has two.
    pub key: i32,
    /// The directory of files that back memory.
    pub file_folder: PathBuf,
    /// The IPC namespace in which queues and semaphores were created.
    pub ipc_namespace: Option<u64>,
    /// The boot of the machine during which the run took place.
    #[serde(default)]
    pub boot: Option<String>,
}

/// The names of one link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkNames {
    /// The name of shared memory, POSIX queues and files.
    pub(crate) name: String,
    /// The key of System V objects; the next key is used as well.
    pub(crate) key: i32,
    /// The directory of sockets and FIFOs.
    pub(crate) folder: PathBuf,
}

impl Names {
    /// Returns the names of the link with this number, in a run whose directory is `folder`.
    pub(crate) fn link_names(&self, folder: &Path, link: u32) -> LinkNames {
        LinkNames {
            name: format!("{}-{link}", self.prefix),
            key: self.key.wrapping_add(2 * link as i32),
            folder: folder.join(link.to_string()),
        }
    }
}

/// Returns a System V key from a random number, with enough keys after it for [`MOST_LINKS`].
pub(crate) fn first_key(random: u64) -> i32 {
    (random as i32 & 0x3fff_fffe).max(2)
}

/// The largest number of links that is accepted from a journal.
const MOST_LINKS: u32 = 1 << 16;

/// The number of bytes of a journal that are read: a run writes some hundred bytes for each trial that needs a device.
const LONGEST: u64 = 16 << 20;

/// The remains of a dead run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The directory of the run.
    pub folder: PathBuf,
    /// The names outside the directory; `None` if the run died before it wrote them, and so created nothing else.
    pub names: Option<Names>,
}

/// A run's claim to its directory, which ends when this is dropped or the process dies.
#[derive(Debug)]
pub struct Claim {
    journal: File,
}

impl Claim {
    /// Records that something is about to be created, or was removed.
    pub(crate) fn note(&self, entry: &Entry) -> io::Result<()> {
        let line = format!("{}\n", serde_json::to_string(entry)?);
        (&self.journal).write_all(line.as_bytes()).context(|| "write into the journal")
    }
}

/// Writes and locks the journal of a run that begins.
pub fn claim(folder: &Path, names: &Names) -> io::Result<Claim> {
    let mut journal = file_system::create_private_file(&folder.join(JOURNAL))?;
    journal.try_lock()?;
    journal.write_all(format!("{}\n", serde_json::to_string(names)?).as_bytes())?;
    Ok(Claim { journal })
}

/// Returns the directory in which runs create their directories.
pub fn base_folder() -> PathBuf {
    std::env::temp_dir()
}

/// Tries to create a run's directory in the directory for temporary files.
///
/// # Errors
/// Returns the reason if the directory cannot be used.
pub fn try_base_folder() -> io::Result<()> {
    let base = base_folder();
    let folder = base.join(format!("{PREFIX}{:016x}", identity::random()?));
    file_system::create_private_folder(&folder)
        .and_then(|()| fs::remove_dir(&folder))
        .context(|| format!("create a directory in {} (set by TMPDIR)", base.display()))
}

/// Returns the leftovers of this user's dead runs. Skips live runs and the runs of other users.
pub fn find() -> io::Result<Vec<Leftover>> {
    let mut found = Vec::new();
    let base = base_folder();
    let entries =
        fs::read_dir(&base).context(|| format!("read the directory {} (set by TMPDIR)", base.display()))?;
    for entry in entries.flatten() {
        let folder = entry.path();
        let ours = entry.file_name().to_str().is_some_and(is_our_name)
            && fs::symlink_metadata(&folder)
                .is_ok_and(|status| status.is_dir() && file_system::is_own(&status));
        if !ours {
            continue;
        }
        match file_system::open_own_file(&folder.join(JOURNAL)) {
            Ok(journal) if journal.try_lock().is_err() => {}
            Ok(journal) => {
                let names = names_in(&text_of(journal));
                found.push(Leftover { folder, names });
            }
            // Without a journal, the run died while it began or was removed, or it is just beginning. If the directory
            // is old, the run is dead.
            Err(_) if is_old(&folder) => found.push(Leftover { folder, names: None }),
            Err(_) => {}
        }
    }
    sort_by(&mut found, |one, other| one.folder.cmp(&other.folder));
    Ok(found)
}

fn text_of(journal: File) -> String {
    let mut bytes = Vec::new();
    // An unreadable part is treated as if it was not written.
    let _ = journal.take(LONGEST).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn names_in(journal: &str) -> Option<Names> {
    serde_json::from_slice(journal.lines().next()?.as_bytes()).ok()
}

/// Removes the resources that outlive processes and are still in the journal. After a reboot they no longer exist, and
/// their numbers belong to other processes.
fn remove_persistent(names: &Names, left: &[PersistentResource]) -> io::Result<()> {
    if names.boot.is_none() || names.boot != identity::boot() {
        return Ok(());
    }
    // The resources are removed in reverse order. A failure does not keep the others from being removed.
    left.iter().rev().map(PersistentResource::remove).fold(Ok(()), io::Result::and)
}

/// Returns whether the directory was not changed for two seconds. A run writes its journal right after it has created
/// the directory.
fn is_old(folder: &Path) -> bool {
    let age = fs::metadata(folder).and_then(|status| status.modified()).map(|time| time.elapsed());
    matches!(age, Ok(Ok(age)) if age.as_secs() >= 2)
}

/// The subdirectory with copies of programs to start.
pub(crate) const COPIES: &str = "copies";

/// Removes the leftovers of a run: objects of the expected kinds with its names, the resources in its journal, and
/// nothing else. An object that no longer exists is not an error. If an object cannot be removed, the journal is kept.
pub fn remove(folder: &Path, names: Option<&Names>) -> io::Result<()> {
    if let Some(names) = names.filter(|names| is_our_name(&names.prefix)) {
        let journal = file_system::open_own_file(&folder.join(JOURNAL)).map(text_of).unwrap_or_default();
        let left = persistent::left(journal.lines().skip(1));
        #[cfg(target_os = "linux")]
        if left.peer_command {
            end_processes(&names.prefix)?;
        }
        #[cfg(target_os = "linux")]
        if left.programs {
            kill_processes(&names.prefix)?;
            remove_named(&names.prefix);
        }
        for link in 0..left.links.min(MOST_LINKS) {
            remove_link(names, &names.link_names(folder, link))?;
        }
        remove_persistent(names, &left.resources)?;
    }
    // The socket is created by `boundary`, in addition to the links.
    for name in ["responder.socket", JOURNAL] {
        remove_file(&folder.join(name))?;
    }
    unless_gone(fs::remove_dir_all(folder.join(COPIES)))?;
    unless_gone(fs::remove_dir(folder))
}

/// Removes the leftovers of a link.
fn remove_link(names: &Names, link: &LinkNames) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    remove_objects(names, link);
    remove_file(&names.file_folder.join(&link.name))?;
    // The directory belongs to the link, so all its files do.
    unless_gone(fs::remove_dir_all(&link.folder))
}

/// Removes the kernel objects of a link.
#[cfg(target_os = "linux")]
fn remove_objects(names: &Names, LinkNames { name, key, .. }: &LinkNames) {
    segment::remove_posix_shm(name);
    // In another namespace these names belong to other processes, and our objects ended with their namespace.
    if names.ipc_namespace == namespace::ipc_number() {
        for direction in DIRECTIONS {
            posix_queue::remove(&format!("{name}-{direction}"));
        }
        for key in [*key, key.wrapping_add(1)] {
            // Another user's object may have this key; then the kernel rejects the removal.
            let _ = sysv_queue::find(key).and_then(sysv_queue::remove);
            let _ = sysv_semaphore::find(key).and_then(sysv_semaphore::remove);
        }
    }
}

/// Treats an object that no longer exists as removed.
fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the objects named in the journal in `folder`, and the directory. The cleanup process calls this for a dead
/// run.
pub fn remove_run(folder: &Path) -> io::Result<()> {
    let journal = file_system::open_own_file(&folder.join(JOURNAL)).ok();
    let names = journal.and_then(|journal| names_in(&text_of(journal)));
    remove(folder, names.as_ref())
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Returns whether furlong has created the name: the prefix and 16 hexadecimal digits.
fn is_our_name(name: &str) -> bool {
    name.strip_prefix(PREFIX)
        .is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_names_are_ours() {
        assert!(is_our_name("furlong-0123456789abcdef"));
        for name in ["furlong-", "furlong-../../etc/passwd", "furlong-0123456789abcdeg", "other", "furlong-1"]
        {
            assert!(!is_our_name(name), "{name}");
        }
    }

    #[test]
    fn a_tampered_journal_removes_nothing_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let (run, precious) = (folder.path().join("run"), folder.path().join("precious"));
        fs::create_dir(&run).unwrap();
        fs::write(&precious, "data").unwrap();
        let names = Names {
            prefix: "../precious".into(),
            key: -1,
            file_folder: run.clone(),
            ipc_namespace: None,
            boot: None,
        };
        fs::write(run.join(JOURNAL), serde_json::to_vec(&names).unwrap()).unwrap();
        remove_run(&run).unwrap();
        assert!(precious.exists() && !run.exists());
    }

    #[test]
    fn what_every_link_has_left_is_removed_and_nothing_beside() {
        let folder = tempfile::tempdir().unwrap();
        let (run, files) = (folder.path().join("run"), folder.path().join("files"));
        fs::create_dir(&run).unwrap();
        fs::create_dir(&files).unwrap();
        let names = Names {
            prefix: format!("{PREFIX}0123456789abcdef"),
            key: first_key(7),
            file_folder: files.clone(),
            ipc_namespace: None,
            boot: None,
        };
        let claim = claim(&run, &names).unwrap();
        claim.note(&Entry::Links(2)).unwrap();
        for link in 0..3 {
            let LinkNames { name, folder, .. } = names.link_names(&run, link);
            fs::write(files.join(name), "memory").unwrap();
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("there.fifo"), "").unwrap();
        }
        drop(claim);
        assert!(remove_run(&run).is_err(), "the directory of a third link is not removed");
        let left = |folder: &Path| fs::read_dir(folder).unwrap().count();
        assert_eq!((left(&files), left(&run)), (1, 1));
        assert!(files.join(names.link_names(&run, 2).name).exists() && run.join("2/there.fifo").exists());
    }

    #[test]
    fn links_have_nothing_in_common() {
        let names = Names {
            prefix: PREFIX.into(),
            key: first_key(u64::MAX),
            file_folder: PathBuf::new(),
            ipc_namespace: None,
            boot: None,
        };
        let [one, other] = [0, 1].map(|link| names.link_names(Path::new("run"), link));
        assert!(one.name != other.name && one.folder != other.folder && one.key + 1 < other.key);
        let last = names.link_names(Path::new("run"), MOST_LINKS).key;
        assert!(last > other.key, "keys stay positive: {last}");
    }

    #[test]
    fn a_journal_of_one_line_reads_as_well() {
        let text = r#"{"prefix":"furlong-0123456789abcdef","key":2,"file_folder":"/tmp","ipc_namespace":7}"#;
        let names = names_in(text).unwrap();
        assert!(names.key == 2 && names.boot.is_none());
        assert_eq!(names_in(&format!("{text}\n{{\"making\":{{\"loop\":{{\"number\":9}}}}}}\n")), Some(names));
        assert_eq!(names_in(&text[..20]), None);
    }
}
