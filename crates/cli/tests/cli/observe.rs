//! `furlong observe`: furlong's own benchmarks are the ground truth.

use crate::common::value::{at, list, number, text};
use crate::common::{Place, Snapshot, is_root, look_for};
use furlong_os::other_process;
use furlong_testing::skip;
use serde_json::Value;
use std::fs;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(20);

/// Observes a run of these rows, and returns the observation.
fn observe_run(place: &Place, options: &str) -> Value {
    let program = place.furlong([]).get_program().to_string_lossy().into_owned();
    let command = format!("'{program}' run {options} --trials 1 --warm-up 1ms --no-save --no-progress");
    let finished = place.run(["observe", "--format", "json", "--command", &command]).expect_code(0);
    assert!(finished.stderr.contains("pipe"), "the output of the run: {finished:#?}");
    finished.json()
}

/// Returns the link of this kind with the most messages.
#[track_caller]
fn busiest<'a>(found: &'a Value, means: &str) -> &'a Value {
    let link = list(found, "links").iter().find(|link| text(link, "means") == means);
    link.unwrap_or_else(|| panic!("no {means} in {found:#}"))
}

/// Returns the only process at an end of a link.
#[track_caller]
fn only<'a>(link: &'a Value, end: &str) -> &'a Value {
    match list(link, end) {
        [only] => only,
        others => panic!("{} {end} of {link:#}", others.len()),
    }
}

#[test]
fn one_way_benchmarks_are_recognized() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::alone();
    let rows = "pipe/block fifo/epoll unix-stream/block tcp/block posix-mq/block sysv-mq/block";
    let found = observe_run(&place, &format!("{rows} -m one-way --rate 2k/s -s 200 --budget 400ms"));
    for (means, wait) in [
        ("pipe", "blocks"),
        ("fifo", "awaits-readiness"),
        ("unix", "blocks"),
        ("tcp", "blocks"),
        ("posix-mq", "blocks"),
        ("sysv-mq", "blocks"),
    ] {
        let link = busiest(&found, means);
        assert_eq!(number(link, "size_bytes.p50"), 200.0, "{link:#}");
        let (sender, receiver) = (only(link, "senders"), only(link, "receivers"));
        assert_ne!(at(sender, "pid"), at(receiver, "pid"), "{link:#}");
        assert_eq!(text(receiver, "wait"), wait, "{link:#}");
        // 400 ms at 2,000/s, and the messages of the verification and the warm-up. The first ones may be sent before the object
        // is identified, and a busy machine sends late.
        assert!((100.0..4000.0).contains(&number(link, "messages")), "{link:#}");
        let received = number(receiver, "messages");
        assert!((received / number(sender, "messages") - 1.0).abs() < 0.02, "{link:#}");
        // The receiver sleeps before each timed message. The other messages are sent back to back.
        assert!((0.1..1.5).contains(&number(receiver, "sleeps_per_message")), "{link:#}");
        assert!(number(link, "transit_ns.p50") > 500.0, "{link:#}");
    }
    assert_eq!(at(&found, "observer.lost_events"), 0, "{:#}", at(&found, "observer"));
    assert!(number(&found, "observer.traced_call_ns") > 20.0 && at(&found, "schema") == 1, "{found:#}");
}

