//! The list of faults, as data: what is done, by which means, and what must come of it.

use std::fmt::Write;

/// One fault.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Its number in the list of what can break: D death and stop, R resources, E environment, F files, S security.
    pub number: &'static str,
    /// What is done.
    pub what: String,
    /// By which means.
    pub means: &'static str,
    /// What must come of it, beside what holds for all cells.
    pub must: &'static str,
    /// Programs that it takes.
    pub needs: &'static [&'static str],
    /// How it is done.
    pub act: Act,
    /// Whether it is tried in the quick part.
    pub quick: bool,
}

/// How a fault is made.
#[derive(Debug, Clone)]
pub enum Act {
    /// One row and another one are measured with these options, and this is done in shell while the roles of the row are at
    /// work: `$run`, `$initiator` and `$responder` are processes.
    Role {
        /// Options of `furlong run`.
        options: &'static str,
        /// What is done.
        then: String,
        /// What must come of the row.
        row: RowMust,
        /// With which code furlong must end.
        code: i32,
    },
    /// All rows are measured in one run, which is started by these words of shell.
    Rows {
        /// What comes before the words of the run.
        before: String,
        /// A row that is not measured must say one of these.
        says: Vec<String>,
        /// Options of `furlong run`.
        options: &'static str,
        /// Whether rows may have failed, where what is missing shows only once they are at work.
        may_fail: bool,
    },
    /// A script of its own, which says `bad:` and what is wrong.
    Script(String),
}

