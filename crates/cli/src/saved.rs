//! Lookup of saved runs by the user's word for them: a name, `@last`, a glob, or a path.

use crate::nearest::nearest;
use crate::output;
use crate::saving::{self, is_name};
use furlong_analysis::{ReadError, Run};
use furlong_console::DATA_FOLDER_VARIABLES;
use furlong_console::exit::Usage;
use furlong_model::RunHeader;
use furlong_os::file_system::open_to_read;
use furlong_render::plain;
use furlong_stats::sort_by;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The extension of a saved run's file.
const ENDING: &str = "jsonl";
/// The number of runs, newest first, that an error names.
const NAMED: usize = 5;

/// A saved run that was found.
#[derive(Debug, Clone)]
pub struct SavedRun {
    /// The name under which it was saved, or its path as typed.
    pub name: String,
    path: PathBuf,
    /// Whether a glob or a directory named it. Then it is left out if it cannot be read.
    by_glob: bool,
}

impl PartialEq for SavedRun {
    fn eq(&self, other: &SavedRun) -> bool {
        (&self.name, &self.path) == (&other.name, &other.path)
    }
}

/// An unreadable file among the saved runs.
#[derive(Debug, Clone)]
pub struct UnreadableRun {
    /// The name under which it was saved.
    pub name: String,
    /// The reason, in text that is safe to print.
    pub reason: String,
    modified: Option<SystemTime>,
}

/// The files of a directory that have the extension of a saved run.
#[derive(Debug, Default)]
pub struct SavedRuns {
    /// Readable runs, from the oldest to the newest start.
    pub runs: Vec<SavedRun>,
    /// Unreadable files, by name.
    pub unreadable: Vec<UnreadableRun>,
}

/// The maximum number of unused files that a message names.
const NAMED_UNREADABLE: usize = 20;

/// Prints the names of unused files to stderr.
pub fn tell_unused<'a>(unused: impl ExactSizeIterator<Item = (&'a str, &'a str)>) {
    let (all, mut named) = (unused.len(), String::new());
    for (name, reason) in unused.take(NAMED_UNREADABLE) {
        named += &format!("\n    {}: {reason}", plain(name));
    }
    if all > NAMED_UNREADABLE {
        named += &format!("\n    and {} more", all - NAMED_UNREADABLE);
    }
    match all {
        0 => {}
        1 => output::tell(format_args!("furlong: skipping a saved run that cannot be read:{named}")),
        _ => output::tell(format_args!("furlong: skipping {all} saved runs that cannot be read:{named}")),
    }
}

/// Reads the runs in turn, and maps each with `make`. An unreadable run is left out with a message if a glob or a
/// directory named it.
///
/// # Errors
/// Returns a usage error if a run that was named itself cannot be read, or if no run can be read.
pub fn read_each<T>(found: &[SavedRun], make: impl Fn(Run) -> T) -> anyhow::Result<Vec<(&str, T)>> {
    let (mut made, mut unused) = (Vec::new(), Vec::new());
    for run in found {
        match run.records() {
            Ok(records) => made.push((run.name.as_str(), make(records))),
            Err(error) if run.by_glob => unused.push((run.name.as_str(), plain(&error.to_string()))),
            Err(error) => return Err(unreadable(&run.name, &error)),
        }
    }
    tell_unused(unused.iter().map(|(name, reason)| (*name, reason.as_str())));
    match made.is_empty() {
        true => Err(Usage("none of these runs can be read; specify other runs".to_owned()).into()),
        false => Ok(made),
    }
}

fn unreadable(name: &str, error: &ReadError) -> anyhow::Error {
    // The error may quote a line of the file, which any user may have written.
    Usage(plain(&format!("run {name}: {error}"))).into()
}

impl SavedRun {
    /// Reads all records of the run.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not a run, or was written by a newer furlong.
    pub fn read(&self) -> anyhow::Result<Run> {
        self.records().map_err(|error| unreadable(&self.name, &error))
    }

    /// Reads all records like [`read`](SavedRun::read), but the error does not name the run.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not a run, or was written by a newer furlong.
    pub fn records(&self) -> Result<Run, ReadError> {
        self.open().and_then(Run::from_reader)
    }

    fn open(&self) -> Result<BufReader<File>, ReadError> {
        let open = |source| ReadError::Open { path: self.path.clone(), source };
        open_to_read(&self.path).map(BufReader::new).map_err(open)
    }
}

