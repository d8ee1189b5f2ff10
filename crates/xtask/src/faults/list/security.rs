//! Actions that a run must never take.

use crate::faults::fault::{Fault, SHORT, script};

/// Returns checks of actions that a run must never take.
pub(super) fn security() -> Vec<Fault> {
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
    let must = "no object that a run did not create is opened, followed or trusted";
    vec![
        script(
            "S",
            "the names of all objects that benchmarks create",
            "strace",
            "created exclusively, with access for the owner only",
            &["strace"],
            names,
            false,
        ),
        script(
            "E6",
            "every name that a run will use already exists",
            "strace",
            "the benchmark reports it and does not use the existing object",
            &["strace"],
            include_str!("squatted.sh").to_owned(),
            true,
        ),
        script("S", "objects after umask 000", "find", "none is world-writable", &[], open, true),
        script(
            "S",
            "symbolic links and forged journals in the directory for temporary files",
            "ln",
            must,
            &[],
            links,
            true,
        ),
    ]
}
