//! Finding saved runs by what a user calls them: a name, `@last`, a glob, or a path.

use crate::nearest::nearest;
use crate::saving::{self, is_name};
use furlong_analysis::{ReadError, Run};
use furlong_console::exit::Usage;
use furlong_model::RunHeader;
use furlong_os::file_system::open_to_read;
use furlong_render::plain;
use furlong_stats::sort_by;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How a file of a saved run ends.
const ENDING: &str = "jsonl";
/// Runs that an error names, the newest first.
const NAMED: usize = 5;

/// A run that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedRun {
    /// The name that it was saved under, or its path as it was typed.
    pub name: String,
    path: PathBuf,
}

impl SavedRun {
    /// All of its records.
    ///
    /// # Errors
    /// That the file cannot be read, is no run, or was written by a newer furlong.
    pub fn read(&self) -> anyhow::Result<Run> {
        // What is wrong with a line may quote it, and it may come from anybody.
        self.records().map_err(|error| Usage(plain(&format!("run {}: {error}", self.name))).into())
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
    /// Returns a usage error if it was named by a path, because furlong changes only its own files, or if it is being measured,
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

/// All saved runs, from the oldest to the newest. What is no run of ours is passed over.
pub fn all() -> Vec<SavedRun> {
    saving::folder().map(|folder| all_in(&folder)).unwrap_or_default()
}

/// The same of another folder.
pub fn all_in(folder: &Path) -> Vec<SavedRun> {
    let entries = fs::read_dir(folder).ok();
    let mut runs: Vec<_> =
        entries.into_iter().flatten().flatten().filter_map(|entry| dated(&entry.path())).collect();
    sort_by(&mut runs, |(a, one), (b, other)| a.cmp(b).then_with(|| one.name.cmp(&other.name)));
    runs.into_iter().map(|(_, run)| run).collect()
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
/// A word that names no run, or a folder without any.
pub fn find_below(words: &[String]) -> anyhow::Result<Vec<SavedRun>> {
    let mut found: Vec<SavedRun> = Vec::new();
    for word in words {
        if Path::new(word).is_dir() {
            let below = below(Path::new(word));
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

/// The files of runs in a folder and in its folders, by their paths. Links to folders are not followed: they may lead back.
fn below(folder: &Path) -> Vec<SavedRun> {
    let (mut left, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push(path);
            } else if path.extension().is_some_and(|ending| ending == ENDING) {
                found.push(SavedRun { name: path.to_string_lossy().into_owned(), path });
            }
        }
    }
    sort_by(&mut found, |one, other| one.path.cmp(&other.path));
    found
}

/// What a word stands for.
enum Named {
    One(SavedRun),
    Several(Vec<SavedRun>),
}

fn named(word: &str, shelf: &mut Shelf) -> anyhow::Result<Named> {
    if word.contains('/') || word.ends_with(&format!(".{ENDING}")) {
        return Ok(Named::One(SavedRun { name: word.to_owned(), path: PathBuf::from(word) }));
    }
    if word.starts_with('@') {
        return last(word, shelf).map(Named::One);
    }
    if word.contains(['*', '?', '[', '{']) {
        return matching(word, shelf).map(Named::Several);
    }
    let path = saving::folder().filter(|_| is_name(word)).map(|folder| file_of(&folder, word));
    match path.filter(|path| path.is_file()) {
        Some(path) => Ok(Named::One(SavedRun { name: word.to_owned(), path })),
        None if Path::new(word).is_file() => {
            let why = "is a file that is no saved run: exports keep no trials, so compare runs (run --save NAME), or write";
            Err(Usage(format!("{word} {why} ./{word} if it is one", word = plain(word))).into())
        }
        None => {
            Err(Usage(format!("no run is saved as '{}'; {}", plain(word), shelf.known(Some(word)))).into())
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
    // A run in which nothing was measured is reached by its name alone.
    let mut measured = shelf.runs().iter().rev().filter(|run| !run.records().is_ok_and(|run| run.is_empty()));
    let run = measured.nth(before).cloned();
    run.ok_or_else(|| Usage(format!("there is no {word}; {}", shelf.known(None))).into())
}

/// The saved runs that a glob names.
fn matching(word: &str, shelf: &mut Shelf) -> anyhow::Result<Vec<SavedRun>> {
    fast_glob::validate(word).map_err(|error| Usage(format!("'{}' is no run: {error}", plain(word))))?;
    let is_meant = |run: &&SavedRun| fast_glob::glob_match(word, &run.name);
    let runs: Vec<_> = shelf.runs().iter().filter(is_meant).cloned().collect();
    if runs.is_empty() {
        return Err(Usage(format!("no saved run matches '{}'; {}", plain(word), shelf.known(None))).into());
    }
    Ok(runs)
}

fn file_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{ENDING}"))
}

/// All saved runs, looked for once, when they are first asked for.
#[derive(Default)]
struct Shelf {
    runs: Option<Vec<SavedRun>>,
}

impl Shelf {
    /// From the oldest to the newest, by when they were measured. What is no run of ours is passed over.
    fn runs(&mut self) -> &[SavedRun] {
        self.runs.get_or_insert_with(all)
    }

    /// What there is: the name nearest to `wanted`, else the newest ones.
    fn known(&mut self, wanted: Option<&str>) -> String {
        let runs = self.runs();
        let names = || runs.iter().map(|run| run.name.clone());
        if let Some(nearest) = wanted.and_then(|wanted| nearest(wanted, names())) {
            return format!("there is '{nearest}'");
        }
        let names: Vec<_> = runs.iter().rev().take(NAMED).map(|run| run.name.as_str()).collect();
        match (names.len(), runs.len()) {
            (0, _) => "no run is saved yet: 'furlong run --save NAME' saves one".to_owned(),
            (named, all) if named < all => format!("the newest of {all} are {}", names.join(", ")),
            _ => format!("there are {}", names.join(", ")),
        }
    }
}

/// The run in a file, and when it was measured; a second has room for several, so the file's own time comes next.
fn dated(path: &Path) -> Option<((u64, Option<SystemTime>), SavedRun)> {
    let name = path.file_stem()?.to_str().filter(|name| is_name(name))?.to_owned();
    // A pipe among the files would never end.
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    path.extension().filter(|ending| *ending == ENDING)?;
    let header = Run::read_header(path).ok()?;
    Some(((header.started_unix_s, file.modified().ok()), SavedRun { name, path: path.to_owned() }))
}
