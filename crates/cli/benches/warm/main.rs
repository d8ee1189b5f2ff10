//! Agreement of benchmarks in other languages with short equivalent programs in these languages, once they are warm:
//! `node-fork-json`, `python-mp-pipe-pickle` and `java-unix-socket`.
//!
//! A round is one run of furlong for each benchmark and placement, in which the program takes part as an own program:
//! it runs between furlong's trials, and writes its median into a file. The figure of a benchmark is the median over
//! rounds of furlong's p50 divided by the program's.
//! `cargo bench -p furlong --bench warm` takes ten minutes; `-- same-core 3` measures one placement in three rounds,
//! and `-- node-fork-json` one benchmark.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

/// The number of rounds of all benchmarks.
const ROUNDS: usize = 7;
/// The largest factor between a benchmark and its program.
const MOST: f64 = 1.25;
const PLACES: [&str; 2] = ["same-core", "other-core"];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A benchmark, its adapter, and the program that does the same.
struct Pair {
    row: &'static str,
    adapter: &'static str,
    program: &'static str,
    /// Options of furlong. A pair that sleeps on two CPUs of a virtual machine becomes slower after a tenth of a second
    /// (docs/biases.md), so all are measured after that.
    options: &'static str,
}

const PAIRS: [Pair; 3] = [
    Pair { row: "node-fork-json", adapter: "node", program: "node 'SOURCES/pair.js'", options: "" },
    Pair {
        row: "python-mp-pipe-pickle",
        adapter: "python",
        program: "python3 'SOURCES/pair.py'",
        options: "--warm-up 200ms",
    },
    Pair {
        row: "java-unix-socket",
        adapter: "java",
        // Java cannot set its own CPU affinity.
        program: "rm -f FOLDER/socket; taskset -c 0 java -cp FOLDER Pair FOLDER/socket",
        options: "",
    },
];

fn main() -> ExitCode {
    match compare() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("warm: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compares everything, prints it, and returns whether all benchmarks are near enough.
fn compare() -> Result<bool> {
    // cargo adds an argument.
    let asked: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let rounds = asked.iter().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS);
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let is_asked = |name: &str, all: &[&str]| {
        let among = |name: &str| asked.iter().any(|word| word == name);
        among(name) || !all.iter().any(|name| among(name))
    };
    let rows = PAIRS.each_ref().map(|pair| pair.row);
    let pairs: Vec<&Pair> = PAIRS
        .iter()
        .filter(|pair| is_asked(pair.row, &rows))
        .filter(|pair| pair.is_installed(folder))
        .collect();
    println!(
        "{:<22} {:<10} {:>5}  {:>9}  {:>9}  ratio",
        "benchmark", "placement", "round", "program", "furlong"
    );
    let mut ratios = vec![Vec::new(); pairs.len() * PLACES.len()];
    for round in 1..=rounds {
        for (place_index, place) in PLACES.into_iter().enumerate() {
            if !is_asked(place, &PLACES) {
                continue;
            }
            for (index, pair) in pairs.iter().enumerate() {
                let ours = pair.furlong(place, folder)?;
                let theirs = pair.found(folder)?;
                let ratio = ours / theirs;
                ratios[place_index * pairs.len() + index].push(ratio);
                println!("{:<22} {place:<10} {round:>5}  {theirs:>9.0}  {ours:>9.0}  {ratio:.2}", pair.row);
            }
        }
    }
    println!("\nfurlong's p50 by the program's, median of rounds (at most {MOST}):");
    let mut is_near = !pairs.is_empty();
    for (index, ratios) in ratios.into_iter().enumerate().filter(|(_, ratios)| !ratios.is_empty()) {
        let ratio = median(ratios);
        is_near &= (1.0 / MOST..=MOST).contains(&ratio);
        println!("{:<22} {:<10} {ratio:.2}", pairs[index % pairs.len()].row, PLACES[index / pairs.len()]);
    }
    Ok(is_near)
}

impl Pair {
    /// Installs its adapter and compiles its program. Prints what the machine lacks.
    fn is_installed(&self, folder: &Path) -> bool {
        let adapter = Command::new(env!("CARGO_BIN_EXE_furlong"))
            .args(["adapter", "install", self.adapter])
            .env("XDG_DATA_HOME", folder)
            .output();
        let compiled = self.adapter != "java"
            || Command::new("javac")
                .arg("-d")
                .arg(folder)
                .arg(sources() + "/Pair.java")
                .status()
                .is_ok_and(|status| status.success());
        let is_installed = compiled && adapter.is_ok_and(|adapter| adapter.status.success());
        if !is_installed {
            println!("{}: adapter {} cannot be installed here, so it is left out", self.row, self.adapter);
        }
        is_installed
    }

    /// Returns the median of the benchmark in this place, from a run that runs the program between its trials.
    fn furlong(&self, place: &str, folder: &Path) -> Result<f64> {
        let words = format!(
            "run {} --trials 5 --place {place} {} --no-save --no-progress --format json",
            self.row, self.options
        );
        let mut furlong = Command::new(env!("CARGO_BIN_EXE_furlong"));
        furlong.args(words.split_whitespace()).args(["--program", "", "--program"]);
        let finished = furlong.arg(self.command(place, folder)).env("XDG_DATA_HOME", folder).output()?;
        if !finished.status.success() {
            return Err(format!("{furlong:?}: {}", String::from_utf8_lossy(&finished.stderr)).into());
        }
        let rows: Value = serde_json::from_slice(&finished.stdout)?;
        let rows = rows["rows"].as_array().ok_or("furlong printed no rows")?;
        let row = rows.iter().find(|row| row["mechanism"] == self.row);
        let p50 = row.and_then(|row| row["round_trip_ns"]["p50"].as_f64());
        p50.ok_or_else(|| format!("furlong lacks {}", self.row).into())
    }

    /// Returns the command that adds the program's median to a file, pinned as furlong pins its roles.
    fn command(&self, place: &str, folder: &Path) -> String {
        let cpus = if place == "same-core" { "0 0" } else { "0 1" };
        let program = self.program.replace("SOURCES", &sources());
        let program = program.replace("FOLDER", &folder.display().to_string());
        format!("{program} {cpus} >> '{}'", folder.join(self.row).display())
    }

    /// Returns the median of the figures in the file, in nanoseconds, and removes the file.
    fn found(&self, folder: &Path) -> Result<f64> {
        let text = fs::read_to_string(folder.join(self.row))?;
        fs::remove_file(folder.join(self.row))?;
        let figures = text.lines().map(str::parse).collect::<std::result::Result<Vec<f64>, _>>()?;
        if figures.is_empty() { Err("it found nothing".into()) } else { Ok(median(figures)) }
    }
}

/// Returns the directory of the programs.
fn sources() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/benches/warm").to_owned()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
