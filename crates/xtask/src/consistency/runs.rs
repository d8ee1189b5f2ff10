//! Runs of the consistency check: their commands, and the load of the machine while they are recorded.

use crate::control_groups::ControlGroups;
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Commands of one kind of run, and the number of runs in each condition.
pub type Kind = (&'static str, usize, &'static str);

/// Runs in the repository: short, and of every pattern.
pub const CORPUS: [Kind; 38] = [
    ("round-trip", 2, "run pipe unix-stream posix-shm/spin channel/spin posix-shm sysv-mq $ALL --trials 3"),
    ("spin", 2, "run '*-shm/spin' channel/spin pipe/spin process-vm/spin --trials 5 --budget 10ms"),
    ("default", 1, "run --trials 3 --budget 5ms"),
    (
        "precision",
        2,
        "run pipe fifo unix-stream posix-shm posix-shm/spin channel/spin --precision 3% --within 2s $SHORT",
    ),
    ("sizes", 1, "run pipe posix-shm -s 64..64KiB:x32 --trials 3 $SHORT"),
    ("one-way", 2, "run pipe tcp posix-shm unix-stream -m one-way -s 128 -s 16KiB --trials 3 $SHORT"),
    ("rate", 2, "run pipe tcp posix-shm/spin --rate 1k/s --rate 20k/s --trials 3 $SHORT"),
    ("slow-rate", 1, "run pipe posix-shm --rate 100/s --trials 3 --budget 300ms"),
    ("one-way-rate", 2, "run pipe tcp posix-shm/spin -m one-way --rate 5k/s --trials 3 $SHORT"),
    ("saturated", 1, "run '*/spin' --rate 300k/s --trials 3 --budget 5ms"),
    ("think-time", 1, "run pipe posix-shm --think-time 200us --trials 3 $SHORT"),
    ("window", 2, "run pipe unix-stream posix-shm --window 8 --trials 3 $SHORT"),
    ("pairs", 2, "run pipe posix-shm unix-stream --pairs 1..2 --trials 3 $SHORT"),
    (
        "fan-out",
        2,
        "run pipe posix-shm unix-stream broadcast-ring -m fan-out --receivers 1..4 --trials 3 $SHORT",
    ),
    ("fan-out-rate", 1, "run pipe posix-shm -m fan-out --receivers 3 --rate 1k/s --trials 3 $SHORT"),
    ("stall", 1, "run pipe unix-stream -m fan-out --receivers 3 --stall 1 --trials 3"),
    ("senders", 1, "run pipe posix-mq unix-dgram -m fan-in --senders 1..2 --trials 3 $SHORT"),
    ("workers", 1, "run pipe posix-mq unix-dgram -m work --workers 1..2 --trials 3 $SHORT"),
    ("ready", 1, "run pipe unix-stream -m ready --links 1..16:x4 --trials 3 $SHORT"),
    (
        "request",
        1,
        "run pipe posix-shm unix-stream -m request --request 1 --response 64KiB --trials 3 $SHORT",
    ),
    ("connect", 2, "run pipe tcp unix-stream -m connect --trials 3 $SHORT"),
    ("places", 2, "run pipe posix-shm --place free --place one-process --place same-core --trials 3 $SHORT"),
    ("access", 1, "run channel memfd-shm --access copy --access in-place -s 64KiB --trials 3 $SHORT"),
    (
        "conditions",
        1,
        "run pipe unix-stream pipe/spin --sched other --sched batch --pipe-size 64KiB..256KiB:x4 --nice 5 --trials 5 $SHORT",
    ),
    ("boundary", 2, "run tcp udp unix-stream --boundary netns --trials 3 $SHORT"),
    ("across", 1, "run pipe tcp posix-shm/spin --across 2 --apart 1s --trials 3 $SHORT"),
    (
        "programs",
        1,
        "run --program \"sh -c 'echo ready; seq 9 | sort >&2; sleep 0.05; echo done 9'\" pipe --trials 3",
    ),
    (
        "adapters",
        1,
        "run --adapter adapters/python pipe python-pipe python-null python-socketpair --trials 3 $SHORT",
    ),
    ("few-trials", 1, "run pipe fifo posix-shm --trials 2 $SHORT"),
    ("count", 1, "count --save it pipe unix-stream posix-shm/spin"),
    (
        "explain",
        1,
        "explain --save it pipe/block unix-stream/block posix-shm/spin $ALL --trials 3 --budget 5ms",
    ),
    ("recommend", 2, "recommend --size 4KiB --rate 5k/s --within 3s"),
    ("recommend-stream", 1, "recommend --size 64KiB --pattern one-way --within 3s --spin"),
    ("recommend-cpu", 1, "recommend --size 128 --rate 2k/s --objective cpu --slo 'p99<1ms' --within 3s"),
    (
        "recommend-receivers",
        1,
        "recommend --size 4KiB --pattern one-way --rate 1k/s --receivers 3 --within 3s",
    ),
    ("replay-rates", 1, "replay racehorse --trials 3"),
    ("replay-ranking", 1, "replay csdn-ipc-ranking --trials 3"),
    ("replay-order", 1, "replay ka2yan-2008 --trials 3"),
];

