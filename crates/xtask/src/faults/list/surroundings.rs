//! Limits by name, inherited conditions, output that cannot be written, and changes during a run. Each fault is a script.

use crate::faults::fault::{Fault, rows_fault, script};

/// Number, fault, means, required outcome, required programs, script, and whether the quick part has it.
type Cell =
    (&'static str, &'static str, &'static str, &'static str, &'static [&'static str], &'static str, bool);

/// Faults of this file that are scripts.
const CELLS: [Cell; 14] = [
    (
        "R12",
        "exceeded limits of the kernel, each by its name",
        "prlimit, strace",
        "the limit is named, with its value and a remedy",
        &["strace"],
        include_str!("named_limits.sh"),
        true,
    ),
    (
        "R12",
        "a cgroup limited to 1 to 9 processes",
        "cgroup pids",
        "the limit is named, or all benchmarks are measured",
        &[],
        include_str!("pids.sh"),
        false,
    ),
    (
        "R13",
        "stacks of 128 KiB, 160 KiB and 1 MiB, all verbs",
        "prlimit",
        "no verb overflows its stack",
        &[],
        include_str!("stacks.sh"),
        false,
    ),
    (
        "R14",
        "limits of an IPC namespace at 0, 1, 64 and 128",
        "sysctl",
        "benchmarks that exceed a limit report it, the others are measured",
        &[],
        include_str!("queues.sh"),
        false,
    ),
    (
        "R15",
        "the smallest and largest times, sizes and amounts that options accept",
        "options",
        "measured or rejected, and an interrupt ends each wait",
        &[],
        include_str!("extremes.sh"),
        false,
    ),
    (
        "E11",
        "inherited scheduling policy, nice value, timer slack, huge pages and limits",
        "chrt, nice, prctl",
        "they are in the record, and doctor judges them",
        &["chrt", "python3"],
        include_str!("conditions.sh"),
        false,
    ),
    (
        "E12",
        "500 descriptors, blocked signals, Ctrl-Z, unexpected signals",
        "kill",
        "the run continues, or the signal ends it and nothing is left",
        &["python3"],
        include_str!("inherited.sh"),
        false,
    ),
    (
        "E13",
        "unusual environment variables and terminals",
        "env",
        "all benchmarks are measured",
        &[],
        include_str!("variables.sh"),
        false,
    ),
    (
        "E14",
        "a seccomp filter that kills the caller of a system call",
        "python3",
        "benchmarks that need the call report it, the others are measured",
        &["python3"],
        include_str!("killing.sh"),
        false,
    ),
    (
        "E15",
        "CPUs are removed while a run measures",
        "cgroup cpuset",
        "measured, failed or rejected with the CPU named, and nothing is left",
        &[],
        include_str!("cpuset.sh"),
        false,
    ),
    (
        "E15",
        "PIDs are reused while a run measures",
        "sysctl",
        "all benchmarks are measured",
        &[],
        include_str!("wrapped.sh"),
        false,
    ),
    (
        "F7",
        "output that is full or closed, and special files for -o",
        "shell",
        "a result that is not written is a failure",
        &[],
        include_str!("outputs.sh"),
        false,
    ),
    (
        "F8",
        "directories are emptied every 50 ms while a run measures",
        "find",
        "benchmarks that need them report it, the others are measured",
        &[],
        include_str!("emptied.sh"),
        true,
    ),
    (
        "P1",
        "two own programs with two events each: ready, done, text, torn line, closed output, pause, end, failure, kill",
        "shell",
        "a time of the events, or the reason why there is none, and never the timeout",
        &[],
        include_str!("events.sh"),
        false,
    ),
];

/// Returns the faults of `CELLS`, and systems without /dev, /sys or /etc.
pub(super) fn surroundings() -> Vec<Fault> {
    let cells = CELLS.map(|(number, what, means, must, needs, text, quick)| {
        script(number, what, means, must, needs, text.to_owned(), quick)
    });
    let without =
        |what, before: &str, says: &[&str], quick| rows_fault("E16", what, "tmpfs", before, says, quick);
    let empty =
        |folder: &str| format!("unshare --mount sh -c 'mount -t tmpfs none {folder}; exec \"$@\"' sh");
    let folder = "the directory for temporary files";
    let bare = [
        without(
            "no /dev, and so no /dev/null and no /dev/shm",
            &empty("/dev"),
            &["/dev/shm", "No such file"],
            true,
        ),
        without("no /sys", &empty("/sys"), &[], false),
        without("no /etc", &empty("/etc"), &[], false),
        rows_fault("R10", "TMPDIR that is a file", "env", "export TMPDIR=/dev/null;", &[folder], true),
        rows_fault(
            "R10",
            "TMPDIR with no room for a message",
            "tmpfs",
            "mount -t tmpfs -o size=100k none \"$TMPDIR\";",
            &["are free", "No space left on device"],
            false,
        ),
        rows_fault(
            "R10",
            "TMPDIR where no program may run",
            "tmpfs",
            "mount -t tmpfs -o noexec,nosuid,nodev none \"$TMPDIR\";",
            &[],
            false,
        ),
    ];
    cells.into_iter().chain(bare).collect()
}
