//! Tests that a run that is killed at any moment of a handover leaves nothing: no device, mount, changed limit, file or
//! process.
use crate::workers::Trial;
use furlong_bench::handover::RegionHandover;
use furlong_bench::session::{Options, Session};
use furlong_bench::trial::{Settings, TrialContext};
use furlong_bench::{ChildProgram, leftovers, placement};
use furlong_model::{Backing, Handover, HandoverOutcome, Party, Placement, Touch};
use furlong_os::identity::is_administrator;
use furlong_testing::skipped;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The variable that selects the backing of a helper run, and marks its processes.
const BACKING: &str = "FURLONG_TEST_BACKING";

/// The time that dying processes and the kernel may hold resources.
const PATIENCE: Duration = Duration::from_secs(20);

/// The backings with resources that a killed process could leave behind.
const MAKERS: [Backing; 5] =
    [Backing::RamDisk, Backing::Loop, Backing::HugePages, Backing::Tmpfs, Backing::Disk];

/// The name of the slow test.
const SLOW: &str = "a run that is killed at more moments leaves nothing";

/// Returns the tests. One test runs at a time, because each looks at the resources of the whole machine.
pub fn tests() -> Vec<Trial> {
    let tests: [(&str, fn()); 4] = [
        ("a killed run leaves nothing", || a_killed_run_leaves_nothing(&[6, 15, 30, 80, 200])),
        (SLOW, || a_killed_run_leaves_nothing(&[3, 9, 12, 20, 25, 40, 55, 120, 350])),
        (
            "what a run leaves that is killed with its janitor can be cleaned up",
            what_a_run_leaves_that_is_killed_with_its_janitor_can_be_cleaned_up,
        ),
        ("runs at once do not disturb each other", runs_at_once_do_not_disturb_each_other),
    ];
    let trial = |(name, test): (&str, fn())| {
        Trial::test(format!("handover: {name}"), move || {
            test();
            Ok(())
        })
        .alone_if(|| true)
        .slow_if(name == SLOW)
    };
    tests.into_iter().map(trial).collect()
}

/// Runs handovers until this process is killed, if it is a helper run. Returns whether it was one.
pub fn is_run() -> bool {
    let backing = std::env::var(BACKING);
    if let Ok(backing) = &backing {
        hand_over(backing.parse().expect("a backing"));
    }
    backing.is_ok()
}

/// Runs handovers until this process is killed.
fn hand_over(backing: Backing) {
    let program = ChildProgram::own().unwrap();
    let session = Session::open(Options { program, file_folder: None, handle_signals: false }).unwrap();
    let placement = Placement::SameCore;
    let handover = Handover { backing, touch: Touch::Line, size_bytes: 1 << 20, repetitions: 2, placement };
    let processors = placement::pinned(session.cpus(), placement, &Party::PAIR).unwrap();
    let settings = Settings::default();
    let work = RegionHandover::new(&handover);
    let context = TrialContext { work, processors, session: &session };
    loop {
        match context.run(&settings).unwrap() {
            HandoverOutcome::Measured(_) => eprintln!("measured"),
            HandoverOutcome::Unavailable(unavailable) | HandoverOutcome::Refused(unavailable) => {
                eprintln!("unavailable: {}", unavailable.reason);
                return;
            }
            HandoverOutcome::Failed(failure) => panic!("{failure}"),
        }
    }
}

/// A helper run, which is killed when this is dropped: its directory must outlive it.
struct HelperRun(Child);

impl Drop for HelperRun {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(backing: Backing, folder: &Path) -> HelperRun {
    let run = Command::new(std::env::current_exe().unwrap())
        .env(BACKING, backing.name())
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(folder.join("said")).unwrap())
        .spawn();
    HelperRun(run.unwrap())
}

/// Returns the resources of the machine that a run could leave behind.
fn things(folder: &Path) -> BTreeSet<String> {
    let mut things = BTreeSet::new();
    for entry in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let read = |file: &str| fs::read_to_string(entry.path().join(file)).unwrap_or_default();
        if name.starts_with("zram") || name.starts_with("loop") {
            things.insert(format!("{name} {}{}", read("disksize").trim(), read("loop/backing_file").trim()));
        }
    }
    things.insert(fs::read_to_string("/proc/self/mountinfo").unwrap_or_default());
    for limit in ["nr_hugepages", "nr_overcommit_hugepages"] {
        things.insert(format!(
            "{limit} {:?}",
            fs::read_to_string(format!("/proc/sys/vm/{limit}")).unwrap_or_default()
        ));
    }
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    things.extend(memory.lines().filter(|line| line.starts_with("HugePages_")).map(str::to_owned));
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    things.extend(files.map(|file| format!("file {:?}", file.file_name())));
    let mark = format!("TMPDIR={}", folder.display());
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) {
            things.insert(format!("process {:?}", entry.file_name()));
        }
    }
    things
}