#[test]
fn round_trips_and_busy_waits_are_recognized() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::alone();
    let rows = "pipe/block unix-stream/poll eventfd/block posix-shm/futex";
    let found = observe_run(&place, &format!("{rows} --rate 1k/s --budget 300ms --place other-core"));
    for (means, wait) in
        [("pipe", "blocks"), ("unix", "awaits-readiness"), ("eventfd", "blocks"), ("futex", "blocks")]
    {
        let link = busiest(&found, means);
        assert_eq!(text(link, "pattern"), "requests-and-responses", "{link:#}");
        assert_eq!(text(only(link, "receivers"), "wait"), wait, "{link:#}");
        let has_size = !at(link, "size_bytes").is_null();
        assert_eq!(has_size, matches!(means, "pipe" | "unix" | "eventfd"), "{link:#}");
        // Each process waits for the other.
        assert_eq!(list(link, "round_trips").len(), 2, "{link:#}");
    }
    // The initiator waits a millisecond between two requests, so the responder waits longer for a message.
    let link = busiest(&found, "pipe");
    let requester = number(link, "requester");
    let times = list(link, "round_trips").iter().map(|end| (number(end, "pid"), number(end, "time_ns.p50")));
    let times: Vec<_> = times.collect();
    assert!(times.iter().all(|(pid, ns)| (*pid == requester) == (*ns < 500e3)), "{link:#}");
    assert!(
        list(&found, "shared_memory").iter().any(|memory| text(memory, "kind") == "posix-shm"),
        "{found:#}"
    );

    // Roles that never yield make a million calls per second, and leave no CPU to the observer here.
    let spinning = observe_run(&place, "pipe/yield --rate 1k/s --budget 800ms --place same-core");
    let receiver = only(busiest(&spinning, "pipe"), "receivers");
    assert_eq!(text(receiver, "wait"), "busy-waits", "{receiver:#}");
    assert!(number(receiver, "failed_attempts_per_message") > 0.5, "{receiver:#}");
}

#[test]
fn connection_per_message_has_both_processes() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::alone();
    let rows = "unix-accept tcp-accept pipe/block";
    let found = observe_run(&place, &format!("{rows} -m one-way --rate 1k/s -s 200 --budget 600ms"));
    for means in ["unix", "tcp"] {
        let link = busiest(&found, means);
        let (sender, receiver) = (only(link, "senders"), only(link, "receivers"));
        assert_ne!(at(sender, "pid"), at(receiver, "pid"), "{link:#}");
        assert_eq!((number(link, "size_bytes.p50"), text(receiver, "wait")), (200.0, "blocks"), "{link:#}");
        assert!(number(sender, "messages") > 200.0 && !text(link, "object").is_empty(), "{link:#}");
        assert!((number(receiver, "messages") / number(sender, "messages") - 1.0).abs() < 0.25, "{link:#}");
    }
}

#[test]
fn locks_and_watched_files_are_links() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::alone();
    for (wait, means) in [("inotify", "inotify"), ("flock", "flock"), ("fcntl-lock", "fcntl-lock")] {
        let rows = format!("file-shm/{wait} pipe/block -m one-way --rate 1k/s --budget 300ms");
        let found = observe_run(&place, &rows);
        let link = busiest(&found, means);
        let (sender, receiver) = (only(link, "senders"), only(link, "receivers"));
        assert_ne!(at(sender, "pid"), at(receiver, "pid"), "{link:#}");
        assert_eq!(text(receiver, "wait"), "blocks", "{link:#}");
        assert!((100.0..2000.0).contains(&number(receiver, "messages")), "{link:#}");
        assert!(number(sender, "messages") > 0.8 * number(receiver, "messages"), "{link:#}");
    }
}

#[test]
fn datagrams_through_separate_sockets_are_requests() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::alone();
    let found = observe_run(&place, "unix-dgram-to-all pipe/block udp-multicast --rate 1k/s --budget 300ms");
    for means in ["unix", "udp"] {
        let links = list(&found, "links").iter();
        let links = links.filter(|link| text(link, "means") == means && number(link, "messages") > 50.0);
        let links: Vec<_> = links.collect();
        assert!(links.len() > 1, "{found:#}");
        for link in links {
            assert_eq!(text(link, "pattern"), "requests-and-responses", "{link:#}");
        }
    }
}