impl SavedRun {
    /// Returns the path of the run's file, if the run was found by its name.
    ///
    /// Returns a usage error if the run was named with a path, because furlong changes only files in its own
    /// directory. Returns a usage error if the run is still being measured, because its writer would save it again.
    pub fn own_file(&self) -> anyhow::Result<&Path> {
        match is_name(&self.name) {
            true if self.is_under_way() => {
                let why = "this run is in progress: wait until it ends, or stop its furlong process";
                Err(Usage(format!("{}: {why}", self.name)).into())
            }
            true => Ok(&self.path),
            false => {
                let why = "this is a path, but only runs in the data directory can be changed: use the commands of your shell";
                Err(Usage(format!("{}: {why}", plain(&self.name))).into())
            }
        }
    }

    /// Returns the path of the run's file.
    pub fn file(&self) -> &Path {
        &self.path
    }

    /// Returns whether the run is still being measured: its writer then holds a lock on the file.
    pub fn is_under_way(&self) -> bool {
        let locked = open_to_read(&self.path).map(|file| file.try_lock_shared());
        matches!(locked, Ok(Err(fs::TryLockError::WouldBlock)))
    }

    /// Returns the run with its header and its size in bytes, for a list; `None` if it has been removed or cannot be
    /// read.
    pub fn listed(self) -> Option<(RunHeader, u64, SavedRun)> {
        let bytes = fs::metadata(&self.path).ok()?.len();
        Some((self.header().ok()?, bytes, self))
    }

    /// Reads the header: the parameters of the run and its start time.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not a run, or was written by a newer furlong.
    pub fn header(&self) -> Result<RunHeader, ReadError> {
        self.open().and_then(Run::header_from_reader)
    }
}

/// Finds all saved runs.
///
/// # Errors
/// Returns a usage error if their directory cannot be read.
pub fn all() -> anyhow::Result<SavedRuns> {
    saving::folder().map_or_else(|| Ok(SavedRuns::default()), |folder| all_in(&folder))
}

/// Finds all runs in a directory. A directory that does not exist has none.
///
/// # Errors
/// Returns a usage error if the directory cannot be read.
pub fn all_in(folder: &Path) -> anyhow::Result<SavedRuns> {
    let cannot = |error: std::io::Error| {
        let shown = plain(&folder.to_string_lossy());
        Usage(format!(
            "cannot read the saved runs in {shown}: {error}; make it a readable directory, or set \
             {DATA_FOLDER_VARIABLES}"
        ))
    };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound && folder.symlink_metadata().is_err() => {
            return Ok(SavedRuns::default());
        }
        entries => entries.map_err(cannot)?,
    };
    let (mut runs, mut others) = (Vec::new(), SavedRuns::default());
    for entry in entries {
        match dated(&entry.map_err(cannot)?.path()) {
            Some(Ok(run)) => runs.push(run),
            Some(Err(unreadable)) => others.unreadable.push(unreadable),
            None => {}
        }
    }
    sort_by(&mut runs, |(a, one), (b, other)| a.cmp(b).then_with(|| one.name.cmp(&other.name)));
    sort_by(&mut others.unreadable, |one, other| one.name.cmp(&other.name));
    Ok(SavedRuns { runs: runs.into_iter().map(|(_, run)| run).collect(), ..others })
}

/// Finds the runs that these words name, in their order. The runs of a glob are ordered from the oldest to the
/// newest. A run may be named twice.
///
/// # Errors
/// Returns a usage error if a word names no run.
pub fn find(words: &[String]) -> anyhow::Result<Vec<SavedRun>> {
    let mut found: Vec<SavedRun> = Vec::new();
    let mut shelf = Shelf::default();
    for word in words {
        match named(word, &mut shelf)? {
            RunReference::One(run) => found.push(run),
            // A glob may match a run that was already named, such as the baseline.
            RunReference::Several(runs) => {
                let others: Vec<_> = runs.into_iter().filter(|run| !found.contains(run)).collect();
                found.extend(others);
            }
        }
    }
    Ok(found)
}

/// Finds runs like [`find`], or the newest run if `words` is empty.
///
/// # Errors
/// Returns a usage error if a word names no run, or if two words name the same run.
pub fn find_or_last(words: &[String]) -> anyhow::Result<Vec<SavedRun>> {
    if words.is_empty() {
        return find(&["@last".to_owned()]);
    }
    let found = find(words)?;
    match found.iter().enumerate().find(|(at, run)| found[..*at].contains(run)) {
        Some((_, run)) => {
            Err(Usage(format!("run {} is specified twice; specify another run", run.name)).into())
        }
        None => Ok(found),
    }
}

