//! Options whose every value becomes a benchmark of the same run: conditions of the roles, and sizes of buffers.

use crate::common::value::{list, number, text};
use crate::common::{Kind, Place, Process, Snapshot, is_root, look_for};
use furlong_model::CpuList;
use serde_json::{Value, json};
use std::time::Duration;

const QUICKLY: &str = "--trials 3 --budget 2ms --no-progress --format json";

/// Runs furlong, and returns the JSON object that it prints.
fn measured(place: &Place, words: &str) -> Value {
    place.run(format!("run {words} {QUICKLY}").split_whitespace()).expect_code(0).json()
}

/// Returns the values of a key in all rows, sorted.
fn values<'a>(run: &'a Value, key: &str) -> Vec<&'a Value> {
    let mut values: Vec<_> = list(run, "rows").iter().map(|row| &row[key]).collect();
    values.sort_by_key(|value| value.to_string());
    values
}

#[test]
fn every_value_of_a_condition_is_a_benchmark_of_one_table() {
    let place = Place::new();
    let run = measured(&place, "pipe --sched other --sched batch --nice 7 --save conditions");
    let conditions = |policy: &str| json!({"sched": policy, "nice": "7"});
    assert_eq!(values(&run, "conditions"), [&conditions("batch"), &conditions("other")]);
    let groups = values(&run, "group");
    assert_eq!((groups.len(), groups[0]), (2, groups[1]), "{run:#}");
    let table = place.run("runs show conditions".split(' ')).expect_code(0).stdout;
    for name in ["pipe/block (sched other, nice 7)", "pipe/block (sched batch, nice 7)"] {
        assert!(table.contains(name), "no {name} in {table}");
    }
    // Cases are read back from the file as they were measured.
    let compared = place.run("compare conditions conditions".split(' ')).expect_code(0).stdout;
    assert!(compared.contains("pipe/block 128B other-core sched batch nice 7"), "{compared}");
}

#[test]
fn fewer_than_three_trials_have_no_ratio_and_no_place() {
    let place = Place::new();
    let words = "run pipe --nice 5 --nice 6 --trials 2 --budget 2ms --no-progress --format json --save";
    let [run, _] =
        ["few", "again"].map(|name| place.run(words.split(' ').chain([name])).expect_code(0).json());
    assert!(
        list(&run, "rows").iter().all(|row| row["rank"].is_null() && row["vs_first"].is_null()),
        "{run:#}"
    );
    let table = place.run("runs show few".split(' ')).expect_code(0).stdout;
    assert!(table.contains("? fewer than three trials") && table.contains("--within"), "{table}");
    assert!(
        !table.contains("1.00x") && table.lines().filter(|line| line.starts_with("?  pipe")).count() == 2,
        "{table}"
    );
    let compared = place.run("compare few again --format json".split(' ')).json();
    assert!(list(&compared, "rows").iter().all(|row| row["ratio"].is_null()), "{compared:#}");
}

#[test]
fn every_size_of_a_buffer_is_a_benchmark() {
    let place = Place::new();
    let sizes =
        "-m one-way -s 4KiB --pipe-size 64KiB..256KiB:x4 --socket-buffer 64KiB --socket-buffer 128KiB";
    let run = measured(&place, &format!("pipe unix-stream {sizes}"));
    let pipe = |row: &&Value| text(row, "mechanism") == "pipe";
    let [pipes, sockets] = [true, false].map(|wanted| {
        let rows = list(&run, "rows").iter().filter(move |row| pipe(row) == wanted);
        let mut sizes: Vec<_> = rows.map(|row| row["buffer_bytes"].as_u64().expect("a size")).collect();
        sizes.sort_unstable();
        sizes
    });
    assert_eq!((pipes, sockets), (vec![65_536, 262_144], vec![65_536, 131_072]));
    let error = place.run("run pipe --socket-buffer 64KiB".split(' ')).expect_code(2).stderr;
    assert!(error.contains("--socket-buffer: none of these benchmarks has such a buffer"), "{error}");
}