#[test]
fn running_processes_are_observed_and_their_messages_saved() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::alone();
    let run =
        "run unix-stream/block -m one-way --rate 2k/s -s 300 --budget 6s --trials 1 --no-save --no-progress";
    let running = place.start(&mut place.furlong(run.split(' ')));
    // Earlier children measure the machine.
    let steady_roles = || {
        let roles = place.roles(running.pid())?;
        std::thread::sleep(Duration::from_millis(500));
        let now = place.roles(running.pid())?;
        (now[0].pid == roles[0].pid).then_some(now)
    };
    let roles = look_for(A_WHILE, steady_roles).expect("roles");
    let pid = running.pid().to_string();
    let words = ["observe", &pid, "--for", "1s", "--save-trace", "seen.jsonl", "--format", "json"];
    let found = place.run(words).expect_code(0).json();
    let link = busiest(&found, "unix");
    let ends = ["senders", "receivers"].map(|end| number(only(link, end), "pid") as i32);
    let mut pids = roles.map(|role| role.pid);
    pids.sort_unstable();
    assert!(pids.iter().all(|pid| ends.contains(pid)), "{pids:?} {link:#}");
    assert!((number(link, "messages_per_s") / 2000.0 - 1.0).abs() < 0.05, "{link:#}");
    assert!((number(link, "bytes_per_s") / 600e3 - 1.0).abs() < 0.05, "{link:#}");
    assert_eq!(text(link, "pattern"), "unanswered", "{link:#}");
    running.finish_within(A_WHILE).expect_code(0);
    let info = place.run(["trace", "info", "seen.jsonl"]).expect_code(0).stdout;
    assert!(info.contains("Sizes: mean 300 B"), "{info}");
    let trace = fs::read_to_string(place.path("seen.jsonl")).unwrap();
    let message: Value = serde_json::from_str(trace.lines().next().unwrap()).unwrap();
    let link = format!("{}->{}", text(&message, "sender"), text(&message, "receiver"));
    let replay = ["run", "pipe", "-m", "one-way", "--arrival", "trace:seen.jsonl", "--link", &link];
    place.run(replay.into_iter().chain(["--trials", "1", "--no-save"])).expect_code(0);
}

/// Writes lines into a pipe, with a new process after each one.
const LINES: &str = "while echo line; do sleep 0.005; done | cat >/dev/null";

#[test]
fn control_group_is_observed_with_later_processes() {
    let root = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(std::path::PathBuf::from);
    let root = root.into_iter().find(|root| root.join("cgroup.controllers").exists());
    let (true, Some(root)) = (is_root(), root) else { skip!("needs root and control groups of version 2") };
    let place = Place::alone();
    let folder = root.join(format!("furlong-test-{}", std::process::id()));
    fs::create_dir(&folder).expect("a control group");
    let remove = furlong_os::cleanup::CleanUp::new({
        let folder = folder.clone();
        move || fs::remove_dir(folder)
    });
    let outside = place.start(&mut place.shell(LINES));
    let enter = format!("echo 0 >{}/cgroup.procs; (sleep 1; {LINES}) & {LINES}", folder.display());
    let inside = place.start(&mut place.shell(&enter));
    look_for(A_WHILE, || {
        fs::read_to_string(folder.join("cgroup.procs")).ok().filter(|pids| pids.lines().count() > 3)
    });
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    let observe = |words: &[&str]| {
        let words = ["observe"].into_iter().chain(words.iter().copied());
        let words = words.chain(["--for", "2s", "--format", "json"]);
        let observer = place.start(&mut place.furlong(words));
        let pid = f64::from(observer.pid());
        let found = observer.finish_within(A_WHILE).expect_code(0).json();
        assert!(list(&found, "processes").iter().all(|process| number(process, "pid") != pid), "{found:#}");
        found
    };
    let pipes = |found: &Value| {
        let links = list(found, "links").iter().filter(|link| {
            text(link, "means") == "pipe"
                && number(link, "messages") > 20.0
                && !list(link, "receivers").is_empty()
        });
        links
            .map(|link| text(only(link, "receivers"), "command").to_owned())
            .filter(|name| name == "cat")
            .count()
    };
    let found = observe(&["--cgroup", &name]);
    // The second pipe is made while the group is observed.
    assert_eq!((pipes(&found), at(&found, "observer.lost_events")), (2, &Value::from(0)), "{found:#}");
    let all = observe(&["--all"]);
    assert!(pipes(&all) >= 3, "{all:#}");
    for running in [outside, inside] {
        running.signal(libc::SIGKILL);
        running.finish_within(A_WHILE);
    }
    let _ = fs::write(folder.join("cgroup.kill"), "1");
    look_for(A_WHILE, || fs::read_to_string(folder.join("cgroup.procs")).ok().filter(String::is_empty));
    drop(remove);
    assert!(!folder.exists());
}

