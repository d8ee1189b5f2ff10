//! Whether `furlong recommend` keeps its time limit for any workload, and whether its factors agree with a direct
//! run.
//!
//! Twenty workloads are requested with `--within 20s`. Each must end within 1.2 times that limit with an answer or a
//! reason. After each, one `furlong run` measures its first benchmark, some ranked benchmarks and some eliminated
//! ones, interleaved, with the same placement. The interval of each printed factor should overlap the interval of the
//! factor in that run.
//! `cargo bench -p furlong --bench recommend` takes fifteen minutes; `-- 7 16` requests two of the workloads.

use serde_json::Value;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{array, env};

/// The requested time limit.
const WITHIN: Duration = Duration::from_secs(20);
/// The largest share of the time limit that a workload may take.
const MOST: f64 = 1.2;
/// The number of compared factors of ranked benchmarks, and of eliminated ones.
const COMPARED: usize = 4;
/// The share of factors that must agree: intervals hold within one run, and the two runs are at different times.
const LEAST_AGREEING: f64 = 0.9;

/// For low rates: without it, trials have 100 messages, and few of them fit into the time.
const SLOW: &str = "--budget 300ms";

/// For low rates to several receivers, since a run measures one receiver too.
const FRAMES: &str = "--budget 150ms";

/// The options of `recommend`, and those of `run` that it lacks, for the same messages.
const WORKLOADS: [(&str, &str); 20] = [
    ("--size 8 --rate 10/s", SLOW),
    ("--size 8 --rate 100k/s", ""),
    ("--size 8 --spin", ""),
    ("--size 128 --rate 1k/s", ""),
    ("--size 128 --pattern one-way", ""),
    ("--size 1KiB --rate 10k/s --pattern one-way", ""),
    ("--size 2KiB --rate 5k/s --pattern one-way --boundary container", "--boundary container"),
    ("--size 4KiB --rate 10k/s", ""),
    ("--size 4KiB --rate 100/s --boundary user --languages python", "--budget 300ms --boundary user"),
    ("--size 64KiB --rate 1k/s --languages rust,go", ""),
    ("--size 64KiB --boundary container --trust none", "--boundary container"),
    ("--size 128 --rate 1k/s --boundary host", ""),
    ("--size 1MiB --rate 100/s", SLOW),
    ("--size 1MiB --pattern one-way", ""),
    ("--size 8MiB --rate 10/s", SLOW),
    ("--size 6MB --rate 60/s --pattern one-way --receivers 3", FRAMES),
    ("--size 8MiB --pattern one-way --receivers 5", ""),
    ("--size 64 --rate 1k/s --pattern one-way --receivers 5", ""),
    ("--size 2MiB --rate 60/s --pattern one-way --receivers 3 --latest", FRAMES),
    ("--size 256 --rate 10k/s --pattern one-way --latest", "--receivers 1"),
];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A factor between two benchmarks as `recommend` prints it.
struct Factor {
    row: String,
    than: String,
    times: f64,
    interval: [f64; 2],
}

/// The result of a workload.
struct Outcome {
    took: Duration,
    agreeing: usize,
    compared: usize,
    has_answer: bool,
}

