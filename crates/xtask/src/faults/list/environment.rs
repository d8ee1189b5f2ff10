//! What surrounds the process.

use crate::faults::fault::{Fault, rows_fault};

/// What surrounds the process.
pub(super) fn environment() -> Vec<Fault> {
    let all = |what, means, before, quick| rows_fault("E4", what, means, before, &[], quick);
    vec![
        rows_fault(
            "E2",
            "no /proc",
            "tmpfs",
            "unshare --mount sh -c 'mount -t tmpfs none /proc; exec \"$@\"' sh",
            &["/proc", "No such file", "no POSIX message queues", "module"],
            true,
        ),
        rows_fault(
            "E3",
            "furlong is process 1 of its namespace",
            "unshare",
            "unshare --pid --fork --kill-child --mount-proc",
            &[],
            true,
        ),
        all("no terminal, no session", "setsid", "setsid -w", false),
        all("standard input and error closed", "shell", "sh -c 'exec \"$@\" <&- 2>&-' sh", true),
        all("HOME and XDG_DATA_HOME unset", "env", "env -u HOME -u XDG_DATA_HOME", false),
        rows_fault(
            "E4",
            "every signal ignored that can be",
            "shell",
            "trap '' 2 3 10 12 13 14 15 17 20 21 22 28; exec",
            &[],
            true,
        ),
        rows_fault("E7", "umask 000", "shell", "umask 000;", &[], true),
        rows_fault("E7", "umask 777", "shell", "umask 777;", &[], true),
    ]
}