/// Runs that are measured for this check, for as long as users measure.
pub const FRESH: [Kind; 9] = [
    ("quick", 5, ""),
    ("recommend", 1, "recommend --size 4KiB --rate 5k/s --within 20s"),
    (
        "recommend-to-three",
        1,
        "recommend --size 4KiB --pattern one-way --rate 5k/s --receivers 3 --within 20s",
    ),
    ("explain", 1, "explain --save it pipe/block unix-stream/block posix-shm/spin $ALL"),
    ("replay-rates", 1, "replay racehorse"),
    ("replay-order", 1, "replay ka2yan-2008"),
    ("compared", 2, "run pipe unix-stream posix-shm/spin channel/spin posix-shm tcp $ALL"),
    ("fan-out", 1, "run -m fan-out --receivers 1..4"),
    ("pairs", 1, "run pipe unix-stream posix-shm tcp --pairs 1..4"),
];

/// Shell variables of the commands.
const SHORT: &str = "--budget 20ms";
const ALL_PLACES: &str = "--place other-core --place same-core";

/// Load of the machine during a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    Idle,
    /// Processes that busy-wait.
    Busy(usize),
    /// A CPU quota of half a CPU.
    Quota,
}

impl Condition {
    const ALL: [(&str, Condition); 4] =
        [("idle", Self::Idle), ("one", Self::Busy(1)), ("two", Self::Busy(2)), ("quota", Self::Quota)];
}

/// Kills its processes.
struct Neighbours(Vec<Child>);

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Records runs of these kinds and returns their files. If `only` is not empty, names of runs must begin with one of
/// its words.
///
/// # Errors
/// Returns an error that names the command that saved no run.
pub fn record(program: &Path, folder: &Path, kinds: &[Kind], only: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let _group = ControlGroups::remove_at_end("furlong-consistency")?;
    let mut files = Vec::new();
    for (kind, times, line) in kinds {
        for (condition, load) in Condition::ALL {
            for number in 1..=*times {
                let name = format!("{kind}-{condition}-{number}");
                let wanted = |only: &&&str| name.starts_with(**only);
                if only.is_empty() || only.iter().any(|only| wanted(&only)) {
                    let file = folder.join(format!("{name}.jsonl"));
                    measure(program, line, load, &file).with_context(|| format!("record {name}"))?;
                    println!("{name}");
                    files.push(file);
                }
            }
        }
    }
    Ok(files)
}

/// Measures one run, and moves it to `file`.
fn measure(program: &Path, line: &str, load: Condition, file: &Path) -> anyhow::Result<()> {
    let data = file.with_extension("data");
    let _ = fs::remove_dir_all(&data);
    let count = if let Condition::Busy(count) = load { count } else { 0 };
    let spin = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
    let neighbours = Neighbours((0..count).map(|_| spin()).collect::<Result<_, _>>()?);
    let enter = if load == Condition::Quota { include_str!("quota.sh") } else { "" };
    let script = format!("{enter}\nexec {} {line}", program.display());
    let measured = Command::new("sh")
        .args(["-ec", &script])
        .current_dir(crate::root())
        .envs([("XDG_DATA_HOME", data.as_os_str()), ("SHORT", SHORT.as_ref()), ("ALL", ALL_PLACES.as_ref())])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()?;
    drop(neighbours);
    let saved = fs::read_dir(data.join("furlong/runs")).into_iter().flatten().flatten().next();
    let Some(saved) = saved else {
        bail!("nothing was saved: {}", String::from_utf8_lossy(&measured.stderr));
    };
    fs::rename(saved.path(), file)?;
    Ok(fs::remove_dir_all(data)?)
}
