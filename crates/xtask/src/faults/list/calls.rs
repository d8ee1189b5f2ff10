//! System calls that are forbidden or missing, that fail one after another, or at which a process dies.

use crate::faults::fault::{Act, Fault, script};

/// Returns faults of system calls that a filter forbids, or that a kernel lacks.
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
                what: format!("{call} fails with {error}"),
                means: "strace",
                must: "benchmarks that need it report it, the others are measured",
                needs: &["strace"],
                act: Act::Rows { before, says, options: "", may_fail: true },
                quick: matches!(call, "memfd_create" | "pidfd_open" | "sched_setaffinity")
                    && error == "EPERM",
                of_few: false,
            });
        }
    }
    faults
}

/// Returns faults of processes that die at each of their calls, and of calls that fail one after another.
pub fn sweeps() -> Vec<Fault> {
    let mut faults = Vec::new();
    let sweep = |whose: &str, then: &str| format!("WHOSE={whose}\n{}\n{then}", include_str!("sweep.sh"));
    for (whose, whom, codes, step) in [
        ("supervisor", "the supervisor", "0 137", 70),
        ("children", "a role or another child", "0 1 7 137", 12),
    ] {
        let some = format!(" | awk 'NR % {step} == 1' | head -20");
        for (part, chosen, quick) in
            [("the first 16 of each name, then ever fewer", "", false), ("20 of them", some.as_str(), true)]
        {
            let then =
                format!("for point in $(calls 100000{chosen}); do hit $point signal=KILL '{codes}'; done");
            let what = format!("{whom} killed at a call: {part}");
            let must = "exits in time, and doctor removes the leftovers";
            faults.push(script("D2", &what, "strace", must, &["strace"], sweep(whose, &then), quick));
        }
        let then = "for point in $(calls 200); do
                        for error in $(errors ${point%:*}); do hit $point error=$error '0 1 7'; done
                    done";
        let what = format!("each of 200 calls of {whom} fails with each possible error");
        let must = "measured or reported; nothing hangs, nothing is left";
        faults.push(script("R8", &what, "strace", must, &["strace"], sweep(whose, then), false));
    }
    faults
}
