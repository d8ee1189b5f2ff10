//! System calls that are forbidden or missing, that fail one after the other, and at which a process dies.

use crate::faults::fault::{Act, Fault, SHORT, script};

/// A call that a filter forbids, or that a kernel has not got.
pub(super) fn calls() -> Vec<Fault> {
    const CALLS: [&str; 22] = [
        "perf_event_open",
        "mq_open",
        "memfd_create",
        "process_vm_readv",
        "pidfd_open",
        "sched_setaffinity",
        "sched_getaffinity",
        "shmget",
        "msgget",
        "semget",
        "clone3",
        "unshare",
        "eventfd2",
        "signalfd4",
        "socketpair",
        "fallocate",
        "close_range",
        "futex_waitv",
        "io_uring_setup",
        "userfaultfd",
        "mknodat",
        "getrusage",
    ];
    let mut faults = Vec::new();
    for call in CALLS {
        for error in ["EPERM", "ENOSYS"] {
            let before = format!(
                "strace -f --seccomp-bpf -qq -o /dev/null -e trace={call} -e inject={call}:error={error}"
            );
            let says = vec![
                call.trim_end_matches(char::is_numeric).to_owned(),
                "not permitted".to_owned(),
                "not implemented".to_owned(),
                "EPERM".to_owned(),
                "ENOSYS".to_owned(),
            ];
            faults.push(Fault {
                number: "E1",
                what: format!("{call} answers {error}"),
                means: "strace",
                must: "rows that need it say so, the others are measured",
                needs: &["strace"],
                act: Act::Rows { before, says, options: "", may_fail: true },
                quick: matches!(call, "memfd_create" | "pidfd_open" | "sched_setaffinity")
                    && error == "EPERM",
            });
        }
    }
    faults
}

/// Processes that die at each of their calls, and calls that fail one after the other.
pub(super) fn sweeps() -> Vec<Fault> {
    const ROWS: &str = "fifo unix-stream sysv-mq posix-shm";
    let mut faults = Vec::new();
    for (part, step, most, quick) in [("each", 1, 3000, false), ("20 of them", 97, 20, true)] {
        // Without -f only the supervisor is traced.
        let sweep = |follow: &str, codes: &str| {
            format!(
                "for point in $(points {step} {follow} \"$FURLONG\" run {ROWS} {SHORT} | head -{most}); do
                     call=${{point%:*}} number=${{point#*:}}
                     expect '{codes}' strace {follow} -qq -o trace -e trace=$call -e inject=$call:signal=KILL:when=$number \"$FURLONG\" run {ROWS} {SHORT}
                     if [ -n \"$(left)\" ]; then sleep 2.2; expect 0 \"$FURLONG\" doctor --clean; fi
                     nothing_left
                 done"
            )
        };
        let must = "ended in time; what is left, doctor removes";
        let whats = [("the supervisor", "", "0 137"), ("whichever process makes it", "-f", "0 1 7 137")];
        for (whom, follow, codes) in whats {
            let what = format!("{whom} killed at a call: {part}");
            faults.push(script("D2", &what, "strace", must, &["strace"], sweep(follow, codes), quick));
        }
    }
    for error in ["EINTR", "ENOMEM", "ENOSPC", "EIO", "EPERM", "EMFILE", "EAGAIN"] {
        // The dynamic linker's own calls come first: without them there is no furlong, and no code of its own.
        let sweep = format!(
            "calls=openat,mkdir,socketpair,pipe2,mmap,ftruncate,fallocate,poll,ppoll,read,write,sendto,recvfrom,unlink,rmdir,flock,waitid,prctl,dup2,clone
             for point in $(points 1 -f -e trace=$calls \"$FURLONG\" run {ROWS} {SHORT} | head -200); do
                 call=${{point%:*}} number=${{point#*:}}
                 expect '0 1 2 7 127' strace -f -qq -o trace -e trace=$call -e inject=$call:error={error}:when=$number \"$FURLONG\" run {ROWS} {SHORT}
                 if [ -n \"$(left)\" ]; then sleep 2.2; expect 0 \"$FURLONG\" doctor --clean; fi
                 nothing_left
             done"
        );
        let must = "measured or said; nothing hangs, nothing is left";
        let what = format!("one of the first 200 calls answers {error}");
        faults.push(script("R8", &what, "strace", must, &["strace"], sweep, false));
    }
    faults
}