/// What must come of the row whose role is disturbed.
#[derive(Debug, Clone, Copy)]
pub enum RowMust {
    /// It has failed, and says this.
    Fail(&'static str),
    /// It was measured.
    Measure,
    /// Nothing: the run was ended.
    End,
}

/// Long in the warm-up.
const WARM_UP: &str = "--warm-up 4s --budget 5ms --timeout 2s";
/// Long in the measured part.
const TIMED: &str = "--warm-up 1ms --budget 4s --timeout 2s";
/// Soon over.
const SHORT: &str = "--trials 1 --budget 2ms --warm-up 100us --no-save --no-progress --format json";

/// All faults.
pub fn faults() -> Vec<Fault> {
    [roles(), supervisors(), calls(), limits(), environment(), sweeps(), files(), security()].concat()
}

fn role_fault(
    number: &'static str,
    what: &str,
    options: &'static str,
    then: &str,
    row: RowMust,
    code: i32,
    must: &'static str,
) -> Fault {
    let act = Act::Role { options, then: then.to_owned(), row, code };
    Fault { number, what: what.to_owned(), means: "kill", must, needs: &[], act, quick: true }
}

/// A role is killed or stopped.
fn roles() -> Vec<Fault> {
    let mut faults = Vec::new();
    for role in ["initiator", "responder"] {
        for (options, phase) in [(WARM_UP, "warm-up"), (TIMED, "measured part")] {
            faults.push(role_fault(
                "D1",
                &format!("SIGKILL to the {role} in its {phase}"),
                options,
                &format!("kill -KILL ${role}"),
                RowMust::Fail("killed by SIGKILL"),
                1,
                "the row has failed, with role, phase and signal",
            ));
        }
    }
    for (signal, words) in [("SEGV", "killed by SIGSEGV"), ("ABRT", "killed by SIGABRT")] {
        faults.push(role_fault(
            "D6",
            &format!("SIG{signal} to the responder"),
            TIMED,
            // The standard library's handler takes the first one of a fault for the thread's stack.
            &format!("kill -{signal} $responder; sleep 0.2; kill -{signal} $responder"),
            RowMust::Fail(words),
            1,
            "each way to die is told from the others",
        ));
    }
    faults.push(role_fault(
        "D5",
        "SIGSTOP to the responder, for ever",
        "--warm-up 1ms --budget 1500ms --timeout 1s",
        "kill -STOP $responder",
        RowMust::Fail("stopped by a signal"),
        1,
        "stopped is told from dead and from slow",
    ));
    faults.push(role_fault(
        "D5",
        "SIGSTOP and SIGCONT to the initiator, 300 ms apart",
        "--warm-up 1ms --budget 1500ms",
        "kill -STOP $initiator; sleep 0.3; kill -CONT $initiator",
        RowMust::Measure,
        0,
        "the trial is measured again",
    ));
    faults.push(role_fault(
        "D5",
        "SIGSTOP to all processes for a second",
        "--warm-up 1ms --budget 1500ms --timeout 1s",
        "all=\"$run $(furlongs | sed 's/process //')\"; kill -STOP $all; sleep 1; kill -CONT $all",
        RowMust::Measure,
        0,
        "the machine stood still, and nothing is wrong",
    ));
    faults
}

/// The supervisor is killed, or asked to end.
fn supervisors() -> Vec<Fault> {
    let ended = |number, what: &str, then: &str, code, must| {
        role_fault(number, what, TIMED, then, RowMust::End, code, must)
    };
    vec![
        ended(
            "D3",
            "SIGKILL to the supervisor",
            "kill -KILL $run",
            137,
            "roles and janitor end, and nothing is left",
        ),
        ended("D4", "SIGINT", "kill -INT $run", 130, "a partial result"),
        ended("D4", "SIGTERM", "kill -TERM $run", 143, "a partial result"),
        ended(
            "D4",
            "SIGINT three times at once",
            "kill -INT $run; kill -INT $run; kill -INT $run",
            130,
            "a partial result",
        ),
        ended("D10", "SIGHUP", "kill -HUP $run", 129, "a partial result"),
        ended(
            "D10",
            "SIGKILL to the supervisor and its janitor",
            "kill -KILL $run $(furlongs | sed 's/process //')
             wait $run; ended=$?
             sleep 2.2
             expect 0 \"$FURLONG\" doctor --clean
             expect 0 \"$FURLONG\" doctor
             says 'nothing is left of dead runs'",
            137,
            "doctor finds what is left and removes it",
        ),
    ]
}

/// A call that a filter forbids, or that a kernel has not got.
fn calls() -> Vec<Fault> {
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

fn rows_fault(
    number: &'static str,
    what: &str,
    means: &'static str,
    before: &str,
    says: &[&str],
    quick: bool,
) -> Fault {
    Fault {
        number,
        what: what.to_owned(),
        means,
        must: "rows that need it say so, the others are measured",
        needs: &[],
        act: Act::Rows {
            before: before.to_owned(),
            says: says.iter().map(|word| (*word).to_owned()).collect(),
            options: "",
            may_fail: true,
        },
        quick,
    }
}

/// Resources that are short.
fn limits() -> Vec<Fault> {
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
        "an error that says so",
        &[],
        few,
        true,
    ));
    faults.push(script(
        "R9",
        "8 runs at once for 10 s",
        "shell",
        "each is measured, or says which limit it met",
        &[],
        format!(
            "end=$(($(date +%s) + 10))
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
    faults
}

/// What surrounds the process.
fn environment() -> Vec<Fault> {
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

fn script(
    number: &'static str,
    what: &str,
    means: &'static str,
    must: &'static str,
    needs: &'static [&'static str],
    text: String,
    quick: bool,
) -> Fault {
    Fault { number, what: what.to_owned(), means, must, needs, act: Act::Script(text), quick }
}

/// Processes that die at each of their calls, and calls that fail one after the other.
fn sweeps() -> Vec<Fault> {
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

/// Files that are written and read.
fn files() -> Vec<Fault> {
    let saved = "expect 0 \"$FURLONG\" run pipe eventfd --save run --trials 2 --budget 2ms --no-progress\n";
    let save = |error: &str| {
        format!(
            "{saved} expect 0 \"$FURLONG\" export run -o out.csv
             cp out.csv old.csv
             for call in write fsync rename openat; do for number in 1 2 3 4 5 6; do
                 expect '0 1 2 127' strace -P out.csv -P . -P \"$here\" -qq -o trace -e trace=$call -e inject=$call:error={error}:when=$number \"$FURLONG\" export run -o out.csv
                 cmp -s out.csv old.csv || echo \"bad: another file after $call $number\"
             done; done
             ls -A | grep -q '^.furlong' && echo 'bad: a file is left beside it'
             nothing_left"
        )
    };
    let killed = format!(
        "{saved} expect 0 \"$FURLONG\" export run -o out.csv
         cp out.csv old.csv
         for point in $(points 1 \"$FURLONG\" export run -o out.csv); do
             call=${{point%:*}} number=${{point#*:}}
             echo old > out.csv
             expect '0 137' strace -qq -o trace -e trace=$call -e inject=$call:signal=KILL:when=$number \"$FURLONG\" export run -o out.csv
             cmp -s out.csv old.csv || [ \"$(cat out.csv)\" = old ] || echo \"bad: a torn file at $point\"
         done
         expect 0 \"$FURLONG\" export run -o out.csv
         ls -A | grep -q '^.furlong' && echo 'bad: a file is left beside it'"
    );
    let cleaned = "leave() {
             folder=tmp/furlong-0123456789abcdef
             mkdir -p $folder/0
             echo '{\"prefix\":\"furlong-0123456789abcdef\",\"key\":2,\"file_folder\":\"'$here'\",\"ipc_namespace\":null}' > $folder/journal
             echo '{\"links\":1}' >> $folder/journal
             touch $folder/0/there furlong-0123456789abcdef-0 precious
         }
         leave
         for point in $(points 1 \"$FURLONG\" doctor --clean | head -400); do
             call=${point%:*} number=${point#*:}
             leave
             expect '0 137' strace -qq -o trace -e trace=$call -e inject=$call:signal=KILL:when=$number \"$FURLONG\" doctor --clean
             [ -e precious ] || echo \"bad: another file is gone at $point\"
             if [ -d $folder ] && [ ! -e $folder/journal ]; then sleep 2.2; fi
             if [ -d $folder ]; then expect 0 \"$FURLONG\" doctor --clean; fi
             if [ -e $folder ] || [ -e furlong-0123456789abcdef-0 ]; then echo \"bad: something is there after $point\"; fi
         done";
    let hostile = format!(
        "{saved} base=data/furlong/runs/run.jsonl
         for seed in $(seq 1 COUNT); do
             awk -v seed=$seed 'BEGIN {{ srand(seed); split(\"-1 1e308 null [ }} \\\" 18446744073709551616 {{}} true 0\", token, \" \") }}
                 {{ lines[NR] = $0 }}
                 END {{
                     for (times = 0; times < 3; times++) {{
                         line = 1 + int(rand() * NR); at = 1 + int(rand() * length(lines[line])); cut = int(rand() * 12)
                         lines[line] = substr(lines[line], 1, at) token[1 + int(rand() * 10)] substr(lines[line], at + cut)
                     }}
                     for (line = 1; line <= NR; line++) print lines[line]
                 }}' $base > hostile.jsonl
             for verb in 'export ./hostile.jsonl' 'report ./hostile.jsonl' 'explain ./hostile.jsonl' 'compare ./hostile.jsonl run' 'runs show ./hostile.jsonl'; do
                 expect '0 2 6 7' prlimit --as=2000000000:2000000000 \"$FURLONG\" $verb
                 grep -aq 'inf \\|NaN' said && echo \"bad: a figure that cannot be, seed $seed: $verb\"
             done
         done"
    );
    let pipes = "mkfifo a.jsonl a.toml
         for verb in 'export ./a.jsonl' 'report ./a.jsonl' 'compare ./a.jsonl ./a.jsonl' 'runs show ./a.jsonl' 'replay ./a.toml' 'recommend --workload ./a.toml' 'export /dev/zero' 'replay /dev/zero'; do
             expect 2 \"$FURLONG\" $verb
         done";
    vec![
        script(
            "F1",
            "the N-th call of a save answers ENOSPC",
            "strace",
            "the old file stays, and it is said",
            &["strace"],
            save("ENOSPC"),
            true,
        ),
        script(
            "F1",
            "the N-th call of a save answers EIO",
            "strace",
            "the old file stays, and it is said",
            &["strace"],
            save("EIO"),
            false,
        ),
        script(
            "F2",
            "SIGKILL at each call of a save",
            "strace",
            "the old file or the new one",
            &["strace"],
            killed,
            false,
        ),
        script(
            "F6",
            "doctor --clean killed at each of its calls",
            "strace",
            "the next one removes the rest, and nothing else",
            &["strace"],
            cleaned.to_owned(),
            false,
        ),
        script(
            "F3",
            "60 hostile run files",
            "awk",
            "refused or shown, without panic, hang or a figure that cannot be",
            &[],
            hostile.replace("COUNT", "10"),
            true,
        ),
        script(
            "F3",
            "600 hostile run files",
            "awk",
            "refused or shown, without panic, hang or a figure that cannot be",
            &[],
            hostile.replace("COUNT", "120"),
            false,
        ),
        script(
            "F3",
            "FIFOs and files without end in the place of files",
            "mkfifo",
            "refused at once",
            &[],
            pipes.to_owned(),
            true,
        ),
    ]
}

/// What a run may never do.
fn security() -> Vec<Fault> {
    let names = format!(
        "expect '0 1' strace -f -qq -o trace -e trace=openat,mkdir,mq_open,shmget,msgget,semget,chmod,fchmod,mknodat \"$FURLONG\" run '*' {SHORT}
         grep 'O_CREAT' trace | grep 'furlong-' | grep -v O_EXCL | sed 's,^,bad: opened without O_EXCL: ,'
         grep 'mq_open(.*O_CREAT' trace | grep -v O_EXCL | sed 's,^,bad: opened without O_EXCL: ,'
         grep '\\(shm\\|msg\\|sem\\)get(0x[0-9a-f]*, .*IPC_CREAT' trace | grep -v IPC_EXCL | sed 's,^,bad: made without IPC_EXCL: ,'
         grep 'O_CREAT' trace | grep 'furlong-' | grep -v '0600' | sed 's,^,bad: others may open it: ,'
         grep 'mkdir(.*furlong-' trace | grep -v '0700' | sed 's,^,bad: others may look into it: ,'
         nothing_left"
    );
    let open = "umask 000
         expect 0 \"$FURLONG\" run pipe --save run --trials 1 --budget 2ms --no-progress
         expect 0 \"$FURLONG\" export run -o out.csv
         find . -perm -0002 ! -type l ! -path './queues*' | grep -v '^.$\\|^./said$\\|^./stdout$\\|^./stderr$' > open
         grep 'out.csv\\|jsonl' open | sed 's,^,bad: all may write to it: ,'
         find . -perm /6000 -type f | sed 's,^,bad: set-uid: ,'"
        .to_owned();
    let links = "mkdir target; echo mine > target/journal
         ln -s $here/target tmp/furlong-00000000000000ff
         mkdir tmp/furlong-00000000000000aa; ln -s $here/target/journal tmp/furlong-00000000000000aa/journal
         sleep 2.2
         expect '0 1' \"$FURLONG\" doctor --clean
         [ \"$(cat target/journal)\" = mine ] || echo 'bad: it followed a link'
         mkdir tmp/furlong-00000000000000bb
         echo '{\"prefix\":\"../../target\",\"key\":2,\"file_folder\":\"'$here'/target\",\"ipc_namespace\":null}' > tmp/furlong-00000000000000bb/journal
         echo '{\"links\":4294967295}' >> tmp/furlong-00000000000000bb/journal
         expect '0 1' \"$FURLONG\" doctor --clean
         [ \"$(cat target/journal)\" = mine ] || echo 'bad: it believed a journal'"
        .to_owned();
    let must = "nothing that a run did not make is opened, followed or believed";
    vec![
        script(
            "S",
            "every name that all rows make",
            "strace",
            "made anew, for its owner alone",
            &["strace"],
            names,
            false,
        ),
        script("S", "objects after umask 000", "find", "none that all may write to", &[], open, true),
        script("S", "links and lies in the folder for temporary files", "ln", must, &[], links, true),
    ]
}
