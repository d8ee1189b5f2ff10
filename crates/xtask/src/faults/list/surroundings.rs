//! Limits by name, inherited conditions, output that cannot be written, and what changes while a run measures: a script each.

use crate::faults::fault::{Fault, rows_fault, script};

/// Number, what is done, by which means, what must come of it, programs that it takes, the script, and whether it is quick.
type Cell =
    (&'static str, &'static str, &'static str, &'static str, &'static [&'static str], &'static str, bool);

/// Each as a script.
const CELLS: [Cell; 14] = [
    (
        "R12",
        "limits of the kernel that are hit, each by its name",
        "prlimit, strace",
        "the limit is named, with its value and a remedy",
        &["strace"],
        include_str!("named_limits.sh"),
        true,
    ),
    (
        "R12",
        "a control group with room for 1 to 9 processes",
        "cgroup pids",
        "the limit is named, or all is measured",
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
        "rows that are held by them say so, the others are measured",
        &[],
        include_str!("queues.sh"),
        false,
    ),
    (
        "R15",
        "times, sizes and amounts that are as small or as large as may be typed",
        "options",
        "measured or refused, and an interrupt ends each wait",
        &[],
        include_str!("extremes.sh"),
        false,
    ),
    (
        "E11",
        "scheduling policy, nice value, timer slack, huge pages and limits that are inherited",
        "chrt, nice, prctl",
        "they are in the record, and doctor judges them",
        &["chrt", "python3"],
        include_str!("conditions.sh"),
        false,
    ),
    (
        "E12",
        "500 descriptors, blocked signals, Ctrl-Z, signals that nobody expects",
        "kill",
        "it goes on, or ends by the signal and leaves nothing",
        &["python3"],
        include_str!("inherited.sh"),
        false,
    ),
    (
        "E13",
        "odd variables of the environment, and odd terminals",
        "env",
        "all is measured",
        &[],
        include_str!("variables.sh"),
        false,
    ),
    (
        "E14",
        "a seccomp filter that kills who makes a call",
        "python3",
        "rows that need the call say so, the others are measured",
        &["python3"],
        include_str!("killing.sh"),
        false,
    ),
    (
        "E15",
        "processors are taken away while a run measures",
        "cgroup cpuset",
        "measured, failed or refused with the processor, and nothing is left",
        &[],
        include_str!("cpuset.sh"),
        false,
    ),
    (
        "E15",
        "numbers of processes come again while a run measures",
        "sysctl",
        "all is measured",
        &[],
        include_str!("wrapped.sh"),
        false,
    ),
    (
        "F7",
        "output that is full or closed, and files of odd kinds for -o",
        "shell",
        "a result that is not written is a failure",
        &[],
        include_str!("outputs.sh"),
        false,
    ),
    (
        "F8",
        "folders are emptied each 50 ms while a run measures",
        "find",
        "rows that need them say so, the others are measured",
        &[],
        include_str!("emptied.sh"),
        true,
    ),
    (
        "P1",
        "two programs of a user with each two events: ready, done, text, torn line, closed output, pause, end, failure, kill",
        "shell",
        "a time of the events or why there is none, and never the time-out",
        &[],
        include_str!("events.sh"),
        false,
    ),
];

/// All of them, and systems that lack folders of their own.
pub(super) fn surroundings() -> Vec<Fault> {
    let cells = CELLS.map(|(number, what, means, must, needs, text, quick)| {
        script(number, what, means, must, needs, text.to_owned(), quick)
    });
    let without =
        |what, before: &str, says: &[&str], quick| rows_fault("E16", what, "tmpfs", before, says, quick);
    let empty =
        |folder: &str| format!("unshare --mount sh -c 'mount -t tmpfs none {folder}; exec \"$@\"' sh");
    let folder = "the folder for temporary files";
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
