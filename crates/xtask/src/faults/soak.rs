//! `cargo xtask soak`: random runs with random faults, one after the other, while one supervisor measures
//! continuously. It reports failures with the seed that reproduces them, and the growth of memory and file
//! descriptors.

use super::cell::{self, ScriptResult};
use super::{Options, build, judge, rows};
use crate::driver::packages;
use anyhow::{Context, bail, ensure};
use fastrand::Rng;
use judge::Verdict;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Disturbances of a run, which `soak.sh` implements.
const HITS: [&str; 13] = [
    "nothing",
    "kill",
    "kill",
    "kill",
    "pause",
    "pause",
    "pause-all",
    "kill-all",
    "INT",
    "TERM",
    "HUP",
    "twice",
    "QUIT",
];
/// Limits that a run may be started with.
const LIMITS: [&str; 12] = [
    "prlimit --nofile=5:5",
    "prlimit --nofile=14:14",
    "prlimit --nofile=20:20",
    "prlimit --nofile=28:28",
    "prlimit --nofile=64:64",
    "prlimit --as=60000000:60000000",
    "prlimit --as=200000000:200000000",
    "prlimit --msgqueue=0:0",
    "prlimit --sigpending=0:0",
    "prlimit --memlock=0:0",
    "prlimit --fsize=4096:4096",
    "prlimit --stack=1048576:1048576",
];
/// Calls that fail once, and how.
const CALLS: [&str; 14] = [
    "openat",
    "mmap",
    "socketpair",
    "pipe2",
    "poll",
    "read",
    "write",
    "sendto",
    "recvfrom",
    "ftruncate",
    "unlink",
    "rmdir",
    "clone3",
    "waitid",
];
const ERRORS: [&str; 7] = ["EINTR", "ENOMEM", "ENOSPC", "EIO", "EPERM", "EMFILE", "EAGAIN"];
/// More growth of a supervisor's memory than the records that it holds explain, in bytes.
const SPARE_BYTES: u64 = 8 << 20;

/// Options of the command line.
pub struct Soak {
    length: Duration,
    seed: u64,
    program: Option<PathBuf>,
}

impl Soak {
    /// Parses the arguments of `soak`.
    ///
    /// # Errors
    /// Returns an error for an unknown argument or a missing length.
    pub fn of(words: &[&str]) -> anyhow::Result<Soak> {
        let mut soak = Soak { length: Duration::ZERO, seed: 1, program: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match *word {
                "--for" => {
                    soak.length = length(value)
                        .with_context(|| format!("{value} is not a valid duration: write 30m, for example"))?
                }
                "--seed" => {
                    soak.seed = value
                        .parse()
                        .with_context(|| format!("{value} is not a valid seed: write a number"))?
                }
                "--program" => soak.program = Some(PathBuf::from(value)),
                other => bail!("soak has no option {other}"),
            }
        }
        ensure!(!soak.length.is_zero(), "the duration is missing: --for 30m");
        Ok(soak)
    }
}

/// Reads a length such as 90s, 30m or 1h.
pub fn length(text: &str) -> Option<Duration> {
    let number = text.get(..text.len().checked_sub(1)?)?.parse::<u64>().ok()?;
    let seconds = match text.as_bytes().last()? {
        b's' => 1,
        b'm' => 60,
        b'h' => 3600,
        _ => return None,
    };
    Some(Duration::from_secs(number.checked_mul(seconds)?))
}

/// Soaks.
///
/// # Errors
/// Returns an error if a run failed, leaked or left something behind.
pub fn run(soak: &Soak) -> anyhow::Result<()> {
    packages::provide(&["strace"])?;
    let furlong = soak.program.clone().map_or_else(build, Ok)?;
    let (rows, _) = rows(&furlong, &Options::default())?;
    let begin = Instant::now();
    println!(
        "xtask: soak for {} s from seed {}, {} benchmarks",
        soak.length.as_secs(),
        soak.seed,
        rows.len()
    );
    let (long, rounds) = std::thread::scope(|scope| {
        let long = scope.spawn(|| long_run(&furlong, soak));
        let rounds = all_rounds(&furlong, &rows, soak, begin + soak.length);
        (long.join(), rounds)
    });
    let rounds = rounds?;
    let long = long.map_err(|_| anyhow::anyhow!("the long run's thread has panicked"))??;
    for (what, number) in &rounds.of_each {
        println!("  {what}: {number}");
    }
    println!("{} rounds, {} failed; exit codes {:?}", rounds.number, rounds.failed.len(), rounds.codes);
    println!("{long}");
    ensure!(rounds.failed.is_empty(), "seeds that failed: {:?}", rounds.failed);
    Ok(())
}

/// Results of all rounds.
#[derive(Default)]
struct Rounds {
    number: u64,
    of_each: BTreeMap<String, u64>,
    codes: BTreeMap<i32, u64>,
    failed: Vec<u64>,
}