/// Finds runs like [`find`], without duplicates. A directory stands for all files below it that have the extension of
/// a run.
///
/// # Errors
/// Returns a usage error if a word names no run, or if a directory has no runs or cannot be read.
pub fn find_below(words: &[String]) -> anyhow::Result<Vec<SavedRun>> {
    let mut found: Vec<SavedRun> = Vec::new();
    for word in words {
        if Path::new(word).is_dir() {
            let below = below(Path::new(word))?;
            if below.is_empty() {
                return Err(Usage(format!("no file in {} has the extension .{ENDING}", plain(word))).into());
            }
            found.extend(below);
        } else {
            found.extend(find(std::slice::from_ref(word))?);
        }
    }
    let mut seen = HashSet::new();
    found.retain(|run| seen.insert(run.path.clone()));
    Ok(found)
}

/// Returns the files with the extension of a run below a directory, sorted by path. An unreadable subdirectory is
/// listed as well, so that it is reported with the unreadable runs. Links to directories are not followed, because
/// they may form a cycle.
fn below(top: &Path) -> Result<Vec<SavedRun>, Usage> {
    let (mut left, mut found) = (vec![top.to_owned()], Vec::new());
    while let Some(folder) = left.pop() {
        let entries = match fs::read_dir(&folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) if folder == top => {
                return Err(Usage(format!(
                    "cannot read the directory {}: {error}",
                    plain(&top.to_string_lossy())
                )));
            }
            Err(_) => {
                found.push(SavedRun {
                    name: folder.to_string_lossy().into_owned(),
                    path: folder,
                    by_glob: true,
                });
                continue;
            }
        };
        for entry in entries {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(path);
            } else if path.extension().is_some_and(|ending| ending == ENDING) {
                found.push(SavedRun { name: path.to_string_lossy().into_owned(), path, by_glob: true });
            }
        }
    }
    sort_by(&mut found, |one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// The meaning of a word.
enum RunReference {
    One(SavedRun),
    Several(Vec<SavedRun>),
}

fn named(word: &str, shelf: &mut Shelf) -> anyhow::Result<RunReference> {
    if word.contains('/') || word.ends_with(&format!(".{ENDING}")) {
        return Ok(RunReference::One(SavedRun {
            name: word.to_owned(),
            path: PathBuf::from(word),
            by_glob: false,
        }));
    }
    if word.starts_with('@') {
        return last(word, shelf).map(RunReference::One);
    }
    if word.contains(['*', '?', '[', '{']) {
        return matching(word, shelf).map(RunReference::Several);
    }
    let path = saving::folder().filter(|_| is_name(word)).map(|folder| file_of(&folder, word));
    match path.filter(|path| path.is_file()) {
        Some(path) => Ok(RunReference::One(SavedRun { name: word.to_owned(), path, by_glob: false })),
        None if Path::new(word).is_file() => {
            let why = "is a file, not the name of a saved run. Exports contain no trials: use runs saved with 'furlong run \
                       --save NAME'. For the path of a saved run, write";
            Err(Usage(format!("{word} {why} ./{word}", word = plain(word))).into())
        }
        None => {
            Err(Usage(format!("no run is saved as '{}'; {}", plain(word), shelf.known(Some(word))?)).into())
        }
    }
}

/// Finds the run of `@last` or `@last~N`, which is N runs before the newest.
fn last(word: &str, shelf: &mut Shelf) -> anyhow::Result<SavedRun> {
    let before = match word.strip_prefix("@last") {
        Some("") => Some(0),
        Some(rest) => rest.strip_prefix('~').and_then(|number| number.parse::<usize>().ok()),
        None => None,
    };
    let Some(before) = before else {
        let reason = format!(
            "'{}' is not a valid run: write @last for the newest run, or @last~1 for the run before it",
            plain(word)
        );
        return Err(Usage(reason).into());
    };
    let saved = shelf.saved()?;
    // `@last` skips runs without measurements.
    let mut measured = saved.runs.iter().rev().filter(|run| !run.records().is_ok_and(|run| run.is_empty()));
    let Some(run) = measured.nth(before).cloned() else {
        return Err(Usage(format!("there is no {word}; {}", shelf.known(None)?)).into());
    };
    // An unreadable run that is newer may be the one that is meant.
    let modified = fs::metadata(&run.path).and_then(|file| file.modified()).ok();
    match saved.unreadable.iter().find(|other| other.modified > modified) {
        Some(UnreadableRun { name, reason, .. }) => Err(Usage(format!(
            "{word} is ambiguous: the saved run {name} is newer than {} and cannot be read ({reason}); specify a run by name, or \
             delete the file with 'furlong runs remove {name}'",
            run.name
        ))
        .into()),
        None => Ok(run),
    }
}

/// Finds the saved runs that a glob matches.
fn matching(word: &str, shelf: &mut Shelf) -> anyhow::Result<Vec<SavedRun>> {
    fast_glob::validate(word)
        .map_err(|error| Usage(format!("'{}' is not a valid run: {error}", plain(word))))?;
    let saved = shelf.saved()?;
    let is_meant = |name: &str| fast_glob::glob_match(word, name);
    let unused: Vec<_> = saved.unreadable.iter().filter(|run| is_meant(&run.name)).collect();
    tell_unused(unused.iter().map(|run| (run.name.as_str(), run.reason.as_str())));
    let runs = saved.runs.iter().filter(|run| is_meant(&run.name));
    let runs: Vec<_> = runs.map(|run| SavedRun { by_glob: true, ..run.clone() }).collect();
    if runs.is_empty() {
        let which = if unused.is_empty() { "no saved run" } else { "no saved run that can be read" };
        return Err(Usage(format!("{which} matches '{}'; {}", plain(word), shelf.known(None)?)).into());
    }
    Ok(runs)
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{ENDING}"))
}

/// All saved runs; they are read from the directory at the first request.
#[derive(Default)]
struct Shelf {
    saved: Option<SavedRuns>,
}

impl Shelf {
    fn saved(&mut self) -> anyhow::Result<&SavedRuns> {
        if self.saved.is_none() {
            self.saved = Some(all()?);
        }
        Ok(self.saved.get_or_insert_default())
    }

    /// Returns a hint: the saved name that is most similar to `wanted`, otherwise the newest names.
    fn known(&mut self, wanted: Option<&str>) -> anyhow::Result<String> {
        let SavedRuns { runs, unreadable } = self.saved()?;
        let names = || runs.iter().map(|run| run.name.clone());
        if let Some(nearest) = wanted.and_then(|wanted| nearest(wanted, names())) {
            return Ok(format!("did you mean '{nearest}'?"));
        }
        let names: Vec<_> = runs.iter().rev().take(NAMED).map(|run| run.name.as_str()).collect();
        Ok(match (names.len(), runs.len()) {
            (0, _) if !unreadable.is_empty() => {
                format!(
                    "none of the {} saved runs can be read; 'furlong runs list' shows why",
                    unreadable.len()
                )
            }
            (0, _) => "no run is saved yet; to save one, use 'furlong run --save NAME'".to_owned(),
            (named, all) if named < all => format!("the newest of {all} saved runs are {}", names.join(", ")),
            _ => format!("saved runs: {}", names.join(", ")),
        })
    }
}

/// The start time of a run in seconds, then its file's modification time, because several runs may start in one
/// second; and the run.
type DatedRun = ((u64, Option<SystemTime>), SavedRun);

/// Returns the run in a file with its time, or why it cannot be read. `None` if its name is not the name of a run, or
/// if another furlong has not written its header yet.
fn dated(path: &Path) -> Option<Result<DatedRun, UnreadableRun>> {
    let name = path.file_stem()?.to_str().filter(|name| is_name(name))?.to_owned();
    path.extension().filter(|ending| *ending == ENDING)?;
    let run = SavedRun { name, path: path.to_owned(), by_glob: false };
    let file = fs::metadata(path);
    let modified = file.as_ref().ok().and_then(|file| file.modified().ok());
    let why = match file {
        // Opening a pipe among the files could block forever.
        Ok(file) if !file.is_file() => return None,
        Ok(_) => match Run::read_header(path) {
            Ok(header) => return Some(Ok(((header.started_unix_s, modified), run))),
            Err(ReadError::Open { source, .. }) => format!("cannot open it: {source}"),
            Err(error) => error.to_string(),
        },
        // A file that was removed since the directory was read is not an error.
        Err(_) if path.symlink_metadata().is_err() => return None,
        Err(error) => format!("cannot open it: {error}"),
    };
    let is_whole = !run.is_under_way();
    is_whole.then(|| Err(UnreadableRun { name: run.name, reason: plain(&why), modified }))
}