#[test]
fn memory_of_both_roles_is_bound_to_the_requested_node() {
    let place = Place::new();
    let conditions = furlong_os::linux::conditions::read();
    let nodes: Option<CpuList> = conditions.memory_nodes.and_then(|nodes| nodes.parse().ok());
    let (Some(CpuList(nodes)), true) = (nodes, std::path::Path::new("/proc/self/numa_maps").exists()) else {
        furlong_testing::skip!("needs NUMA");
    };
    let node = nodes[nodes.len() - 1];
    let words = format!("run posix-shm --memory-node {node} --trials 1 --budget 30s --no-save");
    let running = place.start(&mut place.furlong(words.split(' ')));
    let is_bound = |pid: i32| {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/numa_maps")).unwrap_or_default();
        maps.lines().any(|line| line.contains(&format!(" bind:{node} ")) && line.contains("anon="))
    };
    let both = || place.roles(running.pid())?.iter().all(|role| is_bound(role.pid)).then_some(());
    look_for(Duration::from_secs(30), both).expect("two roles with bound memory");
    running.signal(libc::SIGINT);
    running.finish().expect_code(130);
    let run = measured(&place, &format!("pipe --memory-node {node} --memory-node 1023"));
    assert_eq!(values(&run, "conditions"), [&json!({"memory-node": node.to_string()})]);
    let reason = text(&list(&run, "skipped")[0], "reason");
    assert!(reason.contains("NUMA node 1023 does not exist; the valid nodes are"), "{reason}");
}

#[test]
fn buffers_below_the_minimum_are_reported_as_equal() {
    let place = Place::new();
    let words = "run unix-stream pipe --socket-buffer 1KiB --socket-buffer 2KiB --pipe-size 5KiB --pipe-size 8KiB -m one-way -s 1 \
                 --trials 3 --budget 2ms --no-progress --no-save";
    let table = place.run(words.split_whitespace()).expect_code(0).stdout;
    let notes = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for buffer in ["send-buffer-bytes", "pipe-size-bytes 8KiB"] {
        let is_named = notes.split("Equal in effect, whatever size was requested: ").skip(1);
        assert!(is_named.clone().any(|note| note.contains(buffer)), "no {buffer} in {table}");
    }
}

#[test]
fn long_run_without_terminal_is_announced() {
    let place = Place::new();
    let words = "run pipe --pipe-size 4KiB..1MiB:x2 --nice 1 --nice 2 --trials 9 --budget 1s --no-save";
    let running = place.start(&mut place.furlong(words.split(' ')));
    look_for(Duration::from_secs(30), || place.roles(running.pid())).expect("roles");
    running.signal(libc::SIGINT);
    let long = running.finish().expect_code(130).stderr;
    assert!(long.contains("furlong: 18 benchmarks, estimated time: 3 min"), "{long}");
    let short = "run pipe --trials 3 --budget 2ms --no-save";
    assert!(!place.run(short.split(' ')).expect_code(0).stderr.contains("estimated time"));
}

#[test]
fn impossible_conditions_are_rejected_before_anything_is_measured() {
    let place = Place::new();
    for (words, expected) in [
        ("--sched fifo", "choose other, batch, idle, fifo:PRIORITY or rr:PRIORITY"),
        ("--nice 20", "write a number from -20 to 19"),
        ("--slice 1s", "write a time from 100us to 100ms"),
        ("--pages 4KiB", "choose 4k, thp or huge"),
        ("--memory-node near", "write the number of a NUMA node"),
        ("--isolation process", "choose thread, fork or exec"),
        ("--quota 120%", "write a share of one CPU from 1% to 100%, or none"),
        ("--beside cpu", "choose none, cpu:N with N from 1 to 64, cache, memory or io"),
        ("--writes 3", "write 1 or 2"),
        ("--socket-options nodelay+nagle", "choose nodelay or nagle"),
        (
            "--socket-options nagle",
            "--socket-options nagle: none of these benchmarks can have this condition",
        ),
    ] {
        let error = place.run(format!("run pipe {words}").split(' ')).expect_code(2).stderr;
        assert!(error.contains(expected), "{error}");
    }
    let words = "run --sched batch --program true pipe --require --no-save --no-progress";
    let refused = place.run(words.split(' ')).expect_code(7).stdout;
    assert!(refused.contains("set their conditions themselves"), "{refused}");
    for (words, expected) in [
        ("pipe -m fan-in --senders 2", "would mix"),
        ("tcp -s 1", "a message of 1 byte has no header and body"),
    ] {
        let words = format!("run {words} --writes 2 --no-progress");
        place.run(words.split(' ')).expect_code(2).expect_complaint(expected);
    }
}

