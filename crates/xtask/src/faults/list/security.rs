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
        script(
            "E6",
            "every name that a run makes is known beforehand, and taken",
            "strace",
            "the row says so, and what stands there is not taken for its own",
            &["strace"],
            include_str!("squatted.sh").to_owned(),
            true,
        ),
        script("S", "objects after umask 000", "find", "none that all may write to", &[], open, true),
        script("S", "links and lies in the folder for temporary files", "ln", must, &[], links, true),
    ]
}