fn all_rounds(furlong: &Path, rows: &[String], soak: &Soak, end: Instant) -> anyhow::Result<Rounds> {
    let mut rounds = Rounds::default();
    while rounds.number == 0 || Instant::now() < end {
        let seed = soak.seed.wrapping_add(rounds.number);
        let round = Round::of(seed, rows);
        let ended = cell::run(furlong, include_str!("soak.sh"), &round.variables(), Duration::from_secs(90))?;
        if let Verdict::Failed(why) = round.judged(&ended) {
            println!("xtask: seed {seed} failed: {why}: {round:?}");
            rounds.failed.push(seed);
        }
        rounds.number += 1;
        *rounds.of_each.entry(round.kind()).or_default() += 1;
        *rounds.codes.entry(ended.code.unwrap_or(-1)).or_default() += 1;
    }
    Ok(rounds)
}

/// A run, and what happens to it.
#[derive(Debug)]
struct Round {
    rows: Vec<String>,
    options: String,
    before: String,
    hit: &'static str,
    pick: usize,
    delay_ms: usize,
    pause_ms: usize,
}

impl Round {
    fn of(seed: u64, rows: &[String]) -> Round {
        let mut random = Rng::with_seed(seed);
        let chosen = (0..=random.usize(..3)).map(|_| rows[random.usize(..rows.len())].clone()).collect();
        let options = format!(
            "--trials {} --budget {}ms --warm-up 1ms --timeout 3s -m {} -s {} --place {} --seed {}",
            1 + random.usize(..3),
            1 + random.usize(..60),
            random.choice(["round-trip", "round-trip", "one-way", "request"]).unwrap_or_default(),
            random.choice(["1", "64", "128", "4KiB", "8KiB", "64KiB", "1MiB"]).unwrap_or_default(),
            random.choice(["other-core", "same-core", "free", "one-process"]).unwrap_or_default(),
            seed >> 1,
        );
        // A run with an injected error gets no second fault, because their effects could not be distinguished. A run
        // under a limit may get one.
        let before = match random.usize(..4) {
            0 => random.choice(LIMITS).unwrap_or_default().to_owned(),
            1 => {
                // The loader's own calls come first.
                let (call, number) = (random.choice(CALLS).unwrap_or_default(), 20 + random.usize(..60));
                let what = match random.usize(..3) {
                    0 => "signal=KILL".to_owned(),
                    _ => format!("error={}", random.choice(ERRORS).unwrap_or_default()),
                };
                format!("strace -f -qq -o trace -e trace={call} -e inject={call}:{what}:when={number}")
            }
            _ => String::new(),
        };
        let hit =
            if before.starts_with("strace") { "nothing" } else { random.choice(HITS).unwrap_or_default() };
        Round {
            rows: chosen,
            options,
            before,
            hit,
            pick: random.usize(..1000),
            delay_ms: random.usize(..500),
            pause_ms: random.usize(..400),
        }
    }

    fn variables(&self) -> [(&'static str, String); 7] {
        let seconds = |ms: usize| format!("{}.{:03}", ms / 1000, ms % 1000);
        [
            ("ROWS", self.rows.join(" ")),
            ("OPTIONS", self.options.clone()),
            ("BEFORE", self.before.clone()),
            ("HIT", self.hit.to_owned()),
            ("PICK", self.pick.to_string()),
            ("DELAY", seconds(self.delay_ms)),
            ("PAUSE", seconds(self.pause_ms)),
        ]
    }

    /// Describes the round in a few words.
    fn kind(&self) -> String {
        let before = match self.before.split(' ').next() {
            Some("prlimit") => "under a limit, ",
            Some("strace") if self.before.contains("KILL") => "killed at a call, ",
            Some("strace") => "a call fails, ",
            _ => "",
        };
        format!("{before}{}", self.hit)
    }

    fn judged(&self, ended: &ScriptResult) -> Verdict {
        if let failed @ Verdict::Failed(_) = judge::judge_script(ended) {
            return failed;
        }
        let killed = matches!(self.hit, "kill" | "kill-all") || self.before.contains("KILL");
        let right = match ended.code {
            Some(0 | 1 | 7) => true,
            // A program under a limit may not even be loaded, and its options may ask for what it forbids.
            Some(2 | 127) => !self.before.is_empty(),
            Some(137) => killed,
            Some(130) => matches!(self.hit, "INT" | "twice"),
            Some(143) => self.hit == "TERM",
            Some(129) => self.hit == "HUP",
            Some(131) => self.hit == "QUIT",
            _ => false,
        };
        let said: String = ended.stderr.trim().chars().take(400).collect();
        if !right {
            return Verdict::Failed(format!("exit code {:?}: {said}", ended.code));
        }
        if ended.stderr.contains("panicked at") {
            return Verdict::Failed(said);
        }
        judge::figures(ended).map_or(Verdict::Passed, Verdict::Failed)
    }
}

/// Measures continuously, and reports the growth of memory and file descriptors.
///
/// # Errors
/// Returns an error if the run failed, or if it grew.
fn long_run(furlong: &Path, soak: &Soak) -> anyhow::Result<String> {
    let variables = [
        ("ROWS", "pipe unix-stream posix-shm posix-mq sysv-mq fifo memfd-shm process-vm".to_owned()),
        ("SEED", soak.seed.to_string()),
        ("SECONDS_IN_ALL", soak.length.as_secs().to_string()),
    ];
    let limit = soak.length + Duration::from_secs(120);
    let ended = cell::run(furlong, include_str!("soak_long.sh"), &variables, limit)?;
    if let Verdict::Failed(why) = judge::judge_script(&ended) {
        bail!("the long run: {why}");
    }
    let growth = Growth::of(&ended.stdout).context("the long run has too few samples")?;
    growth.check()?;
    Ok(growth.to_string())
}

/// A sample of the long run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sample {
    seconds: u64,
    supervisor: [u64; 2],
    janitor: [u64; 2],
    record_bytes: u64,
}

