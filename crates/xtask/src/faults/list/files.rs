//! Files that are written and read.

use crate::faults::fault::{Fault, script};

/// Files that are written and read.
pub(super) fn files() -> Vec<Fault> {
    let saved = "expect 0 \"$FURLONG\" run pipe eventfd --save run --trials 2 --budget 2ms --no-progress\n";
    let save = |error: &str| {
        format!(
            "{saved} expect 0 \"$FURLONG\" export run -o out.csv
             cp out.csv old.csv
             for call in write fsync rename openat; do for number in 1 2 3 4 5 6; do
                 expect '0 1 2 127' strace -P out.csv -P . -P \"$here\" -qq -o trace -e trace=$call -e inject=$call:error={error}:when=$number \"$FURLONG\" export run -o out.csv
                 cmp -s out.csv old.csv || echo \"bad: another file after $call $number\"
             done; done
             ls -A | grep -q '^.furlong' && echo 'bad: a temporary file is left'
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
         ls -A | grep -q '^.furlong' && echo 'bad: a temporary file is left'"
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
             [ -e precious ] || echo \"bad: another file was removed at $point\"
             if [ -d $folder ] && [ ! -e $folder/journal ]; then sleep 2.2; fi
             if [ -d $folder ]; then expect 0 \"$FURLONG\" doctor --clean; fi
             if [ -e $folder ] || [ -e furlong-0123456789abcdef-0 ]; then echo \"bad: something is there after $point\"; fi
         done";
    let hostile = |count: u32| format!("COUNT={count}\n{}", include_str!("hostile.sh"));
    let pipes = "mkfifo a.jsonl a.toml
         mkdir adapter endless; mkfifo adapter/adapter.toml; ln -s /dev/zero endless/adapter.toml
         for verb in 'export ./a.jsonl' 'report ./a.jsonl' 'compare ./a.jsonl ./a.jsonl' 'runs show ./a.jsonl' 'replay ./a.toml' 'recommend --workload ./a.toml' 'export /dev/zero' 'replay /dev/zero' 'adapter check ./adapter' 'adapter check ./endless' 'run --adapter ./adapter pipe'; do
             expect 2 \"$FURLONG\" $verb
         done";
    vec![
        script(
            "F1",
            "the N-th call of a save fails with ENOSPC",
            "strace",
            "the old file stays, and the error is reported",
            &["strace"],
            save("ENOSPC"),
            true,
        ),
        script(
            "F1",
            "the N-th call of a save fails with EIO",
            "strace",
            "the old file stays, and the error is reported",
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
            "60 hostile files: runs, experiments, workloads, manifests and replies of adapters, journals",
            "damaged by seed",
            "rejected or shown, without a panic, a hang or an impossible figure",
            &["python3"],
            hostile(60),
            true,
        ),
        script(
            "F3",
            "600 hostile files: runs, experiments, workloads, manifests and replies of adapters, journals",
            "damaged by seed",
            "rejected or shown, without a panic, a hang or an impossible figure",
            &["python3"],
            hostile(600),
            false,
        ),
        script(
            "F3",
            "FIFOs and endless files instead of regular files",
            "mkfifo",
            "rejected at once",
            &[],
            pipes.to_owned(),
            true,
        ),
        script(
            "F4",
            "files, directories and runs whose names contain terminal or HTML commands",
            "cp",
            "every output shows them as text",
            &[],
            format!("{saved}{}", include_str!("names.sh")),
            true,
        ),
        script(
            "F5",
            "8 runs at once are saved, without names and under one name",
            "shell",
            "a whole file for each, and the name for one of them",
            &[],
            include_str!("at_once.sh").to_owned(),
            true,
        ),
        script(
            "F5",
            "two answers are saved at once, each written 700 ms after the others were read",
            "strace",
            "neither is lost",
            &["strace"],
            "for size in 128 256; do
                 strace -f --seccomp-bpf -qq -o /dev/null -e trace=rename -e inject=rename:delay_enter=700000 \"$FURLONG\" recommend --size $size --within 8s --no-progress > said.$size 2>&1 &
             done
             wait
             kept=$(grep -o '\"workload\"' data/furlong/answers.json | wc -l)
             [ \"$kept\" = 2 ] || echo \"bad: $kept of 2 answers are kept: $(tail -n 3 said.128 said.256 | tr '\\n' ' ')\"
             nothing_left"
                .to_owned(),
            false,
        ),
    ]
}
