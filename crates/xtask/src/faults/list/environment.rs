//! Faults of the process environment.

use crate::faults::fault::{Fault, SHORT, rows_fault, script};

/// Returns faults of the process environment.
pub(super) fn environment() -> Vec<Fault> {
    let read_only =
        |more: &str| format!("unshare --mount sh -c 'mount -o remount,bind,ro / && {more} exec \"$@\"' sh");
    let all = |what, means, before: &str, quick| rows_fault("E4", what, means, before, &[], quick);
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
        rows_fault(
            "E5",
            "a separate network, whose loopback is down",
            "unshare",
            "unshare --net",
            &["Network is unreachable", "over the loopback interface"],
            false,
        ),
        rows_fault(
            "E5",
            "a separate monotonic clock, 100000 s ahead",
            "unshare",
            "unshare --time --monotonic 100000 --boottime 100000 --fork",
            &[],
            false,
        ),
        script(
            "E5",
            "an adapter's program with another monotonic clock",
            "unshare",
            "rejected, because its times are not comparable here; the other benchmark is measured",
            &["python3"],
            format!(
                "mkdir adapter
                 cp \"$ROOT\"/adapters/python/*.py adapter
                 sed 's/^command = .*/command = [\"unshare\", \"--time\", \"--monotonic\", \"1000\", \"--fork\", \"python3\", \"adapter.py\"]/' \"$ROOT/adapters/python/adapter.toml\" > adapter/adapter.toml
                 expect 0 \"$FURLONG\" run --adapter ./adapter python-pipe pipe {SHORT}
                 says 'CLOCK_MONOTONIC'
                 says '\"status\": \"measured\"'
                 nothing_left"
            ),
            false,
        ),
        script(
            "E8",
            "an unrelated process connects and sends to every network socket while sockets are created",
            "strace, python3",
            "none of its data is accepted as a message",
            &["strace", "python3"],
            format!(
                "cp \"$ROOT\"/crates/xtask/src/faults/list/stranger.py .
                 unshare --net sh -c '
                     python3 stranger.py > ready & stranger=$!
                     until [ -s ready ]; do sleep 0.02; done
                     strace -f --seccomp-bpf -qq -o trace -e trace=connect,accept4 -e inject=connect,accept4:delay_enter=30000 \"$FURLONG\" run tcp udp udp-multicast/block \"unix-*/block\" {SHORT} > stdout 2> stderr
                     echo $? > code
                     kill $stranger'
                 [ \"$(cat code)\" = 0 ] || echo \"bad: exit code $(cat code): $(grep reason stdout | tr -d '\n') $(tail -c 300 stderr)\"
                 [ \"$(cat attacks)\" -gt 10 ] || echo \"bad: no socket was attacked\"
                 nothing_left"
            ),
            false,
        ),
        script(
            "E9",
            "logind removes a user's objects at logout",
            "unshare",
            "doctor reports it to the users whom it affects",
            &[],
            "mount -t tmpfs none /run
             mkdir -p /run/systemd/users /run/systemd/logind.conf.d
             echo NAME=someone > /run/systemd/users/1000
             doctor() { expect 0 unshare --user --map-user=\"$1\" \"$FURLONG\" doctor; }
             logind() { echo \"RemoveIPC=$1\" > /run/systemd/logind.conf.d/zzzz.conf; }
             silent() { if grep -q logind said; then echo \"bad: it warns $1\"; fi; }
             logind yes
             doctor 1000
             says 'logind removes'
             doctor 1001
             silent 'a user who is not logged in'
             doctor 0
             silent root
             logind no
             doctor 1000
             silent 'where logind removes nothing'"
                .to_owned(),
            true,
        ),
        all("no terminal, no session", "setsid", "setsid -w", false),
        all("standard input and error closed", "shell", "sh -c 'exec \"$@\" <&- 2>&-' sh", true),
        rows_fault(
            "E4",
            "a root that is read-only",
            "unshare",
            &read_only(""),
            &["TMPDIR"],
            false,
        ),
        all("a root that is read-only, with /dev/shm for temporary files", "unshare", &read_only("TMPDIR=/dev/shm"), false),
        script(
            "E4",
            "standard input, output and error closed",
            "shell",
            "the run is saved completely, and its table, which cannot be written, is an error",
            &[],
            "\"$FURLONG\" run pipe posix-shm fifo --trials 1 --budget 2ms --warm-up 100us --save closed --no-progress <&- >&- 2>&-
             code=$?
             [ $code = 1 ] || echo \"bad: exit code $code\"
             tail -n 1 data/furlong/runs/closed.jsonl | grep -q '\"record\":\"end\"' || echo 'bad: it does not end as a run'
             expect 0 \"$FURLONG\" export closed
             [ \"$(grep -c ,measured, said)\" = 3 ] || echo \"bad: not all rows were measured: $(tail -c 300 said)\"
             nothing_left"
                .to_owned(),
            true,
        ),
        all("HOME and XDG_DATA_HOME unset", "env", "env -u HOME -u XDG_DATA_HOME", false),
        rows_fault(
            "E4",
            "every signal ignored that can be ignored",
            "shell",
            "trap '' 2 3 10 12 13 14 15 17 20 21 22 28; exec",
            &[],
            true,
        ),
        rows_fault("E7", "umask 000", "shell", "umask 000;", &[], true),
        rows_fault("E7", "umask 777", "shell", "umask 777;", &[], true),
    ]
}