/// Waits until the resources are the same as before. Fails after a timeout.
#[track_caller]
fn expect(before: &BTreeSet<String>, folder: &Path, when: &str) {
    let start = Instant::now();
    loop {
        let now = things(folder);
        if now == *before {
            return;
        }
        let difference: Vec<_> = now.symmetric_difference(before).collect();
        assert!(start.elapsed() < PATIENCE, "{when}: {difference:#?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Kills runs with one backing, each after a number of milliseconds. With `all`, it kills their cleanup processes and
/// roles too, so that only `furlong doctor --clean` can clean up.
fn kill_at_moments(backing: Backing, moments_ms: &[u64], all: bool) {
    let folder = tempfile::tempdir().unwrap();
    let said = folder.path().join("said");
    fs::write(&said, "").unwrap();
    let before = things(folder.path());
    for moment in moments_ms {
        let mut running = start(backing, folder.path());
        std::thread::sleep(Duration::from_millis(*moment));
        if all {
            // The run is killed first, because it would clean up; then the remaining processes, including the cleanup
            // process.
            running.0.kill().unwrap();
            for process in things(folder.path()).iter().filter_map(|thing| thing.strip_prefix("process ")) {
                let number: i32 = process.trim_matches('"').parse().unwrap();
                let _ = furlong_os::process::send_signal(number, libc::SIGKILL);
            }
        }
        drop(running);
        if fs::read_to_string(&said).unwrap().contains("unavailable") {
            let facility = if is_administrator() { backing.name() } else { "root" };
            let said = fs::read_to_string(&said).unwrap();
            skipped(format_args!("handover/{backing}"), format_args!("needs {facility}: {said}"));
            return;
        }
        if all {
            for file in fs::read_dir(folder.path()).unwrap().flatten() {
                if file.path().is_dir() {
                    leftovers::remove_run(&file.path()).unwrap();
                }
            }
        }
        expect(&before, folder.path(), &format!("{backing} killed after {moment} ms"));
    }
}

fn a_killed_run_leaves_nothing(moments_ms: &[u64]) {
    for backing in MAKERS {
        kill_at_moments(backing, moments_ms, false);
    }
}

fn what_a_run_leaves_that_is_killed_with_its_janitor_can_be_cleaned_up() {
    for backing in [Backing::RamDisk, Backing::Loop, Backing::HugePages] {
        kill_at_moments(backing, &[5, 10, 18, 28, 45, 70, 150], true);
    }
}

fn runs_at_once_do_not_disturb_each_other() {
    for backing in [Backing::RamDisk, Backing::Loop, Backing::HugePages] {
        let folders: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
        let before = things(folders[0].path());
        let mut runs: Vec<_> = folders.iter().map(|folder| start(backing, folder.path())).collect();
        let said = |folder: &tempfile::TempDir| fs::read_to_string(folder.path().join("said")).unwrap();
        let wait_for = |trials: usize| {
            let start = Instant::now();
            let is_there = |said: &str| said.contains("unavailable") || said.lines().count() >= trials;
            // The first run may have been killed.
            while !folders[1..].iter().all(|folder| is_there(&said(folder))) {
                assert!(start.elapsed() < PATIENCE, "{backing}: nothing is handed over");
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        wait_for(2);
        // One run is killed while the others go on.
        runs[0].0.kill().unwrap();
        let most = folders.iter().map(|folder| said(folder).lines().count()).max().unwrap_or_default();
        wait_for(most + 2);
        for (run, folder) in runs.iter_mut().zip(&folders) {
            let ended = run.0.try_wait().unwrap();
            let said = said(folder);
            let goes_on = ended.is_none_or(|exit| exit.code().is_none());
            assert!(said.contains("unavailable") || goes_on, "{backing}: {ended:?}: {said}");
        }
        drop(runs);
        for folder in &folders {
            fs::remove_file(folder.path().join("said")).unwrap();
        }
        expect(&before, folders[0].path(), &format!("three runs with {backing}"));
    }
}