#[test]
fn options_that_exclude_each_other_are_usage_errors_and_nothing_is_measured() {
    let place = Place::new();
    for (words, why) in [
        ("run pipe --sched fifo:1 --quota 20%", "a quota does not limit processes under fifo:1"),
        ("run pipe --sched deadline --nice 5", "--nice 5 has no effect under --sched deadline"),
        ("run pipe --isolation thread --quota 20%", "threads of one process share its control group"),
        ("run pipe --isolation fork --place one-process", "has no two roles on this machine"),
        ("run pipe --isolation thread --boundary user", "one user, one filter"),
        ("run unix-dgram --batch 8", "--batch 8 needs messages that are not answered"),
        ("run pipe --access in-place", "pipe has no zero-copy access"),
        ("run posix-shm/futex --window 2 --place one-process", "--window needs two processes"),
        ("run channel --pages huge", "allocates its memory itself"),
        ("count pipe -s 0", "a message of 0 bytes"),
        ("explain pipe -s 0", "a message of 0 bytes"),
        ("map pipe -s 0", "a message of 0 bytes"),
    ] {
        let finished = place.run(words.split(' ')).expect_code(2).expect_complaint(why);
        assert!(finished.stdout.is_empty() && finished.stderr.contains("    remedy: "), "{finished:#?}");
    }
    // One benchmark is enough.
    let words = "run pipe posix-shm/futex --access in-place --trials 1 --budget 1ms --no-save --no-progress";
    let table = place.run(words.split(' ')).expect_code(0).stdout;
    assert!(table.contains("pipe has no zero-copy access"), "{table}");
    assert!(place.all_saved().is_empty());
}

#[test]
fn nagle_with_two_writes_waits_and_its_cause_is_named() {
    let place = Place::new();
    let words = "tcp --socket-options nodelay --socket-options nagle --writes 1 --writes 2";
    let run = measured(&place, &format!("{words} --save writes"));
    let p50 = |options: &str, writes: &str| {
        let conditions = json!({"socket-options": options, "writes": writes});
        let row = list(&run, "rows").iter().find(|row| row["conditions"] == conditions).expect("a row");
        let nodelay = u64::from(options == "nodelay");
        assert_eq!(row["effective"]["tcp-nodelay"], nodelay, "{row:#}");
        row["round_trip_ns"]["p50"].as_f64().expect("a time")
    };
    let waiting = p50("nagle", "2");
    for (options, writes) in [("nodelay", "1"), ("nodelay", "2"), ("nagle", "1")] {
        assert!(waiting > 5.0 * p50(options, writes), "{run:#}");
    }
    let table = place.run("runs show writes".split(' ')).expect_code(0).stdout;
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(table.contains("--socket-options nodelay removes the wait"), "{table}");
    let run = measured(&place, "tcp --socket-options nagle+quickack --writes 2");
    let row = &list(&run, "rows")[0];
    assert!(waiting > 5.0 * row["round_trip_ns"]["p50"].as_f64().expect("a time"), "{row:#}");
}

#[test]
fn options_and_second_writes_make_the_declared_calls() {
    let place = Place::new();
    let options = "--socket-options nodelay+cork --socket-options nagle+quickack --socket-options zerocopy";
    let words = format!("count tcp udp pipe unix-stream {options} --writes 1 --writes 2 --format json");
    let counted = place.run(words.split(' ')).expect_code(0).json();
    assert_eq!(list(&counted, "rows").len(), 3 * 2 + 1 + 2 + 2, "{counted:#}");
    let writes = |row: &&Value| row["conditions"]["writes"] == "2" && row["mechanism"] == "pipe";
    let row = list(&counted, "rows").iter().find(writes).expect("two writes");
    assert_eq!(row["as_declared"], true, "{row:#}");
}