impl Sample {
    fn of(line: &str) -> Option<Sample> {
        let numbers: Vec<u64> = line.split(' ').map_while(|word| word.parse().ok()).collect();
        let [seconds, memory, open, janitors_memory, janitors_open, record_bytes] = numbers[..] else {
            return None;
        };
        Some(Sample {
            seconds,
            supervisor: [memory, open],
            janitor: [janitors_memory, janitors_open],
            record_bytes,
        })
    }
}

/// Minima over the first and over the last tenth of all samples. Minima exclude memory that a trial allocates and
/// frees.
#[derive(Debug)]
struct Growth {
    first: Sample,
    last: Sample,
}

impl Growth {
    fn of(samples: &str) -> Option<Growth> {
        let all: Vec<Sample> = samples.lines().filter_map(Sample::of).collect();
        let tenth = all.len().div_ceil(10);
        let least = |samples: &[Sample]| {
            let of = |field: fn(&Sample) -> u64| samples.iter().map(field).min();
            Some(Sample {
                seconds: of(|sample| sample.seconds)?,
                supervisor: [of(|sample| sample.supervisor[0])?, of(|sample| sample.supervisor[1])?],
                janitor: [of(|sample| sample.janitor[0])?, of(|sample| sample.janitor[1])?],
                record_bytes: of(|sample| sample.record_bytes)?,
            })
        };
        (all.len() >= 4).then_some(())?;
        Some(Growth { first: least(&all[..tenth])?, last: least(&all[all.len() - tenth..])? })
    }

    fn check(&self) -> anyhow::Result<()> {
        let Growth { first, last } = self;
        ensure!(last.supervisor[1] <= first.supervisor[1], "the supervisor has leaked descriptors: {self}");
        ensure!(last.janitor[1] <= first.janitor[1], "the cleanup process has leaked descriptors: {self}");
        let grown = |memory: [u64; 2]| memory[1].saturating_sub(memory[0]) * 1024;
        let records = last.record_bytes.saturating_sub(first.record_bytes);
        let supervisor = grown([first.supervisor[0], last.supervisor[0]]);
        ensure!(supervisor <= 3 * records + SPARE_BYTES, "the supervisor's memory has leaked: {self}");
        ensure!(
            grown([first.janitor[0], last.janitor[0]]) <= SPARE_BYTES,
            "the cleanup process's memory has leaked: {self}"
        );
        Ok(())
    }
}

impl std::fmt::Display for Growth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Growth { first, last } = self;
        write!(
            f,
            "from second {} to {} the supervisor went from {} to {} KiB and from {} to {} descriptors, its cleanup process from {} to {} \
             KiB and from {} to {} descriptors; its records, which it holds, from {} to {} KiB",
            first.seconds,
            last.seconds,
            first.supervisor[0],
            last.supervisor[0],
            first.supervisor[1],
            last.supervisor[1],
            first.janitor[0],
            last.janitor[0],
            first.janitor[1],
            last.janitor[1],
            first.record_bytes / 1024,
            last.record_bytes / 1024,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_made_of_its_seed_alone() {
        let rows = ["pipe/block".to_owned(), "fifo/block".to_owned()];
        let round = |seed| format!("{:?}", Round::of(seed, &rows));
        assert_eq!(round(7), round(7));
        let mut all: Vec<String> = (0..100).map(round).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 100);
    }

    #[test]
    fn growth_is_told_from_what_comes_and_goes() {
        let samples = |leak: u64| -> String {
            (0..100)
                .map(|at| {
                    format!("{at} {} {} 900 5 {}\n", 9000 + at, 16 + at % 4 + leak * at / 50, at * 1024)
                })
                .collect()
        };
        assert!(Growth::of(&samples(0)).unwrap().check().is_ok());
        let leaked = Growth::of(&samples(1)).unwrap().check().unwrap_err().to_string();
        assert!(leaked.contains("leaked descriptors"), "{leaked}");
        assert!(Growth::of("1 2 3\n").is_none());
    }

    #[test]
    fn a_length_has_a_unit() {
        assert_eq!(length("30m"), Some(Duration::from_secs(1800)));
        assert_eq!([length("30"), length(""), length("m"), length("1d")], [None; 4]);
        assert!(Soak::of(&[]).is_err() && Soak::of(&["--for", "5m", "--loud", "1"]).is_err());
    }
}
