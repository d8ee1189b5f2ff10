//! Whether furlong agrees with others: `perf bench sched pipe` and a small C program, beside its own rows.
//!
//! A round is one run of furlong for each placement (`--across 3`), in which the others take part as programs of its own: they run
//! between furlong's trials, as often and for as long. What they find they write into files. So a machine whose pace changes by the
//! second is the same for both. A round agrees if furlong's interval contains the median of what the other has found.
//! `cargo bench -p furlong --bench agreement` takes about ten minutes; `-- free` measures one placement alone.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

/// Rounds of everything.
const ROUNDS: usize = 10;
/// Rounds of each row that must agree.
const MUST_AGREE: usize = 9;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What somebody else measures, and the row that is the same.
struct Other {
    row: &'static str,
    place: &'static str,
    program: Program,
}

#[derive(Clone, Copy)]
enum Program {
    /// `perf bench sched pipe`, whose figure is a mean.
    Perf,
    /// `pair.c` over this, whose figure is a median.
    Pair(&'static str),
}

const OTHERS: [Other; 8] = [
    Other { row: "pipe", place: "free", program: Program::Perf },
    Other { row: "pipe", place: "same-core", program: Program::Perf },
    Other { row: "unix-stream", place: "free", program: Program::Pair("unix") },
    Other { row: "unix-stream", place: "same-core", program: Program::Pair("unix") },
    Other { row: "unix-stream", place: "other-core", program: Program::Pair("unix") },
    Other { row: "posix-mq", place: "free", program: Program::Pair("mq") },
    Other { row: "posix-mq", place: "same-core", program: Program::Pair("mq") },
    Other { row: "posix-mq", place: "other-core", program: Program::Pair("mq") },
];

fn main() -> ExitCode {
    match compare() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("agreement: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compares everything, prints it, and says whether all rows agree often enough.
fn compare() -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let pair = compiled(folder.path())?;
    let has_perf = output(Command::new("perf").args(["bench", "sched", "pipe", "-l", "10"])).is_ok();
    if !has_perf {
        println!("perf is not installed: its rows are left out");
    }
    // cargo adds a word of its own.
    let asked: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_asked = |other: &&Other| asked.is_empty() || asked.iter().any(|place| place == other.place);
    let can_run = |other: &&Other| has_perf || matches!(other.program, Program::Pair(_));
    let others: Vec<&Other> = OTHERS.iter().filter(is_asked).filter(can_run).collect();
    let mut agreed = vec![0; others.len()];
    println!("{:<24} {:>5}  {:>9}  {:>9} {:>19}  agrees", "row", "round", "other", "furlong", "interval");
    for round in 1..=ROUNDS {
        for place in ["free", "same-core", "other-core"] {
            let here: Vec<_> =
                others.iter().zip(&mut agreed).filter(|(other, _)| other.place == place).collect();
            if here.is_empty() {
                continue;
            }
            let rows = furlong(place, here.iter().map(|(other, _)| other.command(&pair, folder.path())))?;
            for (other, agreed) in here {
                let theirs = other.found(folder.path())?;
                let (median, [low, high]) = ours(&rows, other)?;
                let agrees = (low..=high).contains(&theirs);
                *agreed += usize::from(agrees);
                let interval = format!("{low:.0}-{high:.0}");
                let name = format!("{} {place}", other.row);
                let verdict = if agrees { "yes" } else { "NO" };
                println!("{name:<24} {round:>5}  {theirs:>9.0}  {median:>9.0} {interval:>19}  {verdict}");
            }
        }
    }
    println!("\nnanoseconds a round trip; rounds that agree, of {ROUNDS}:");
    for (other, agreed) in others.iter().zip(&agreed) {
        println!("{:<24} {agreed:>5}", format!("{} {}", other.row, other.place));
    }
    Ok(agreed.iter().all(|agreed| *agreed >= MUST_AGREE))
}

/// The C program, compiled.
fn compiled(folder: &Path) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/agreement/pair.c");
    let program = folder.join("pair");
    output(Command::new("cc").arg("-O2").arg("-o").arg(&program).arg(source).arg("-lrt"))?;
    Ok(program)
}

impl Other {
    /// Round trips in about 40 ms, as long as furlong's trials are: on a virtual machine a pair that sleeps on two cores
    /// has another pace after a few hundred milliseconds than at first. A mean has its beginning in it, in which a free pair
    /// is on two cores until the scheduler puts it on one: of 300 round trips 10 to 43 us, of 16,000 6 to 7.
    fn round_trips(&self) -> &'static str {
        match (self.place, self.program) {
            ("same-core", _) => "6000",
            (_, Program::Perf) => "16000",
            _ => "1000",
        }
    }

    /// Where its figures go.
    fn file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}", self.row, self.place))
    }

    /// The line for the shell that runs it once and adds its figure to the file. furlong binds it to processors; `pair` binds its two
    /// processes to two of its own accord.
    fn command(&self, pair: &Path, folder: &Path) -> String {
        let (file, trips) = (self.file(folder), self.round_trips());
        match self.program {
            Program::Perf => {
                format!("perf bench sched pipe -l {trips} | grep usecs/op >> '{}'", file.display())
            }
            Program::Pair(kind) => {
                let place = self.place.trim_end_matches("-core");
                format!("'{}' {kind} {place} {trips} >> '{}'", pair.display(), file.display())
            }
        }
    }

    /// The median of what it has found, in nanoseconds. The file is gone then.
    fn found(&self, folder: &Path) -> Result<f64> {
        let text = fs::read_to_string(self.file(folder))?;
        fs::remove_file(self.file(folder))?;
        let unit_ns = if matches!(self.program, Program::Perf) { 1e3 } else { 1.0 };
        let first_word = |line: &str| line.split_whitespace().next().unwrap_or_default().parse::<f64>();
        let mut figures: Vec<f64> = text.lines().map(first_word).collect::<std::result::Result<_, _>>()?;
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).map(|figure| figure * unit_ns).ok_or("it found nothing".into())
    }
}

/// The rows of one run in this place, between whose trials these commands run.
fn furlong(place: &str, commands: impl Iterator<Item = String>) -> Result<Value> {
    let words =
        "run pipe unix-stream posix-mq --across 3 --apart 1s --no-save --no-progress --format json --place";
    let mut furlong = Command::new(env!("CARGO_BIN_EXE_furlong"));
    furlong.args(words.split_whitespace()).arg(place);
    for command in commands {
        // Nobody serves: each of them has both ends.
        furlong.args(["--program", "echo ready; exec sleep 600", "--program", &command]);
    }
    Ok(serde_json::from_str(&output(&mut furlong)?)?)
}

/// The median and the interval of the row that is the same.
fn ours(rows: &Value, other: &Other) -> Result<(f64, [f64; 2])> {
    let is_it = |row: &&Value| row["mechanism"] == other.row && row["placement"] == other.place;
    let row =
        rows["rows"].as_array().and_then(|rows| rows.iter().find(is_it)).ok_or("furlong lacks a row")?;
    let times = &row["round_trip_ns"];
    let number = |value: &Value| value.as_f64().ok_or("furlong lacks a figure");
    let interval = &times["median_ci95"];
    Ok((number(&times["p50"])?, [number(&interval[0])?, number(&interval[1])?]))
}

/// What a command prints.
fn output(command: &mut Command) -> Result<String> {
    let finished = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !finished.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&finished.stderr)).into());
    }
    Ok(String::from_utf8(finished.stdout)?)
}
