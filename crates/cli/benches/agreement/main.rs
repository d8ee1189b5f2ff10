//! Agreement of furlong with an independent C program (`pair.c`) that makes the same system calls: five mechanisms,
//! three placements, the median round trip and the CPU time per round trip, so 30 cells.
//!
//! Each placement is one run of furlong (`--across 3`), in which the program takes part as an own program. It runs
//! between furlong's trials, as often as they do and about as long, and writes its figures into a file. So a machine
//! whose speed changes every second affects both equally. A cell agrees if furlong's interval over the repetitions
//! contains the median of the program's figures.
//! `cargo bench -p furlong --bench agreement` takes five minutes and fails if more than 2 of 30 cells disagree.
//! `-- free futex` measures one placement and one mechanism.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

const PLACES: [&str; 3] = ["other-core", "same-core", "free"];
/// Benchmarks of furlong, and the names of the equivalent ones in the program.
const ROWS: [(&str, &str); 5] = [
    ("pipe", "pipe"),
    ("unix-stream", "unix"),
    ("eventfd", "eventfd"),
    ("futex", "futex"),
    ("posix-mq", "mq"),
];
const FIGURES: [&str; 2] = ["p50", "CPU/trip"];
/// Milliseconds that the program measures, as furlong's trials do: a pair that sleeps on two CPUs of a virtual machine becomes
/// slower after a tenth of a second.
const TIMED_MS: u32 = 40;
/// One of this number of cells may disagree.
const CELLS_PER_DISAGREEMENT: usize = 15;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

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

/// Prints the table and the verdict, and returns whether enough cells agree.
fn compare() -> Result<bool> {
    let directory = tempfile::tempdir()?;
    let pair = compiled(directory.path())?;
    // cargo adds an argument.
    let asked: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_asked = |name: &str, all: &[&str]| {
        asked.iter().all(|word| !all.contains(&word.as_str())) || asked.iter().any(|word| word == name)
    };
    let names = ROWS.map(|(row, _)| row);
    let rows: Vec<_> = ROWS.into_iter().filter(|(row, _)| is_asked(row, &names)).collect();
    let (mut cells, mut inside) = (0, 0);
    println!(
        "{:<12} {:<10} {:<8}  {:>11}  {:>9}  {:>15}  {:>5}  inside",
        "row", "placement", "figure", "independent", "furlong", "interval (ns)", "ratio"
    );
    for place in PLACES.into_iter().filter(|place| is_asked(place, &PLACES)) {
        let run = furlong(place, &rows, &pair, directory.path())?;
        for (row, _) in &rows {
            let theirs = independent(&directory.path().join(row))?;
            for ((figure, theirs), (ours, [low, high])) in
                FIGURES.iter().zip(theirs).zip(measured(&run, row)?)
            {
                let agrees = (low..=high).contains(&theirs);
                (cells, inside) = (cells + 1, inside + usize::from(agrees));
                let (interval, verdict) = (format!("{low:.0}-{high:.0}"), if agrees { "yes" } else { "NO" });
                let ratio = ours / theirs;
                println!(
                    "{row:<12} {place:<10} {figure:<8}  {theirs:>11.0}  {ours:>9.0}  {interval:>15}  {ratio:>5.2}  {verdict}"
                );
            }
        }
    }
    let most_outside = cells / CELLS_PER_DISAGREEMENT;
    let agrees = cells - inside <= most_outside;
    let verdict = if agrees { "furlong agrees" } else { "furlong DISAGREES" };
    println!("\n{inside} of {cells} inside, at least {} required: {verdict}", cells - most_outside);
    Ok(agrees)
}

/// Compiles the C program.
fn compiled(directory: &Path) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/agreement/pair.c");
    let program = directory.join("pair");
    output(Command::new("cc").arg("-O2").arg("-o").arg(&program).arg(source).arg("-lrt"))?;
    Ok(program)
}

/// Runs furlong and, between its trials, the program.
fn furlong(place: &str, rows: &[(&str, &str)], pair: &Path, directory: &Path) -> Result<Value> {
    let mut furlong = Command::new(env!("CARGO_BIN_EXE_furlong"));
    furlong.arg("run").args(rows.iter().map(|(row, _)| row));
    furlong.args("--across 3 --no-save --no-progress --format json --place".split(' ')).arg(place);
    for (row, kind) in rows {
        let file = directory.join(row);
        let command = format!(
            "'{}' {kind} {} {TIMED_MS} >> '{}'",
            pair.display(),
            place.trim_end_matches("-core"),
            file.display()
        );
        // The program is both ends, so there is no server.
        furlong.args(["--program", "echo ready; exec sleep 600", "--program", &command]);
    }
    Ok(serde_json::from_str(&output(&mut furlong)?)?)
}

/// Returns the medians of both figures in a file of the program, and removes it.
fn independent(file: &Path) -> Result<[f64; 2]> {
    let text = fs::read_to_string(file)?;
    fs::remove_file(file)?;
    let column = |at: usize| -> Result<f64> {
        let figure = |line: &str| {
            line.split(' ').nth(at).ok_or("a figure is missing")?.parse::<f64>().map_err(Into::into)
        };
        let mut figures: Vec<f64> = text.lines().map(figure).collect::<Result<_>>()?;
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().ok_or_else(|| "the program found nothing".into())
    };
    Ok([column(0)?, column(1)?])
}

/// Returns both figures of a row of furlong, each with its interval.
fn measured(run: &Value, row: &str) -> Result<[(f64, [f64; 2]); 2]> {
    let is_it = |found: &&Value| found["mechanism"] == row;
    let found =
        run["rows"].as_array().and_then(|rows| rows.iter().find(is_it)).ok_or("furlong lacks a row")?;
    let number = |value: &Value| value.as_f64().ok_or("furlong lacks a figure");
    let interval = |ends: &Value| -> Result<_> { Ok([number(&ends[0])?, number(&ends[1])?]) };
    let (times, cpu) = (&found["round_trip_ns"], &found["cpu_ns_per_round_trip"]);
    Ok([
        (number(&times["p50"])?, interval(&times["median_ci95"])?),
        (number(&cpu["user"])? + number(&cpu["system"])?, interval(&cpu["ci95"])?),
    ])
}

/// Runs a command and returns its output.
fn output(command: &mut Command) -> Result<String> {
    let finished = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !finished.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&finished.stderr)).into());
    }
    Ok(String::from_utf8(finished.stdout)?)
}
