//! Resources that are short.

use crate::faults::fault::{Act, Fault, SHORT, rows_fault, script};
use std::fmt::Write;

/// Resources that are short.
pub(super) fn limits() -> Vec<Fault> {
    let mut faults = vec![
        rows_fault(
            "R1",
            "/dev/shm of 64 KiB, messages of 1 MiB",
            "tmpfs",
            "mount -t tmpfs -o size=64k none /dev/shm;",
            &["are free", "No space left on device", "is more than"],
            true,
        ),
        rows_fault(
            "R2",
            "/dev/shm read-only",
            "tmpfs",
            "mount -t tmpfs -o ro none /dev/shm;",
            &["Read-only file system"],
            true,
        ),
        rows_fault(
            "R4",
            "no byte for POSIX queues",
            "prlimit",
            "prlimit --msgqueue=0:0",
            &["RLIMIT_MSGQUEUE"],
            true,
        ),
        rows_fault(
            "R6",
            "no signal may be queued",
            "prlimit",
            "prlimit --sigpending=0:0",
            &["RLIMIT_SIGPENDING"],
            true,
        ),
        rows_fault(
            "R6",
            "no locked memory",
            "prlimit",
            "prlimit --memlock=0:0",
            &["memlock", "MEMLOCK"],
            false,
        ),
        rows_fault(
            "R6",
            "100 MiB of addresses",
            "prlimit",
            "prlimit --as=104857600:104857600",
            &["mmap", "allocate memory"],
            false,
        ),
    ];
    if let Act::Rows { options, .. } = &mut faults[0].act {
        *options = "-s 1MiB";
    }
    let mut few = String::new();
    for limit in 3..=40 {
        let _ = writeln!(
            few,
            "expect '0 1 7 127' prlimit --nofile={limit}:{limit} \"$FURLONG\" run pipe unix-stream posix-shm {SHORT}
             [ $code = 0 ] || [ $code = 127 ] || says 'Too many open files'
             nothing_left"
        );
    }
    faults.push(script(
        "R3",
        "3 to 40 descriptors, one after the other",
        "prlimit",
        "an error with the reason",
        &[],
        few,
        true,
    ));
    faults.push(script(
        "R9",
        "8 runs at once for a minute",
        "shell",
        "each is measured, or reports the limit that it exceeded",
        &[],
        format!(
            "end=$(($(date +%s) + 60))
             for number in 1 2 3 4 5 6 7 8; do
                 while [ $(date +%s) -lt $end ]; do
                     timeout -s KILL 60 \"$FURLONG\" run unix-stream posix-shm fifo sysv-mq {SHORT} > out.$number 2>&1
                     code=$?
                     [ $code = 0 ] || grep -q 'RLIMIT\\|No space\\|Too many' out.$number || echo \"bad: exit code $code: $(tail -c 300 out.$number)\"
                 done &
             done
             wait
             nothing_left"
        ),
        false,
    ));
    faults.push(script(
        "R11",
        "an empty pool of huge pages, which may not be made larger",
        "unshare",
        "the benchmark reports the limit that it exceeded, and the other is measured",
        &[],
        "if [ \"$(cat /proc/sys/vm/nr_hugepages)\" != 0 ]; then echo 'not triable: this machine has huge pages'; exit; fi
         mount --bind /proc/sys /proc/sys
         mount -o remount,bind,ro /proc/sys
         for backing in huge-pages memfd; do printf '[[row]]\\nname = \"%s\"\\nbacking = \"%s\"\\n' $backing $backing; done > rows
         printf 'name = \"regions\"\\ntitle = \"Which?\"\\n[measure]\\nkind = \"handover\"\\nsizes = [\"256KiB\"]\\nrepetitions = 2\\ntrials = 1\\norder_by = \"real_s\"\\n' | cat - rows > regions.toml
         expect 0 \"$FURLONG\" replay ./regions.toml --no-save --no-progress --format json
         says 'vm.nr_hugepages is 0'
         says '\"status\": \"measured\"'
         nothing_left"
            .to_owned(),
        true,
    ));
    faults
}

/// Returns faults of bad directories for temporary files, and of ports that other processes use.
pub(super) fn places() -> Vec<Fault> {
    let inside = |name: &str| {
        format!("export TMPDIR=\"$here/tmp/{name}\"; mkdir \"$TMPDIR\"; trap 'rmdir \"$TMPDIR\"' EXIT;")
    };
    let folder =
        |what, means, before: &str, says: &[&str], quick| rows_fault("R10", what, means, before, says, quick);
    vec![
        folder(
            "TMPDIR with spaces, quotes, a line break and non-ASCII letters in its name",
            "mkdir",
            &inside("a b\n'ü$(printf '\\042')"),
            &[],
            false,
        ),
        folder("TMPDIR that is not UTF-8", "mkdir", &inside("a$(printf '\\377')"), &["TMPDIR"], true),
        folder(
            "TMPDIR too long for the address of a socket",
            "mkdir",
            &inside("$(printf 'x%.0s' $(seq 120))"),
            &["UNIX socket in"],
            false,
        ),
        folder("TMPDIR that does not exist", "env", "export TMPDIR=$here/missing;", &["TMPDIR"], false),
        folder(
            "TMPDIR on a read-only file system",
            "tmpfs",
            "mount -t tmpfs -o ro none \"$TMPDIR\";",
            &["TMPDIR"],
            true,
        ),
        Fault {
            needs: &["ip", "python3"],
            ..folder(
                "every port of the network is taken",
                "unshare",
                "unshare --net sh -c 'ip link set lo up
                 echo 40000 40000 > /proc/sys/net/ipv4/ip_local_port_range
                 exec python3 \"$ROOT/crates/xtask/src/faults/list/ports.py\" \"$@\"' sh",
                &["Address already in use", "Cannot assign requested address"],
                false,
            )
        },
    ]
}
