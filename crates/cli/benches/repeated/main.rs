//! Share of runs whose interval contains the median of several runs: the figure in docs/method.md.
//!
//! Ten runs follow each other, about ten seconds apart. For each benchmark and placement, the interval of each run is compared with
//! the median of all ten runs and with the p50 of the next run. The same is done for three successive runs together, whose interval
//! reaches from the lowest to the highest end as that of `--across 3` does, and the run after them.
//! `cargo bench -p furlong --bench repeated` takes two minutes.

use furlong_stats::median;
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

const RUNS: usize = 10;
/// Time from the beginning of one run to the beginning of the next.
const PERIOD: Duration = Duration::from_secs(10);
/// Runs whose intervals are joined.
const REPETITIONS: usize = 3;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The median of a run and its interval.
#[derive(Clone, Copy)]
struct MedianInterval {
    p50: f64,
    interval: [f64; 2],
}

impl MedianInterval {
    fn holds(self, value: f64) -> bool {
        (self.interval[0]..=self.interval[1]).contains(&value)
    }
}

/// A number of intervals that hold a figure, of all.
#[derive(Default, Clone, Copy)]
struct Share(usize, usize);

impl Share {
    fn add(&mut self, holds: bool) {
        *self = Share(self.0 + usize::from(holds), self.1 + 1);
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.pad(&format!("{} of {}", self.0, self.1))
    }
}

fn main() -> Result<()> {
    let begin = Instant::now();
    let mut runs = Vec::new();
    for number in 0..RUNS {
        std::thread::sleep((PERIOD * number as u32).saturating_sub(begin.elapsed()));
        runs.push(measure()?);
    }
    println!("{RUNS} runs in {:.0} s; intervals that hold a figure:", begin.elapsed().as_secs_f64());
    let heads = ["median of all", "next run", "3 runs: all", "3 runs: next"];
    let [all, next, joined, joined_next] = heads;
    println!("{:<28} {:>15} {all:>14} {next:>14} {joined:>14} {joined_next:>14}", "row", "p50 (ns)");
    let mut sums = [Share::default(); 4];
    for row in 0..runs[0].len() {
        let found: Vec<MedianInterval> = runs.iter().map(|run| run[row].1).collect();
        let shares = shares(&found);
        let mut medians: Vec<f64> = found.iter().map(|found| found.p50).collect();
        medians.sort_by(f64::total_cmp);
        let range = format!("{:.0}-{:.0}", medians[0], medians[RUNS - 1]);
        print!("{:<28} {range:>15}", runs[0][row].0);
        shares.iter().for_each(|share| print!(" {share:>14}"));
        println!();
        for (sum, share) in sums.iter_mut().zip(shares) {
            *sum = Share(sum.0 + share.0, sum.1 + share.1);
        }
    }
    print!("{:<28} {:>15}", "sum", "");
    sums.iter().for_each(|share| print!(" {share:>14}"));
    println!();
    Ok(())
}

/// Returns how often single and joined intervals of a row hold the median of all runs and the p50 of the run after them.
fn shares(found: &[MedianInterval]) -> [Share; 4] {
    let medians: Vec<f64> = found.iter().map(|found| found.p50).collect();
    let median = median(&medians).expect("several runs");
    let mut shares = [Share::default(); 4];
    for (at, length) in [(0, 1), (2, REPETITIONS)] {
        for (first, part) in found.windows(length).enumerate() {
            let low = part.iter().map(|found| found.interval[0]).fold(f64::INFINITY, f64::min);
            let high = part.iter().map(|found| found.interval[1]).fold(0.0, f64::max);
            let joined = MedianInterval { interval: [low, high], ..part[0] };
            shares[at].add(joined.holds(median));
            if let Some(next) = found.get(first + length) {
                shares[at + 1].add(joined.holds(next.p50));
            }
        }
    }
    shares
}

/// Runs furlong once and returns its rows.
fn measure() -> Result<Vec<(String, MedianInterval)>> {
    let words = "run pipe/block unix-stream/block posix-shm/spin --place other-core --place same-core --no-save --no-progress \
                 --format json";
    let finished = Command::new(env!("CARGO_BIN_EXE_furlong")).args(words.split_whitespace()).output()?;
    let run: Value = serde_json::from_slice(&finished.stdout)?;
    let rows = run["rows"].as_array().ok_or("a run without rows")?;
    let mut named = Vec::new();
    for row in rows {
        let word = |key: &str| row[key].as_str().unwrap_or("?");
        let times = &row["round_trip_ns"];
        let number = |value: &Value| value.as_f64().ok_or("furlong lacks a figure");
        let interval = &times["median_ci95"];
        let found = MedianInterval {
            p50: number(&times["p50"])?,
            interval: [number(&interval[0])?, number(&interval[1])?],
        };
        named.push((format!("{}/{} {}", word("mechanism"), word("wait"), word("placement")), found));
    }
    named.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(named)
}