#[test]
fn batches_are_sent_with_few_calls_and_counted() {
    let place = Place::new();
    let names = "pipe tcp unix-dgram posix-shm";
    let run = measured(&place, &format!("{names} -m one-way -s 100 --batch 1..64:x8 --count --save batches"));
    assert_eq!(list(&run, "rows").len(), 3 * 3 + 1, "{run:#}");
    let row = |mechanism: &str, batch: &str| {
        let is_it = |row: &&Value| row["mechanism"] == mechanism && row["conditions"]["batch"] == batch;
        list(&run, "rows").iter().find(is_it).expect("a row")
    };
    for (mechanism, calls) in
        [("pipe", ["write", "read"]), ("tcp", ["write", "read"]), ("unix-dgram", ["sendmmsg", "recvmmsg"])]
    {
        let (one, full) = (row(mechanism, "1"), row(mechanism, "64"));
        assert!(one["batches"].is_null(), "{one:#}");
        let [sent, received] = [0, 1].map(|role| number(&full["batches"][role], "messages_per_call"));
        // The last message of a part has a separate call.
        assert!(sent > 16.0 && sent <= 64.0 && received > 1.0 && received <= 64.0, "{full:#}");
        assert_eq!([0, 1].map(|role| text(&full["batches"][role], "call")), calls);
        let sends = number(&full["system_calls_per_message"], calls[0]);
        assert!((0.95 / 64.0..1.3 / 64.0).contains(&sends), "{sends} calls per message: {full:#}");
        assert!(number(&full["system_calls_per_message"], calls[1]) <= 1.0, "{full:#}");
    }
    let table = place.run("runs show batches".split(' ')).expect_code(0).stdout;
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["per call", "unix-dgram/block (batch 64)", "per recvmmsg"] {
        assert!(table.contains(words), "no {words} in {table}");
    }
    let run = measured(&place, "pipe -m one-way -s 100 --rate 50k/s --batch 64");
    let row = &list(&run, "rows")[0];
    assert!(number(&row["batches"][0], "messages_per_call") >= 1.0, "{row:#}");
}

#[test]
fn impossible_batches_are_refused_before_anything_is_measured() {
    let place = Place::new();
    for (words, told) in [
        ("pipe --batch 64", "ask for -m one-way, or for --batch 1"),
        ("pipe -m one-way --batch 8 --writes 2", "sends each message in two calls"),
        ("pipe -m one-way -s 1MiB --batch 128", "ask for --batch 64 or less"),
        ("posix-shm -m one-way --batch 8", "none of these benchmarks can have this condition"),
        ("pipe -m one-way --batch 2048", "a number from 1 to 1024"),
    ] {
        place.run(format!("run {words}").split(' ')).expect_code(2).expect_complaint(told);
    }
}

#[test]
fn ordinary_user_is_told_the_missing_right() {
    if !is_root() {
        furlong_testing::skip!("needs root");
    }
    let place = Place::new();
    let words = "run pipe --sched fifo:1 --require --no-save --no-progress";
    let refused = place.finish(&mut place.furlong_as_nobody(words.split(' '))).expect_code(7).stdout;
    assert!(refused.contains("CAP_SYS_NICE"), "{refused}");
    let words = "run pipe --quota 20% --require --no-save --no-progress";
    let refused = place.finish(&mut place.furlong_as_nobody(words.split(' '))).expect_code(7).stdout;
    let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(refused.contains("systemd-run") && refused.contains("-p Delegate=yes"), "{refused}");
}

