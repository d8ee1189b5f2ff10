//! Finding saved runs by what a user calls them: a name, `@last`, a glob, or a path.

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

/// How a file of a saved run ends.
const ENDING: &str = "jsonl";
/// Runs that an error names, the newest first.
const NAMED: usize = 5;

/// A run that was found.
#[derive(Debug, Clone)]
pub struct SavedRun {
    /// The name that it was saved under, or its path as it was typed.
    pub name: String,
    path: PathBuf,
    /// Whether it was named with others by a glob, which stands for those that can be read.
    by_glob: bool,
}

impl PartialEq for SavedRun {
    fn eq(&self, other: &SavedRun) -> bool {
        (&self.name, &self.path) == (&other.name, &other.path)
    }
}

/// A file among the saved runs that cannot be read as one.
#[derive(Debug, Clone)]
pub struct UnreadableRun {
    /// The name that it was saved under.
    pub name: String,
    /// Why, in words that are safe to print.
    pub reason: String,
    modified: Option<SystemTime>,
}

/// The files of a folder that end as runs do.
#[derive(Debug, Default)]
pub struct SavedRuns {
    /// Runs, from the oldest to the newest by when they were measured.
    pub runs: Vec<SavedRun>,
    /// All other files, by name.
    pub unreadable: Vec<UnreadableRun>,
}

/// Files that a message names.
const NAMED_UNREADABLE: usize = 20;

/// Names the files that were not used on stderr.
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
        1 => output::tell(format_args!("furlong: a saved run cannot be read, so it is left out:{named}")),
        _ => output::tell(format_args!(
            "furlong: {all} saved runs cannot be read, so they are left out:{named}"
        )),
    }
}

/// Reads the runs one after the other, and makes of each what is needed. One that a glob named is left out and told of if it
/// cannot be read.
///
/// # Errors
/// Returns a usage error if a run that was named itself cannot be read, or if none can.
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
        true => Err(Usage("none of these runs can be read: name others".to_owned()).into()),
        false => Ok(made),
    }
}

fn unreadable(name: &str, error: &ReadError) -> anyhow::Error {
    // The error may quote a line of the file, which any user may have written.
    Usage(plain(&format!("run {name}: {error}"))).into()
}

impl SavedRun {
    /// All of its records.
    ///
    /// # Errors
    /// That the file cannot be read, is no run, or was written by a newer furlong.
    pub fn read(&self) -> anyhow::Result<Run> {
        self.records().map_err(|error| unreadable(&self.name, &error))
    }

    /// The same, with the reason alone.
    ///
    /// # Errors
    /// As for [`read`](SavedRun::read).
    pub fn records(&self) -> Result<Run, ReadError> {
        self.open().and_then(Run::from_reader)
    }

    fn open(&self) -> Result<BufReader<File>, ReadError> {
        let open = |source| ReadError::Open { path: self.path.clone(), source };
        open_to_read(&self.path).map(BufReader::new).map_err(open)
    }
}

impl SavedRun {
    /// Its file, if it was named by what it was saved under.
    ///
    /// # Errors
    /// Returns a usage error if the word for it was a path, because furlong changes only its own files, or if it is being measured,
    /// because its writer would save it again.
    pub fn own_file(&self) -> anyhow::Result<&Path> {
        match is_name(&self.name) {
            true if self.is_under_way() => {
                let why = "this run is being measured: wait for its end, or end its furlong";
                Err(Usage(format!("{}: {why}", self.name)).into())
            }
            true => Ok(&self.path),
            false => {
                let why = "this is a path, and only runs that are named are changed: use the shell";
                Err(Usage(format!("{}: {why}", plain(&self.name))).into())
            }
        }
    }

    /// Its file.
    pub fn file(&self) -> &Path {
        &self.path
    }

    /// Whether it is still being measured: then its writer holds a lock on its file.
    pub fn is_under_way(&self) -> bool {
        let locked = open_to_read(&self.path).map(|file| file.try_lock_shared());
        matches!(locked, Ok(Err(fs::TryLockError::WouldBlock)))
    }

    /// The same with what a list says of it; nothing if it is removed meanwhile.
    pub fn listed(self) -> Option<(RunHeader, u64, SavedRun)> {
        let bytes = fs::metadata(&self.path).ok()?.len();
        Some((self.header().ok()?, bytes, self))
    }