#[test]
fn killed_observer_leaves_the_observed_program_alone() {
    if !is_root() {
        skip!("needs root");
    }
    let (before, place) = (Snapshot::take(), Place::new());
    let run =
        "run pipe/block -m one-way --rate 5k/s --budget 2s --trials 1 --no-save --no-progress --format json";
    let running = place.start(&mut place.furlong(run.split(' ')));
    look_for(A_WHILE, || place.roles(running.pid())).expect("roles");
    let pid = running.pid().to_string();
    for moment_ms in [5, 20, 60, 130, 250] {
        let observer = place.start(&mut place.furlong(["observe", &pid]));
        std::thread::sleep(Duration::from_millis(moment_ms));
        observer.signal(libc::SIGKILL);
        observer.finish_within(A_WHILE);
    }
    let observer = place.start(&mut place.furlong(["observe", "--command", "exec sleep 60"]));
    let is_sleep = |pid: &i32| other_process::name(*pid) == "sleep";
    let sleep =
        look_for(A_WHILE, || other_process::with_descendants(observer.pid()).into_iter().find(is_sleep));
    observer.signal(libc::SIGKILL);
    observer.finish_within(A_WHILE);
    let sleep = sleep.expect("the command");
    // The kernel would have killed it by now.
    std::thread::sleep(Duration::from_millis(100));
    assert!(is_sleep(&sleep), "{sleep}");
    other_process::kill(sleep).expect("end of the command");
    let finished = running.finish_within(A_WHILE).expect_code(0);
    before.expect_nothing_left(&place);
    assert_eq!(list(&finished.json(), "rows").len(), 1);
}

#[test]
fn exited_process_does_not_make_the_observer_busy() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::alone();
    let [short, long] = ["0.5", "5"].map(|seconds| place.start(place.program("sleep").arg(seconds)));
    let pids = [&short, &long].map(|sleep| sleep.pid().to_string());
    let words = ["observe", &pids[0], &pids[1], "--for", "1s", "--format", "json"];
    let running = place.start(&mut place.furlong(words));
    // The test must reap it, because a zombie still has a PID.
    short.finish_within(A_WHILE);
    let found = running.finish_within(A_WHILE).expect_code(0).json();
    assert!(number(&found, "observer.cpu_share") < 0.2, "{found:#}");
    assert!(number(&found, "duration_ns") > 0.9e9, "{found:#}");
    long.signal(libc::SIGKILL);
    long.finish_within(A_WHILE);
}

#[test]
fn missing_processes_and_rights_are_reported() {
    let place = Place::new();
    place.run(["observe"]).expect_code(2);
    place.run(["observe", "0"]).expect_code(2);
    place.run(["observe", "1", "--command", "true"]).expect_code(2);
    place.run(["observe", "--all", "--cgroup", "/"]).expect_code(2);
    place.run(["observe", "--cgroup", "no-such"]).expect_code(2).expect_complaint("is not a control group");
    if is_root() {
        place.run(["observe", "4194304"]).expect_code(2).expect_complaint("there is no process 4194304");
        let denied = place.finish(&mut place.furlong_as_nobody(["observe", "1"])).expect_code(7);
        assert!(denied.stderr.contains("remedy: run as root, or with CAP_PERFMON"), "{denied:#?}");
        // These rights permit to list the descriptors of others, but not to read their links.
        let rights = "+perfmon,+dac_read_search";
        let script = format!(
            "mount -t tracefs none /sys/kernel/tracing && exec setpriv --inh-caps {rights} --ambient-caps {rights} \
             --reuid=65534 --regid=65534 --clear-groups ./furlong observe {} --for 10ms",
            std::process::id()
        );
        let mut command = place.program("unshare");
        let denied = place.finish(command.args(["-m", "sh", "-c", &script])).expect_code(7);
        assert!(denied.stderr.contains("CAP_SYS_PTRACE"), "{denied:#?}");
    }
}
