//! What a run can leave behind when it is killed, and how it is found and removed.
//!
//! A run has one folder, and in it a file that names all else that it may make, written and locked before
//! anything is made. The lock ends with the run, however that ends, so a folder whose file can be locked is
//! what a dead run has left. The file's first line has the names; each further one something that outlives processes
//! (`persistent`), written as it is made.

#[cfg(target_os = "linux")]
use crate::adapter::{end_processes, kill_processes, remove_named};
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

/// How every name of ours begins.
pub const PREFIX: &str = "furlong-";

/// The file in a run's folder that names all else.
const JOURNAL: &str = "journal";

/// What all names begin with that a run may use beside its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// Of shared memory, POSIX queues and files: a link's number follows.
    pub prefix: String,
    /// The first System V key; each link has two.
    pub key: i32,
    /// Where files for memory are made.
    pub file_folder: PathBuf,
    /// The IPC namespace in which queues and semaphores were made.
    pub ipc_namespace: Option<u64>,
    /// The start of the machine in which the run took place.
    #[serde(default)]
    pub boot: Option<String>,
}

/// What one link uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkNames {
    /// For shared memory, POSIX queues and files.
    pub(crate) name: String,
    /// For System V objects; the one after it too.
    pub(crate) key: i32,
    /// For sockets and FIFOs.
    pub(crate) folder: PathBuf,
}

impl Names {
    /// The names of the link of this number, in a run whose folder is `folder`.
    pub(crate) fn of_link(&self, folder: &Path, link: u32) -> LinkNames {
        LinkNames {
            name: format!("{}-{link}", self.prefix),
            key: self.key.wrapping_add(2 * link as i32),
            folder: folder.join(link.to_string()),
        }
    }
}

/// A System V key made of a random number, which leaves room for those of [`MOST_LINKS`].
pub(crate) fn first_key(random: u64) -> i32 {
    (random as i32 & 0x3fff_fffe).max(2)
}

/// The most links that a journal is believed to have.
const MOST_LINKS: u32 = 1 << 16;

/// The longest journal that is read: a run writes some hundred bytes for each trial that needs a device.
const LONGEST: u64 = 16 << 20;

/// Something that a dead run has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The run's folder.
    pub folder: PathBuf,
    /// What it may have made beside it; `None` if it died before it said so, and then it made nothing.
    pub names: Option<Names>,
}

/// The run's claim to its folder; it ends when this is dropped or the process dies.
#[derive(Debug)]
pub struct Claim {
    journal: File,
}

impl Claim {
    /// Writes down what is about to be made, or is gone.
    pub(crate) fn note(&self, entry: &Entry) -> io::Result<()> {
        let line = format!("{}\n", serde_json::to_string(entry)?);
        (&self.journal).write_all(line.as_bytes()).context(|| "write into the journal")
    }
}

/// Writes down and claims the names of a run that begins.
pub fn claim(folder: &Path, names: &Names) -> io::Result<Claim> {
    let mut journal = file_system::create_private_file(&folder.join(JOURNAL))?;
    journal.try_lock()?;
    journal.write_all(format!("{}\n", serde_json::to_string(names)?).as_bytes())?;
    Ok(Claim { journal })
}

/// Where runs make their folders.
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

/// The leftovers of this user's dead runs. Live runs are not touched, and other users' not looked at.
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
            // Without a journal it died while it began or while it was removed, or is just beginning: an old one is dead.
            Err(_) if is_old(&folder) => found.push(Leftover { folder, names: None }),
            Err(_) => {}
        }
    }
    sort_by(&mut found, |one, other| one.folder.cmp(&other.folder));
    Ok(found)
}

fn text_of(journal: File) -> String {
    let mut bytes = Vec::new();
    // What cannot be read is as good as not written.
    let _ = journal.take(LONGEST).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn names_in(journal: &str) -> Option<Names> {
    serde_json::from_slice(journal.lines().next()?.as_bytes()).ok()
}

/// Removes what outlives processes and is in the journal still. After another start of the machine it is gone, and
/// what has its number is somebody else's.
fn remove_persistent(names: &Names, left: &[PersistentResource]) -> io::Result<()> {
    if names.boot.is_none() || names.boot != identity::boot() {
        return Ok(());
    }
    // The last made is removed first; one that cannot be does not keep the others.
    left.iter().rev().map(PersistentResource::remove).fold(Ok(()), io::Result::and)
}

/// Whether nothing was made or removed in the folder for two seconds: a run writes its journal as soon as it has made the
/// folder.
fn is_old(folder: &Path) -> bool {
    let age = fs::metadata(folder).and_then(|status| status.modified()).map(|time| time.elapsed());
    matches!(age, Ok(Ok(age)) if age.as_secs() >= 2)
}

/// The folder of programs that were copied to be started, in the run's own.
pub(crate) const COPIES: &str = "copies";

/// Removes what a run has left: its own names, of the expected kinds, what its journal has beside them, and nothing
/// else. What is gone already is no error. What cannot be removed keeps the journal.
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
            remove_link(names, &names.of_link(folder, link))?;
        }
        remove_persistent(names, &left.resources)?;
    }
    // What `boundary` makes beside the links.
    for name in ["responder.socket", JOURNAL] {
        remove_file(&folder.join(name))?;
    }
    unless_gone(fs::remove_dir_all(folder.join(COPIES)))?;
    unless_gone(fs::remove_dir(folder))
}

/// Removes what a link has left.
fn remove_link(names: &Names, link: &LinkNames) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    remove_objects(names, link);
    remove_file(&names.file_folder.join(&link.name))?;
    // The folder is the link's own, so that all in it is.
    unless_gone(fs::remove_dir_all(&link.folder))
}

/// Removes what a link has left in the kernel.
#[cfg(target_os = "linux")]
fn remove_objects(names: &Names, LinkNames { name, key, .. }: &LinkNames) {
    segment::remove_posix_shm(name);
    // In another namespace the numbers are somebody else's, and ours went with their namespace.
    if names.ipc_namespace == namespace::ipc_number() {
        for direction in DIRECTIONS {
            posix_queue::remove(&format!("{name}-{direction}"));
        }
        for key in [*key, key.wrapping_add(1)] {
            // A foreign object under our key is another user's, and the kernel protects it.
            let _ = sysv_queue::find(key).and_then(sysv_queue::remove);
            let _ = sysv_semaphore::find(key).and_then(sysv_semaphore::remove);
        }
    }
}

/// That something is gone already is no error.
fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes what the journal in `folder` names, and the folder. For the janitor of a run that died.
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

/// Whether a name is one that furlong gives: the prefix and 16 hexadecimal digits.
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
            let LinkNames { name, folder, .. } = names.of_link(&run, link);
            fs::write(files.join(name), "memory").unwrap();
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("there.fifo"), "").unwrap();
        }
        drop(claim);
        assert!(remove_run(&run).is_err(), "somebody has made the folder of a third link");
        let left = |folder: &Path| fs::read_dir(folder).unwrap().count();
        assert_eq!((left(&files), left(&run)), (1, 1));
        assert!(files.join(names.of_link(&run, 2).name).exists() && run.join("2/there.fifo").exists());
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
        let [one, other] = [0, 1].map(|link| names.of_link(Path::new("run"), link));
        assert!(one.name != other.name && one.folder != other.folder && one.key + 1 < other.key);
        let last = names.of_link(Path::new("run"), MOST_LINKS).key;
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