    /// What was asked, and when.
    ///
    /// # Errors
    /// That the file cannot be read, is no run, or was written by a newer furlong.
    pub fn header(&self) -> Result<RunHeader, ReadError> {
        self.open().and_then(Run::header_from_reader)
    }
}

/// Looks for all saved runs.
///
/// # Errors
/// Returns a usage error if their folder cannot be read.
pub fn all() -> anyhow::Result<SavedRuns> {
    saving::folder().map_or_else(|| Ok(SavedRuns::default()), |folder| all_in(&folder))
}

/// Looks for all runs in a folder.
///
/// # Errors
/// Returns a usage error if the folder cannot be read. One that does not exist has no runs.
pub fn all_in(folder: &Path) -> anyhow::Result<SavedRuns> {
    let cannot = |error: std::io::Error| {
        let shown = plain(&folder.to_string_lossy());
        Usage(format!(
            "cannot read the saved runs in {shown}: {error}; make it a folder that you may read, or set \
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

/// The runs that these words name, in their order; those of a glob from the oldest to the newest. A run may be named
/// twice.
///
/// # Errors
/// A word that names no run.
pub fn find(words: &[String]) -> anyhow::Result<Vec<SavedRun>> {
    let mut found: Vec<SavedRun> = Vec::new();
    let mut shelf = Shelf::default();
    for word in words {
        match named(word, &mut shelf)? {
            Named::One(run) => found.push(run),
            // A glob may have the baseline among others.
            Named::Several(runs) => {
                let others: Vec<_> = runs.into_iter().filter(|run| !found.contains(run)).collect();
                found.extend(others);
            }
        }
    }
    Ok(found)
}

/// The same, each run once, or the newest run where nothing is named.
///
/// # Errors
/// A word that names no run, or the same run twice.
pub fn find_or_last(words: &[String]) -> anyhow::Result<Vec<SavedRun>> {
    if words.is_empty() {
        return find(&["@last".to_owned()]);
    }
    let found = find(words)?;
    match found.iter().enumerate().find(|(at, run)| found[..*at].contains(run)) {
        Some((_, run)) => Err(Usage(format!("run {} is named twice: name another one", run.name)).into()),
        None => Ok(found),
    }
}

/// The same, each run once; a word that is a folder names every file in it and in its folders that ends as runs do.
///
/// # Errors
/// A word that names no run, or a folder without any or that cannot be read.
pub fn find_below(words: &[String]) -> anyhow::Result<Vec<SavedRun>> {
    let mut found: Vec<SavedRun> = Vec::new();
    for word in words {
        if Path::new(word).is_dir() {
            let below = below(Path::new(word))?;
            if below.is_empty() {
                return Err(Usage(format!("no file in {} ends in .{ENDING}", plain(word))).into());
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

/// The files of runs in a folder and in its folders, by their paths. A folder in it that cannot be read stands among them, since what is
/// left out is named with them. Links to folders are not followed: they may lead back.
fn below(top: &Path) -> Result<Vec<SavedRun>, Usage> {
    let (mut left, mut found) = (vec![top.to_owned()], Vec::new());
    while let Some(folder) = left.pop() {
        let entries = match fs::read_dir(&folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) if folder == top => {
                return Err(Usage(format!(
                    "cannot read the folder {}: {error}",
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

/// What a word stands for.
enum Named {
    One(SavedRun),
    Several(Vec<SavedRun>),
}

fn named(word: &str, shelf: &mut Shelf) -> anyhow::Result<Named> {
    if word.contains('/') || word.ends_with(&format!(".{ENDING}")) {
        return Ok(Named::One(SavedRun { name: word.to_owned(), path: PathBuf::from(word), by_glob: false }));
    }
    if word.starts_with('@') {
        return last(word, shelf).map(Named::One);
    }
    if word.contains(['*', '?', '[', '{']) {
        return matching(word, shelf).map(Named::Several);
    }
    let path = saving::folder().filter(|_| is_name(word)).map(|folder| file_of(&folder, word));
    match path.filter(|path| path.is_file()) {
        Some(path) => Ok(Named::One(SavedRun { name: word.to_owned(), path, by_glob: false })),
        None if Path::new(word).is_file() => {
            let why = "is a file that is no saved run: exports keep no trials, so compare runs (run --save NAME), or write";
            Err(Usage(format!("{word} {why} ./{word} if it is one", word = plain(word))).into())
        }
        None => {
            Err(Usage(format!("no run is saved as '{}'; {}", plain(word), shelf.known(Some(word))?)).into())
        }
    }
}

/// `@last`, or so many before it.
fn last(word: &str, shelf: &mut Shelf) -> anyhow::Result<SavedRun> {
    let before = match word.strip_prefix("@last") {
        Some("") => Some(0),
        Some(rest) => rest.strip_prefix('~').and_then(|number| number.parse::<usize>().ok()),
        None => None,
    };
    let Some(before) = before else {
        let reason = format!("'{}' is no run: write @last, or @last~1 for the one before", plain(word));
        return Err(Usage(reason).into());
    };
    let saved = shelf.saved()?;
    // A run in which nothing was measured is reached by its name alone.
    let mut measured = saved.runs.iter().rev().filter(|run| !run.records().is_ok_and(|run| run.is_empty()));
    let Some(run) = measured.nth(before).cloned() else {
        return Err(Usage(format!("there is no {word}; {}", shelf.known(None)?)).into());
    };
    // It may be the run that is meant, and was measured later.
    let modified = fs::metadata(&run.path).and_then(|file| file.modified()).ok();
    match saved.unreadable.iter().find(|other| other.modified > modified) {
        Some(UnreadableRun { name, reason, .. }) => Err(Usage(format!(
            "{word} is not certain: the saved run {name} is newer than {} and cannot be read ({reason}); name a run, or \
             delete the file with 'furlong runs remove {name}'",
            run.name
        ))
        .into()),
        None => Ok(run),
    }
}

/// The saved runs that a glob names.
fn matching(word: &str, shelf: &mut Shelf) -> anyhow::Result<Vec<SavedRun>> {
    fast_glob::validate(word).map_err(|error| Usage(format!("'{}' is no run: {error}", plain(word))))?;
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

/// All saved runs, looked for once, when they are first asked for.
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

    /// What there is: the name nearest to `wanted`, else the newest ones.
    fn known(&mut self, wanted: Option<&str>) -> anyhow::Result<String> {
        let SavedRuns { runs, unreadable } = self.saved()?;
        let names = || runs.iter().map(|run| run.name.clone());
        if let Some(nearest) = wanted.and_then(|wanted| nearest(wanted, names())) {
            return Ok(format!("there is '{nearest}'"));
        }
        let names: Vec<_> = runs.iter().rev().take(NAMED).map(|run| run.name.as_str()).collect();
        Ok(match (names.len(), runs.len()) {
            (0, _) if !unreadable.is_empty() => {
                format!("none of the {} saved runs can be read: see 'furlong runs list'", unreadable.len())
            }
            (0, _) => "no run is saved yet: 'furlong run --save NAME' saves one".to_owned(),
            (named, all) if named < all => format!("the newest of {all} are {}", names.join(", ")),
            _ => format!("there are {}", names.join(", ")),
        })
    }
}

/// When a run was measured; a second has room for several, so the file's own time comes next.
type Dated = ((u64, Option<SystemTime>), SavedRun);

/// Returns the run in a file with its time, or why it cannot be read; `None` if its name is not that of a run, or if another
/// furlong has not written its header yet.
fn dated(path: &Path) -> Option<Result<Dated, UnreadableRun>> {
    let name = path.file_stem()?.to_str().filter(|name| is_name(name))?.to_owned();
    path.extension().filter(|ending| *ending == ENDING)?;
    let run = SavedRun { name, path: path.to_owned(), by_glob: false };
    let file = fs::metadata(path);
    let modified = file.as_ref().ok().and_then(|file| file.modified().ok());
    let why = match file {
        // A pipe among the files would never end.
        Ok(file) if !file.is_file() => return None,
        Ok(_) => match Run::read_header(path) {
            Ok(header) => return Some(Ok(((header.started_unix_s, modified), run))),
            Err(ReadError::Open { source, .. }) => format!("cannot open it: {source}"),
            Err(error) => error.to_string(),
        },
        // One that was removed since the folder was read is not missing.
        Err(_) if path.symlink_metadata().is_err() => return None,
        Err(error) => format!("cannot open it: {error}"),
    };
    let is_whole = !run.is_under_way();
    is_whole.then(|| Err(UnreadableRun { name: run.name, reason: plain(&why), modified }))
}