fn main() -> ExitCode {
    // cargo adds an argument.
    let asked: Vec<usize> = env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let (mut is_good, mut agreeing, mut compared) = (true, 0, 0);
    for (index, (words, of_run)) in WORKLOADS.iter().enumerate() {
        if !asked.is_empty() && !asked.contains(&(index + 1)) {
            continue;
        }
        match ask(index + 1, words, of_run) {
            Ok(outcome) => {
                is_good &= outcome.has_answer && outcome.took <= WITHIN.mul_f64(MOST);
                agreeing += outcome.agreeing;
                compared += outcome.compared;
            }
            Err(error) => {
                println!("{:>2}  {words}: {error}", index + 1);
                is_good = false;
            }
        }
    }
    println!("factors that agree with a direct run: {agreeing} of {compared}");
    match is_good && agreeing as f64 >= LEAST_AGREEING * compared as f64 {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Asks for one workload, compares its factors with a direct run, and prints both.
fn ask(number: usize, words: &str, of_run: &str) -> Result<Outcome> {
    let began = Instant::now();
    let within = format!("{}s", WITHIN.as_secs());
    let found = furlong(&format!("recommend {words} --within {within}"), &[])?;
    let took = began.elapsed();
    let choice = &found["choice"];
    let answer = match choice.is_null() {
        true => "none".to_owned(),
        false => name(choice),
    };
    let has_reason = found["excluded"].as_array().is_some_and(|excluded| !excluded.is_empty());
    let factors = factors(&found);
    let mut rows: Vec<&str> =
        factors.iter().flat_map(|factor| [factor.row.as_str(), factor.than.as_str()]).collect();
    rows.sort_unstable();
    rows.dedup();
    let direct = match rows.is_empty() {
        true => Value::Null,
        false => furlong(&format!("run {} --trials 7 --within {within}", options(words, of_run)), &rows)?,
    };
    let (mut agreeing, mut compared, mut others) = (0, 0, Vec::new());
    for factor in &factors {
        let Some((times, interval)) = measured(&direct, factor, words) else {
            others.push(format!("{} could not be measured directly", factor.row));
            continue;
        };
        compared += 1;
        if factor.interval[0] <= interval[1] && interval[0] <= factor.interval[1] {
            agreeing += 1;
        } else {
            let [[low, high], [direct_low, direct_high]] = [factor.interval, interval];
            others.push(format!(
                "{} / {}: {:.3} ({low:.3}-{high:.3}), directly {times:.3} ({direct_low:.3}-{direct_high:.3})",
                factor.row, factor.than, factor.times
            ));
        }
    }
    println!(
        "{number:>2}  {:>5.1} s  {answer:<22} {agreeing} of {compared} agree  {words}",
        took.as_secs_f64()
    );
    others.iter().for_each(|other| println!("      {other}"));
    Ok(Outcome { took, agreeing, compared, has_answer: !choice.is_null() || has_reason })
}

/// Returns the JSON of furlong with these words and benchmarks.
fn furlong(words: &str, rows: &[&str]) -> Result<Value> {
    let mut furlong = Command::new(env!("CARGO_BIN_EXE_furlong"));
    furlong.args(words.split_whitespace()).args(rows);
    let finished = furlong.args(["--format", "json", "--no-save", "--no-progress"]).output()?;
    let error = || format!("{furlong:?}: {}", String::from_utf8_lossy(&finished.stderr));
    serde_json::from_slice(&finished.stdout).map_err(|_| error().into())
}

/// Returns the options of a run that measures the same messages.
fn options(words: &str, of_run: &str) -> String {
    let mut options = vec![of_run.to_owned()];
    let mut words = words.split_whitespace();
    let mut is_to_several = of_run.contains("--receivers");
    let mut is_one_way = false;
    while let Some(option) = words.next() {
        match option {
            "--spin" | "--latest" => {}
            "--size" | "--rate" => options.push(format!("{option} {}", words.next().unwrap_or_default())),
            "--receivers" => {
                options.push(format!("{option} {}", words.next().unwrap_or_default()));
                is_to_several = true;
            }
            _ => is_one_way |= words.next() == Some("one-way"),
        }
    }
    let pattern = match (is_to_several, is_one_way) {
        (true, _) => "fan-out",
        (_, true) => "one-way",
        _ => "round-trip",
    };
    format!("{} --pattern {pattern} --place other-core", options.join(" "))
}

/// Returns the factors that are compared: of benchmarks that are ranked to the first, and of those that were dropped to the best of
/// the early look, from the smallest to the largest.
fn factors(found: &Value) -> Vec<Factor> {
    let none = Vec::new();
    let list = |of: &str| found[of].as_array().unwrap_or(&none);
    let factor = |row: &Value, than: String| {
        let interval = row["times_interval"].as_array()?;
        let interval = array::from_fn(|end| interval[end].as_f64().unwrap_or_default());
        Some(Factor { row: name(row), than, times: row["times"].as_f64()?, interval })
    };
    let spread = |factors: Vec<Factor>| {
        let each = factors.len().div_ceil(COMPARED).max(1);
        factors.into_iter().step_by(each)
    };
    let first = list("ranked").first().map(name).unwrap_or_default();
    let ranked = list("ranked").iter().skip(1).filter_map(|row| factor(row, first.clone()));
    let dropped = list("eliminated")
        .iter()
        .filter_map(|row| factor(row, row["than"].as_str().unwrap_or_default().to_owned()));
    let dropped = dropped.filter(|factor| factor.row != factor.than);
    spread(ranked.collect()).chain(spread(dropped.collect())).collect()
}

/// Returns a factor and its interval in a direct run; `None` if one of the benchmarks has no interval there.
fn measured(direct: &Value, factor: &Factor, words: &str) -> Option<(f64, [f64; 2])> {
    // A run with several receivers also measures a single receiver.
    let several = words.split_once("--receivers ").and_then(|(_, rest)| rest.split(' ').next());
    let is_it = |row: &&Value, wanted: &str| {
        let group = row["group"].as_str().unwrap_or_default();
        let parties = several.map(|number| format!("/{number}-receivers"));
        name(row) == wanted && parties.is_none_or(|parties| group.contains(&parties))
    };
    let rows = direct["rows"].as_array()?;
    let figures = |wanted: &str| {
        let row = rows.iter().find(|row| is_it(row, wanted))?;
        let comparable = &row["comparable"];
        let end = |end: usize| comparable["interval_ns"][end].as_f64();
        Some([comparable["median_ns"].as_f64()?, end(0)?, end(1)?])
    };
    let ([median, low, high], [other, other_low, other_high]) =
        (figures(&factor.row)?, figures(&factor.than)?);
    Some((median / other, [low / other_high, high / other_low]))
}

/// Returns the name of a benchmark.
fn name(row: &Value) -> String {
    let text = |key: &str| row[key].as_str().unwrap_or_default();
    format!("{}/{}", text("mechanism"), text("wait"))
}