#[test]
fn real_time_roles_are_measured_and_end() {
    // Real-time roles would take the CPUs from other tests.
    let place = Place::alone();
    if !is_root() || place.finish(&mut place.shell("chrt -f 20 true")).code != Some(0) {
        furlong_testing::skip!("needs root");
    }
    // Each process would keep the others from running.
    let words = "run pipe/spin --place same-core --sched fifo:1 --require --no-save --no-progress";
    let printed = |words: &str| {
        let stdout = place.run(words.split(' ')).expect_code(7).stdout;
        stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let refused = printed(words);
    assert!(refused.contains("2 processes that busy-wait under fifo:1 would share 1 CPU"), "{refused}");
    let words = "-m fan-in --senders 3 --place 0:1 --sched fifo:1 --require --no-save --no-progress";
    let refused = printed(&format!("run pipe/spin {words}"));
    assert!(refused.contains("4 processes that busy-wait under fifo:1 would share 2 CPUs"), "{refused}");
    // A thread of the kernel that busy-waits must not keep a role from its CPU.
    let run = measured(&place, "io-uring-sqpoll --sched other --sched fifo:10");
    assert!(list(&run, "rows").len() != 1, "{run:#}");
    let run = measured(&place, "pipe pipe/spin --sched other --sched fifo:10 --sched rr:10");
    assert_eq!(list(&run, "rows").len(), 6, "{run:#}");
}

#[test]
fn deadline_is_measured_or_refused_with_the_placement_that_is_possible() {
    let place = Place::alone();
    let refused = |words: &str| {
        let words = format!("run pipe {words} --require --no-save --no-progress");
        let stdout = place.run(words.split(' ')).expect_code(7).stdout;
        stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let crowded = refused("--place same-core --sched deadline:9ms/20ms");
    assert!(crowded.contains("2 roles with 45 % on 1 CPUs exceed 80 % of the CPU time"), "{crowded}");
    if !is_root() {
        furlong_testing::skip!("needs root");
    }
    if std::fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").is_ok_and(|value| value.trim() != "-1")
    {
        let pinned = refused("--place other-core --sched deadline");
        assert!(pinned.contains("use --place free"), "{pinned}");
    }
    let run = measured(&place, "pipe --place free --sched other --sched deadline:4ms/10ms");
    assert_eq!(list(&run, "rows").len(), 2, "{run:#}");
    // Two busy-waiting roles on one CPU neither starve each other nor furlong.
    let words = "pipe/spin --place same-core --sched deadline --set kernel.sched_rt_runtime_us=-1";
    let run = measured(&place, words);
    assert_eq!(list(&run, "rows").len(), 1, "{run:#}");
}

#[test]
fn values_in_one_run_are_compared() {
    let place = Place::new();
    measured(&place, "pipe unix-stream --sched other --sched batch --nice 7 --save policies");
    let compared = place.run("compare policies --between sched".split(' ')).expect_code(0).stdout;
    for words in ["sched other", "sched batch", "pipe/block 128B other-core nice 7", "unix-stream/block"] {
        assert!(compared.contains(words), "no {words} in {compared}");
    }
    let refused = place.run("compare policies --between nice".split(' ')).expect_code(2).stderr;
    assert!(refused.contains("run policies has 1 values of nice"), "{refused}");
    let refused = place.run("compare policies --between colour".split(' ')).expect_code(2).stderr;
    assert!(refused.contains("sched, nice, slice"), "{refused}");
}

#[test]
fn windows_think_times_and_accesses_are_in_one_table_and_are_compared() {
    let place = Place::new();
    for (words, axis, names, parts) in [
        ("pipe --window 1..16:x4", "window", ["(window 4)", "(window 16)"], ["window 1", "window 16"]),
        (
            "pipe --think-time 0 --think-time 1us..1ms:x1000",
            "think-time",
            ["(think-time 1us)", "(think-time 1ms)"],
            ["think-time 0", "think-time 1ms"],
        ),
        (
            "pipe -m one-way --rate 5k/s --arrival fixed --arrival poisson --arrival burst:8",
            "arrival",
            ["(arrival poisson)", "(arrival burst:8)"],
            ["arrival fixed", "arrival burst:8"],
        ),
        (
            "memfd-shm/futex -s 4KiB --access copy --access in-place",
            "access",
            ["memfd-shm/futex (in place)", "memfd-shm/futex"],
            ["copied", "in place"],
        ),
    ] {
        let run = measured(&place, &format!("{words} --save {axis}"));
        let groups = values(&run, "group");
        assert!(groups.len() > 1 && groups.iter().all(|group| *group == groups[0]), "{run:#}");
        let table = place.run(["runs", "show", axis]).expect_code(0).stdout;
        let compared = place.run(["compare", axis, "--between", axis]).expect_code(0).stdout;
        for (printed, name) in
            names.map(|name| (&table, name)).into_iter().chain(parts.map(|name| (&compared, name)))
        {
            assert!(printed.contains(name), "no {name} in {printed}");
        }
    }
}

#[test]
fn memory_has_the_requested_pages_or_is_refused() {
    let place = Place::new();
    let names = "memfd-shm/futex sysv-shm/futex posix-shm/futex process-vm pipe eventfd";
    let run = measured(&place, &format!("{names} -s 1MiB --pages 4k --pages thp --pages huge"));
    let of = |kind: &str| {
        let rows = list(&run, "rows").iter().filter(move |row| row["conditions"]["pages"] == *kind);
        rows.map(|row| text(row, "mechanism")).collect::<Vec<_>>()
    };
    assert_eq!(of("4k").len(), 5, "{run:#}");
    for row in list(&run, "rows") {
        let bytes = row["effective"]["page-bytes"].as_u64();
        match row["conditions"]["pages"].as_str() {
            Some("4k") => assert!(bytes < Some(1 << 20), "{row:#}"),
            Some(_) => assert!(bytes >= Some(1 << 20), "{row:#}"),
            // A notification carries no message.
            None => assert_eq!(text(row, "mechanism"), "eventfd"),
        }
    }
    for refused in list(&run, "skipped") {
        assert_eq!(text(refused, "status"), "refused", "{refused:#}");
        assert!(!text(refused, "remedy").is_empty(), "{refused:#}");
    }
    let file_in_huge_pages = list(&run, "skipped").iter().find(|row| row["mechanism"] == "posix-shm");
    let reason = file_in_huge_pages.map(|row| text(row, "reason"));
    assert!(reason.is_some_and(|reason| reason.contains("its file system has no huge pages")), "{run:#}");
}

#[test]
fn huge_pages_without_the_right_are_refused_with_the_remedy() {
    let free = std::fs::read_to_string("/proc/sys/vm/nr_hugepages").unwrap_or_default();
    if !is_root() || free.trim() != "0" {
        furlong_testing::skip!("needs root");
    }
    let place = Place::new();
    let words = "run memfd-shm/futex --pages huge --require --no-save --no-progress";
    let refused = place.finish(&mut place.furlong_as_nobody(words.split(' '))).expect_code(7).stdout;
    let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(refused.contains("as root: sysctl vm.nr_hugepages=N"), "{refused}");
}

#[test]
fn disabled_transparent_pages_are_refused_before_they_are_measured() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        furlong_testing::skip!("needs python3");
    }
    let place = Place::new();
    let disable = "import ctypes, os, sys; ctypes.CDLL(None).prctl(41, 1, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])";
    let words = "run pipe --pages thp --require --no-save --no-progress";
    let mut command = place.program("python3");
    command.args(["-c", disable, env!("CARGO_BIN_EXE_furlong")]).args(words.split(' '));
    let refused = place.finish(&mut command).expect_code(7).stdout;
    let refused = refused.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(refused.contains("0 KiB are in transparent huge pages"), "{refused}");
    assert!(refused.contains("no PR_SET_THP_DISABLE"), "{refused}");
}

