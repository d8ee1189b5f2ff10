//! Whether furlong agrees with others: `perf bench sched pipe` and a small C program, beside its own rows.
//!
//! In each round the others run, then furlong (`--across 3`), then the others again, all with the same placement. A round
//! agrees if furlong's interval contains the median of the others' runs. Run it on a machine with nothing else to do:
//! `cargo bench -p furlong --bench agreement`. It takes about five minutes.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Rounds of everything.
const ROUNDS: usize = 10;
/// Runs of each other program before furlong's, and as many after it.
const RUNS: usize = 3;
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

/// perf pins nobody; on one core, taskset does.
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
    let others: Vec<&Other> =
        OTHERS.iter().filter(|other| has_perf || matches!(other.program, Program::Pair(_))).collect();
    let mut agreed = vec![0; others.len()];
    println!("{:<24} {:>5}  {:>9}  {:>9} {:>19}  agrees", "row", "round", "other", "furlong", "interval");
    for round in 1..=ROUNDS {
        let mut figures = vec![Vec::new(); others.len()];
        run_all(&others, &pair, &mut figures)?;
        let rows = furlong()?;
        run_all(&others, &pair, &mut figures)?;
        for ((other, figures), agreed) in others.iter().zip(&mut figures).zip(&mut agreed) {
            figures.sort_by(f64::total_cmp);
            let theirs = figures[figures.len() / 2];
            let (median, [low, high]) = ours(&rows, other)?;
            let agrees = (low..=high).contains(&theirs);
            *agreed += usize::from(agrees);
            let interval = format!("{low:.0}-{high:.0}");
            let name = format!("{} {}", other.row, other.place);
            let verdict = if agrees { "yes" } else { "NO" };
            println!("{name:<24} {round:>5}  {theirs:>9.0}  {median:>9.0} {interval:>19}  {verdict}");
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

/// Each other program in turn, over and over.
fn run_all(others: &[&Other], pair: &Path, figures: &mut [Vec<f64>]) -> Result<()> {
    for _ in 0..RUNS {
        for (other, figures) in others.iter().zip(figures.iter_mut()) {
            figures.push(other.run(pair)?);
        }
    }
    Ok(())
}

impl Other {
    /// Round trips in about 40 ms, as long as furlong's trials are: on a virtual machine a pair that sleeps on two cores
    /// has another pace after a few hundred milliseconds than at first.
    fn round_trips(&self) -> &'static str {
        if self.place == "same-core" { "6000" } else { "1000" }
    }

    /// What it takes for a round trip, in nanoseconds.
    fn run(&self, pair: &Path) -> Result<f64> {
        match self.program {
            Program::Perf => {
                let pinned: &[&str] = if self.place == "same-core" { &["taskset", "-c", "0"] } else { &[] };
                let words = [pinned, &["perf", "bench", "sched", "pipe", "-l", self.round_trips()]].concat();
                let text = output(Command::new(words[0]).args(&words[1..]))?;
                let line =
                    text.lines().find(|line| line.contains("usecs/op")).ok_or("perf says no usecs/op")?;
                Ok(line.split_whitespace().next().unwrap_or_default().parse::<f64>()? * 1e3)
            }
            Program::Pair(kind) => {
                let place = self.place.trim_end_matches("-core");
                Ok(output(Command::new(pair).args([kind, place, self.round_trips()]))?.trim().parse()?)
            }
        }
    }
}

/// The rows of one run.
fn furlong() -> Result<Value> {
    let words = "run pipe unix-stream posix-mq --place free --place same-core --place other-core --across 3 --apart 1s \
                 --no-save --no-progress --format json";
    let text = output(Command::new(env!("CARGO_BIN_EXE_furlong")).args(words.split_whitespace()))?;
    Ok(serde_json::from_str(&text)?)
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