#[test]
fn roles_are_threads_or_processes_as_requested() {
    let place = Place::new();
    let kinds = "--isolation thread --isolation fork --isolation exec";
    let run =
        measured(&place, &format!("pipe memfd-shm/spin process-vm anon-shm/futex signal eventfd {kinds}"));
    let of = |kind: &str| {
        let rows = list(&run, "rows").iter().filter(move |row| row["conditions"]["isolation"] == *kind);
        let mut names: Vec<_> = rows.map(|row| text(row, "mechanism")).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(of("thread"), ["anon-shm", "eventfd", "memfd-shm", "pipe", "process-vm"], "{run:#}");
    assert_eq!(of("fork"), ["anon-shm", "eventfd", "memfd-shm", "pipe", "process-vm", "signal"]);
    // A process that executes a program inherits no anonymous memory.
    assert_eq!(of("exec"), ["eventfd", "memfd-shm", "pipe", "process-vm", "signal"]);
    let reasons: Vec<_> = list(&run, "skipped").iter().map(|row| text(row, "reason")).collect();
    assert!(matches!(reasons[..], [reason] if reason.contains("both threads have the same")), "{reasons:?}");
}

#[test]
fn calls_of_each_thread_are_counted() {
    let place = Place::new();
    let words = "run pipe --isolation thread --count --trials 1 --budget 2ms --no-progress --format json";
    let run = place.run(words.split(' ')).expect_code(0).json();
    let row = &list(&run, "rows")[0];
    if row["count_method"] == "rusage" {
        furlong_testing::skip!("needs ptrace");
    }
    let calls = &row["system_calls_per_round_trip"];
    // One of each in each role.
    assert_eq!((&calls["write"], &calls["read"]), (&json!(2.0), &json!(2.0)), "{row:#}");
}

#[test]
fn several_threads_share_an_end() {
    let place = Place::new();
    for pattern in ["fan-in --senders 2", "work --workers 2", "ready --links 2"] {
        let words = format!("run pipe/poll -m {pattern} --isolation thread {QUICKLY}");
        let run = place.run(words.split_whitespace()).json();
        // On a busy machine, several senders may not overlap.
        let has_failed = list(&run, "skipped").iter().any(|row| text(row, "status") != "void");
        assert!(!list(&run, "rows").is_empty() && !has_failed, "{run:#}");
    }
}

#[test]
fn roles_under_a_quota_pause_and_the_cause_is_named() {
    let (before, place) = (Snapshot::take(), Place::new());
    if !is_root() {
        furlong_testing::skip!("needs root");
    }
    let words =
        "run pipe pipe/spin --quota none --quota 20% --trials 3 --budget 300ms --no-progress --format json";
    let run = place.run(words.split(' ')).expect_code(0).json();
    before.expect_nothing_left(&place);
    let [spinning, free] = ["20%", "none"].map(|quota| {
        let wanted =
            |row: &&Value| text(row, "wait") == "spin" && row["conditions"] == json!({"quota": quota});
        list(&run, "rows").iter().find(wanted).expect("a benchmark of each quota")
    });
    assert!(number(spinning, "environment.throttling.periods_share") > 0.05, "{spinning:#}");
    assert!(free["environment"].get("throttling").is_none(), "{free:#}");
    let sentences: Vec<_> = list(&run, "findings").iter().filter_map(Value::as_str).collect();
    let cause = "used up its quota in";
    assert!(sentences.iter().any(|sentence| sentence.contains(cause)), "{sentences:#?}");
}

#[test]
fn trial_whose_neighbour_dies_is_not_valid() {
    let place = Place::new();
    let words = "run pipe --beside cpu:1 --trials 1 --budget 2s --no-save --no-progress --format json";
    let mut running = place.start(&mut place.furlong(words.split(' ')));
    let supervisor = running.pid();
    while !running.has_ended() {
        // Once both roles run, every other child is a neighbour.
        let is_neighbour = |process: &&Process| process.kind == Kind::Other && process.parent == supervisor;
        if place.roles(supervisor).is_some() {
            for neighbour in place.processes().iter().filter(is_neighbour) {
                // A killed process may have exited in the meantime.
                let _ = furlong_os::process::send_signal(neighbour.pid, libc::SIGKILL);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let summary = running.finish().expect_code(1).summary();
    let reason = &summary.skipped[0].reason;
    // The last neighbour may have been killed before its report.
    let has_died = reason.contains("has died") || reason.contains("ended without a report");
    assert!(reason.contains("the neighbour 'cpu:1'") && has_died, "{reason}");
}

#[test]
fn neighbours_run_on_the_cpus_of_the_roles() {
    let place = Place::new();
    let words = "pipe --beside none --beside cpu:2 --place same-core --trials 3 --budget 20ms";
    let run = place.run(format!("run {words} --no-progress --format json").split(' ')).expect_code(0).json();
    let [busy, quiet] = ["cpu:2", "none"].map(|neighbour| {
        let wanted = |row: &&Value| row["conditions"] == json!({"beside": neighbour});
        list(&run, "rows").iter().find(wanted).expect("a benchmark with each neighbour")
    });
    assert!(quiet["environment"].get("neighbours").is_none(), "{quiet:#}");
    let neighbours = list(busy, "environment.neighbours");
    assert_eq!(neighbours.len(), 2, "{busy:#}");
    for neighbour in neighbours {
        assert_eq!((&neighbour["work"], &neighbour["processor"]), (&json!("cpu:2"), &busy["processors"][0]));
        assert!(number(neighbour, "cpu_ns") > 0.0, "{busy:#}");
    }
}
