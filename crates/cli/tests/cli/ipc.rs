//! `furlong ipc`: each kind of object with its holders, content and state, as `ss` and `ipcs` report them.

use crate::common::value::{at, list, text};
use crate::common::{Place, is_root, look_for};
use furlong_os::linux::readiness::Epoll;
use furlong_os::linux::{eventfd, fifo, io_uring, pipe, posix_queue, segment, sysv_queue, sysv_segment};
use furlong_os::linux::{signal, sysv_semaphore};
use furlong_os::memory::Region;
use furlong_os::process::{Bond, fork};
use furlong_os::wait::Interest;
use furlong_testing::skip;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Write, stderr};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A process that sleeps, and that holds one object as its standard input.
struct Sleeper(Child);

impl Sleeper {
    fn with(object: impl Into<OwnedFd>) -> Sleeper {
        let mut command = Command::new("sleep");
        // The output of the tests may be a pipe, which would be a second link.
        command.arg("600").stdin(object.into()).stdout(Stdio::null()).stderr(Stdio::null());
        Sleeper(command.spawn().expect("sleep starts"))
    }

    fn pid(&self) -> i32 {
        self.0.id() as i32
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Removes a System V object.
struct Removal(&'static str, i32);

impl Drop for Removal {
    fn drop(&mut self) {
        let _ = Command::new("ipcrm").args([self.0, &self.1.to_string()]).status();
    }
}

fn own_pid() -> i32 {
    std::process::id() as i32
}

fn inode(descriptor: &impl AsRawFd) -> u64 {
    fs::metadata(format!("/proc/self/fd/{}", descriptor.as_raw_fd())).expect("our own descriptor").ino()
}

fn objects(place: &Place, options: &[&str]) -> Vec<Value> {
    let arguments = ["ipc", "--format", "json"].iter().chain(options).copied();
    list(&place.run(arguments).expect_code(0).json(), "objects").to_vec()
}

/// Returns the only object of this kind that satisfies `is_it`.
#[track_caller]
fn one(place: &Place, options: &[&str], kind: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let found = objects(place, options);
    let mut found = found.into_iter().filter(|object| text(object, "kind") == kind && is_it(object));
    let object = found.next().unwrap_or_else(|| panic!("no {kind}"));
    let other = found.next();
    assert!(other.is_none(), "{object:#} and {other:#?}");
    object
}

/// Returns the object that links this process with the sleeper.
#[track_caller]
fn link_with(place: &Place, sleeper: &Sleeper, kind: &str) -> Value {
    one(place, &[&sleeper.pid().to_string()], kind, |object| holder(object, own_pid()).is_some())
}

/// Returns a holder's access.
fn holder(object: &Value, pid: i32) -> Option<String> {
    let holder = list(object, "holders").iter().find(|holder| holder["pid"] == pid)?;
    Some(text(holder, "access").to_owned())
}

/// Returns the amounts at `path`, for example `3 messages`.
fn amounts(object: &Value, path: &str) -> Vec<String> {
    let amount = |amount: &Value| format!("{} {}", at(amount, "value"), text(amount, "unit"));
    list(object, path).iter().map(amount).collect()
}

#[track_caller]
fn expect_holders(object: &Value, expected: [(i32, &str); 2]) {
    for (pid, access) in expected {
        assert_eq!(holder(object, pid).as_deref(), Some(access), "{pid} of {object:#}");
    }
    let sleeper = list(object, "holders").iter().find(|holder| holder["pid"] == expected[1].0);
    assert_eq!(sleeper.map(|holder| text(holder, "command")), Some("sleep"), "{object:#}");
    assert_eq!(text(object, "state"), "in-use");
}

#[test]
fn pipe_shows_direction_content_and_size() {
    let (reader, writer) = pipe::pipe().unwrap();
    let (place, sleeper) = (Place::new(), Sleeper::with(reader));
    File::from(writer.try_clone().unwrap()).write_all(b"five.").unwrap();
    // cargo's job server is also a pipe that both processes hold.
    let object =
        one(&place, &[&sleeper.pid().to_string()], "pipe", |object| object["number"] == inode(&writer));
    expect_holders(&object, [(own_pid(), "writes"), (sleeper.pid(), "reads")]);
    if is_root() {
        assert_eq!(
            (amounts(&object, "content"), amounts(&object, "size")),
            (vec!["5 bytes".into()], vec!["65536 bytes".into()])
        );
    }
    let table = place.run(["ipc", &sleeper.pid().to_string(), "--kind", "pipe"]).expect_code(0).stdout;
    assert!(table.contains(&format!(" {} → sleep {}", own_pid(), sleeper.pid())), "{table}");
}

#[test]
fn fifo_shows_its_name_and_cannot_command_the_terminal() {
    let place = Place::new();
    let path = place.path("fifo\u{1b}[31m\nred\u{202e}");
    let (reader, writer) = fifo::fifo(&path).unwrap();
    let sleeper = Sleeper::with(reader);
    let object = link_with(&place, &sleeper, "fifo");
    expect_holders(&object, [(own_pid(), "writes"), (sleeper.pid(), "reads")]);
    assert!(text(&object, "name").starts_with(path.to_str().unwrap()), "{object:#}");
    let table = place.run(["ipc", &sleeper.pid().to_string()]).expect_code(0).stdout;
    assert!(table.contains("[31m red"), "{table}");
    assert!(!table.contains(['\u{1b}', '\u{202e}']), "{table:?}");
    drop(writer);
}

#[test]
fn unix_connection_is_one_object_with_both_ends() {
    let place = Place::new();
    let path = place.path("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let client = UnixStream::connect(&path).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let client_inode = inode(&client);
    let sleeper = Sleeper::with(client);
    server.write_all(b"seven b").unwrap();
    let object = link_with(&place, &sleeper, "unix");
    expect_holders(&object, [(own_pid(), "reads-and-writes"), (sleeper.pid(), "reads-and-writes")]);
    assert_eq!(text(&object, "name"), path.to_str().unwrap());
    assert_eq!(amounts(&object, "content"), ["7 bytes"]);
    let ends = list(&object, "ends");
    let client = ends.iter().find(|end| end["inode"] == client_inode).unwrap();
    assert_eq!(
        (ends.len(), &client["receive_queue_bytes"], &client["address"]),
        (2, &7.into(), &Value::Null)
    );
    let table = place.run(["ipc", &sleeper.pid().to_string()]).expect_code(0).stdout;
    assert!(table.contains(&format!("sleep {} ↔ ", sleeper.pid())), "{table}");

    let waiting = UnixStream::connect(&path).unwrap();
    let listening =
        one(&place, &["--all", "--kind", "unix"], "unix", |object| object["number"] == inode(&listener));
    assert_eq!(
        (amounts(&listening, "content"), holder(&listening, own_pid())),
        (vec!["1 connections".into()], Some("listens".into()))
    );
    assert!(at(&listening, "created_unix_s").is_i64(), "{listening:#}");
    drop(waiting);
}

#[test]
fn datagram_receiver_has_its_senders() {
    let place = Place::new();
    let path = place.path("receiver");
    let receiver = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    let sender = std::os::unix::net::UnixDatagram::unbound().unwrap();
    sender.connect(&path).unwrap();
    sender.send(b"datagram").unwrap();
    let sleeper = Sleeper::with(sender);
    let object = link_with(&place, &sleeper, "unix");
    expect_holders(&object, [(own_pid(), "listens"), (sleeper.pid(), "writes")]);
    assert_eq!(
        (at(&object, "number"), text(&object, "name")),
        (&inode(&receiver).into(), path.to_str().unwrap())
    );
    let content = amounts(&object, "content");
    assert!(content[0].ends_with(" kernel-bytes") && content[0] != "0 kernel-bytes", "{content:?}");
}

#[test]
fn internet_connection_is_one_object_with_the_address_of_its_server() {
    let place = Place::new();
    for address in ["127.0.0.1:0", "0.0.0.0:0"] {
        let listener = TcpListener::bind(address).unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        server.write_all(b"seven b").unwrap();
        let sleeper = Sleeper::with(client);
        let object = link_with(&place, &sleeper, "tcp");
        expect_holders(&object, [(own_pid(), "reads-and-writes"), (sleeper.pid(), "reads-and-writes")]);
        assert_eq!(text(&object, "name"), format!("127.0.0.1:{port}"));
        assert_eq!((amounts(&object, "content"), list(&object, "ends").len()), (vec!["7 bytes".into()], 2));

        let receiver = UdpSocket::bind(address).unwrap();
        let port = receiver.local_addr().unwrap().port();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(("127.0.0.1", port)).unwrap();
        let sleeper = Sleeper::with(sender);
        let object = link_with(&place, &sleeper, "udp");
        expect_holders(&object, [(own_pid(), "listens"), (sleeper.pid(), "writes")]);
    }
}

#[test]
fn connected_sockets_are_those_of_ss() {
    let place = Place::new();
    let Ok(ss) = Command::new("ss").arg("-xanH").output() else { skip!("needs ss") };
    assert!(ss.status.success());
    let (one_end, other_end) = UnixStream::pair().unwrap();
    let (one_end, other_end) = ([inode(&one_end), inode(&other_end)], Sleeper::with(other_end));
    let object = link_with(&place, &other_end, "unix");
    let mut ends: Vec<_> = list(&object, "ends").iter().filter_map(|end| end["inode"].as_u64()).collect();
    ends.sort_unstable();
    let mut expected = one_end;
    expected.sort_unstable();
    assert_eq!(ends, expected);
    // Columns of ss: type, state, two queues, local address and inode, peer's address and inode.
    let ss = String::from_utf8(Command::new("ss").arg("-xanH").output().unwrap().stdout).unwrap();
    let pairs = ss.lines().filter_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        Some([words.get(5)?.parse::<u64>().ok()?, words.get(7)?.parse::<u64>().ok()?])
    });
    let pairs: Vec<_> = pairs.collect();
    assert!(pairs.contains(&one_end), "{one_end:?} in {ss}");
    // Sockets of other tests come and go, so only those that exist before and after are compared.
    let connections = objects(&place, &["--all", "--kind", "unix"]);
    for object in connections.iter().filter(|object| object.get("ends").is_some()) {
        let ends: Vec<_> = list(object, "ends").iter().filter_map(|end| end["inode"].as_u64()).collect();
        let known = |inode: &u64| pairs.iter().find(|[own, _]| own == inode).map(|[_, peer]| *peer);
        if let [first, second] = ends[..]
            && let (Some(peer), true) = (known(&first), known(&second).is_some())
        {
            assert!(peer == second || known(&second) == Some(first), "{object:#} in {ss}");
        }
    }
}

#[test]
fn posix_queue_shows_waiting_messages() {
    let place = Place::new();
    let queue = posix_queue::create(&format!("furlong-test-{}", own_pid()), 4, 100).unwrap();
    for message in [&b"three bytes"[..], b"six"] {
        posix_queue::send(queue.as_fd(), message, 0).unwrap();
    }
    let sleeper = Sleeper::with(queue.try_clone().unwrap());
    let object = link_with(&place, &sleeper, "posix-mq");
    expect_holders(&object, [(own_pid(), "reads-and-writes"), (sleeper.pid(), "reads-and-writes")]);
    assert_eq!(amounts(&object, "content"), ["2 messages", "14 bytes"]);
    assert_eq!(amounts(&object, "size"), ["4 messages", "400 bytes"]);
    assert!(text(&object, "name").starts_with("/furlong-test-"), "{object:#}");
}

#[test]
fn queue_that_no_process_has_open_is_an_orphan() {
    let place = Place::new();
    if !is_root() {
        skip!("needs root");
    }
    let script = "mkdir queues && mount -t mqueue none queues && touch queues/left && \"$FURLONG\" ipc --kind posix-mq && \
                  \"$FURLONG\" ipc --kind sysv-mq";
    let mut command = place.program("unshare");
    command.args(["--mount", "--ipc", "sh", "-c", script]);
    let table = place.finish(&mut command).expect_code(0).stdout;
    assert!(table.contains("/left") && table.contains("orphan") && table.contains("0 msgs"), "{table}");
    assert!(table.contains("in other IPC namespaces: their System V objects"), "{table}");
}

#[test]
fn descriptors_without_a_number_are_shared_only_if_the_kernel_compares_them_equal() {
    let place = Place::new();
    let counter = eventfd::eventfd().unwrap();
    eventfd::add(counter.as_fd(), 17).unwrap();
    let mut shared = vec![("eventfd", counter.try_clone().unwrap())];
    let number = signal::message_signal();
    shared.push(("signalfd", signal::signalfd(&[number]).unwrap()));
    match io_uring::create(io_uring::Submission::Own) {
        Ok((ring, _)) => shared.push(("io-uring", ring)),
        Err(error) => assert!(error.to_string().contains("io_uring"), "{error}"),
    }
    let _other = signal::signalfd(&[number]).unwrap();
    for (kind, descriptor) in shared {
        let sleeper = Sleeper::with(descriptor.try_clone().unwrap());
        let object = link_with(&place, &sleeper, kind);
        expect_holders(&object, [(own_pid(), "reads-and-writes"), (sleeper.pid(), "reads-and-writes")]);
        if kind == "eventfd" {
            assert_eq!(amounts(&object, "content"), ["17 count"]);
        }
    }
    // Two sets of epoll with equal content are two objects.
    let sets = [(); 2].map(|()| Epoll::new(&[counter.as_fd()], Interest::Readable).unwrap());
    let own = own_pid().to_string();
    let epolls = objects(&place, &["--all", &own, "--kind", "epoll"]);
    assert!(epolls.len() >= sets.len(), "{epolls:#?}");
}

#[test]
fn mapped_memory_shows_its_mappers() {
    let place = Place::new();
    let path = place.path("mapped");
    fs::write(&path, vec![0; 8192]).unwrap();
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let memfd = segment::memfd("furlong test", 12288).unwrap();
    let _anonymous = Region::anonymous(20480).unwrap();
    let _file = Region::from_file(file.as_fd(), 8192).unwrap();
    let _memfd = Region::from_file(memfd.as_fd(), 12288).unwrap();
    let sysv = sysv_segment::create(16384, None).unwrap();
    let child = fork(&[], stderr().as_fd(), Bond::DiesWithParent, || {
        std::thread::sleep(Duration::from_secs(600));
        0
    })
    .unwrap();
    let pid = child.pid();
    // The child closes its descriptors first.
    let is_settled = || fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count() <= 3;
    look_for(Duration::from_secs(10), || is_settled().then_some(()))
        .expect("a child that has closed its descriptors");
    let own = own_pid().to_string();
    let with_child = |object: &Value| holder(object, pid).is_some();
    for (kind, size, name) in [
        ("anon-shm", "20480 bytes", None),
        ("file-shm", "8192 bytes", path.to_str()),
        ("memfd", "12288 bytes", Some("furlong test")),
        ("sysv-shm", "16384 bytes", None),
    ] {
        let is_it = |object: &Value| with_child(object) && amounts(object, "size") == [size];
        let object = one(&place, &[&own, "--kind", kind], kind, is_it);
        assert_eq!(
            (holder(&object, own_pid()), holder(&object, pid)),
            (Some("maps".into()), Some("maps".into())),
            "{object:#}"
        );
        assert!(name.is_none() || object["name"].as_str() == name, "{object:#}");
        let is_number = kind != "sysv-shm" || object["number"] == sysv.number;
        assert!(is_number && text(&object, "state") == "in-use", "{object:#}");
    }
    drop(child);
}

#[test]
fn system_v_objects_are_those_of_ipcs() {
    let place = Place::new();
    let key = own_pid() << 8 | 0x7f;
    let queue = sysv_queue::create(key, 4096).unwrap();
    let _queue = Removal("-q", queue);
    let set = sysv_semaphore::create(key, 3).unwrap();
    let _set = Removal("-s", set);
    let mut message = [0; sysv_queue::PREFIX_BYTES + 9];
    sysv_queue::send(queue, &mut message, true).unwrap();
    for index in [0, 0, 2] {
        sysv_semaphore::post(set, index).unwrap();
    }
    let own = own_pid();
    let object = one(&place, &["--all", "--kind", "sysv-mq"], "sysv-mq", |object| object["number"] == queue);
    assert_eq!(
        (amounts(&object, "content"), amounts(&object, "size")),
        (vec!["1 messages".into(), "9 bytes".into()], vec!["4096 bytes".into()])
    );
    assert_eq!((holder(&object, own).as_deref(), text(&object, "state")), (Some("sent-last"), "in-use"));
    assert_eq!(text(&object, "name"), format!("{key:#010x}"));
    let object = one(&place, &["--all", "--kind", "sysv-sem"], "sysv-sem", |object| object["number"] == set);
    assert_eq!(
        (amounts(&object, "content"), amounts(&object, "size")),
        (vec!["3 count".into(), "0 waiters".into()], vec!["3 semaphores".into()])
    );
    assert_eq!(holder(&object, own).as_deref(), Some("changed-last"));

    // ipcs prints key, ID, owner, mode, then bytes and messages, or the number of semaphores.
    let ipcs = |option: &str, id: i32| {
        let output = Command::new("ipcs").arg(option).output().ok()?;
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some(&id.to_string()))?;
        Some(line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    if Command::new("ipcs").output().is_err() {
        skip!("needs ipcs");
    }
    assert_eq!(ipcs("-q", queue).unwrap()[4..], ["9", "1"]);
    assert_eq!(ipcs("-s", set).unwrap()[4..], ["3"]);
    assert_eq!(ipcs("-q", queue).unwrap()[0], format!("{key:#010x}"));
}

#[test]
fn unused_objects_are_orphans() {
    let place = Place::new();
    let Ok(made) = Command::new("ipcmk").args(["-M", "5000"]).output() else { skip!("needs ipcmk") };
    let made = String::from_utf8(made.stdout).unwrap();
    let id: i32 = made.split_whitespace().last().and_then(|id| id.parse().ok()).expect("an ID");
    let _segment = Removal("-m", id);
    let queue = sysv_queue::create(own_pid() << 8 | 0x7e, 4096).unwrap();
    let _queue = Removal("-q", queue);
    let mut child = fork(&[], stderr().as_fd(), Bond::DiesWithParent, || {
        i32::from(sysv_queue::send(queue, &mut [0; sysv_queue::PREFIX_BYTES + 1], true).is_err())
    })
    .unwrap();
    assert!(child.wait().is_some());
    let shm = format!("furlong-test-{}", own_pid());
    fs::write(format!("/dev/shm/{shm}"), [1; 100]).unwrap();
    let (fifo, socket) = (place.path("tmp/left-fifo"), place.path("tmp/left-socket"));
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    drop(UnixListener::bind(&socket).unwrap());
    let report = place.run(["ipc", "--orphans", "--format", "json"]).expect_code(0).json();
    let found = list(&report, "objects");
    fs::remove_file(format!("/dev/shm/{shm}")).unwrap();

    let state = |kind: &str, is_it: &dyn Fn(&Value) -> bool| {
        let found = found.iter().find(|object| text(object, "kind") == kind && is_it(object));
        found.map(|object| text(object, "state").to_owned())
    };
    let named = |name: String| move |object: &Value| object["name"].as_str() == Some(&name);
    assert_eq!(state("sysv-shm", &|object| object["number"] == id).as_deref(), Some("orphan"));
    assert_eq!(state("sysv-mq", &|object| object["number"] == queue).as_deref(), Some("users-exited"));
    // A hidden process might hold a file, and another network namespace might have a socket for it.
    let sees_all = |counts: &[&str]| counts.iter().all(|count| at(&report, count) == 0);
    let expected = |counts: &[&str]| match sees_all(counts) && at(&report, "unlisted_processes") == false {
        true => Some("orphan"),
        false => Some("no-visible-holder"),
    };
    let hidden = expected(&["hidden_processes"]);
    assert_eq!(state("posix-shm", &named(format!("/{shm}"))).as_deref(), hidden);
    assert_eq!(state("fifo", &named(fifo.to_str().unwrap().to_owned())).as_deref(), hidden);
    let hidden = expected(&["hidden_processes", "in_other_network_namespaces"]);
    assert_eq!(state("unix", &named(socket.to_str().unwrap().to_owned())).as_deref(), hidden);
}

#[test]
fn table_fits_into_any_terminal() {
    let place = Place::new();
    let path = place.path(&"long".repeat(30));
    let (reader, _writer) = fifo::fifo(&path).unwrap();
    let sleepers = [(); 20].map(|()| Sleeper::with(reader.try_clone().unwrap()));
    for width in [60, 80, 200] {
        let mut command = place.furlong(["ipc", "--all"]);
        let text = place.finish(command.env("COLUMNS", width.to_string())).expect_code(0).stdout;
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width) && text.contains("fifo"), "{width}: {text}");
    }
    drop(sleepers);
}

#[test]
fn mistakes_are_explained() {
    let place = Place::new();
    for (arguments, complaint) in [
        (&["ipc", "first"][..], "whole number"),
        (&["ipc", "0"], "between 1 and 2147483647"),
        (&["ipc", "2147483647"], "there is no process 2147483647"),
        (&["ipc", "--kind", "queue"], "posix-mq"),
        (&["ipc", "--orphans", "--all"], "--all"),
    ] {
        let finished = place.run(arguments.iter().copied()).expect_code(2).expect_complaint(complaint);
        assert_eq!(finished.stdout, "");
    }
}

#[test]
fn objects_of_other_users_are_counted_and_never_orphans() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::new();
    let (reader, _writer) = pipe::pipe().unwrap();
    let sleeper = Sleeper::with(reader);
    // A fork of another test may hold the copy of furlong open for writing, and then it cannot be executed.
    let run = |arguments: &[&str]| {
        let started = || {
            let finished = place.finish(&mut place.furlong_as_nobody(arguments.iter().copied()));
            (finished.code != Some(126)).then_some(finished)
        };
        look_for(Duration::from_secs(10), started).expect("a file that is not busy")
    };
    let table = run(&["ipc"]).expect_code(0).stdout;
    let note = table.replace("\n  ", " ");
    assert!(note.contains("could not be inspected") && note.contains("Run as root"), "{table}");
    let report = run(&["ipc", "--all", "--format", "json"]).expect_code(0).json();
    assert!(at(&report, "hidden_processes").as_u64() > Some(0), "{report:#}");
    // The kernel counts the users of a segment.
    let is_claimed =
        |object: &&Value| text(object, "state") == "orphan" && text(object, "kind") != "sysv-shm";
    assert_eq!(list(&report, "objects").iter().find(is_claimed), None);
    let pid = sleeper.pid().to_string();
    run(&["ipc", &pid])
        .expect_code(7)
        .expect_complaint(&format!("process {pid} belongs to another user"))
        .expect_complaint("as root");
}

#[test]
fn vanishing_processes_are_no_errors() {
    let place = Place::new();
    let mut churn = place.start(&mut place.shell("while :; do true | true & sh -c true; done"));
    for _ in 0..10 {
        let finished = place.run(["ipc", "--all", "--format", "json"]).expect_code(0);
        assert!(!list(&finished.json(), "objects").is_empty());
    }
    assert!(!churn.has_ended());
}

#[test]
fn nothing_is_opened_to_write() {
    let place = Place::new();
    if !crate::common::can_trace(&place) {
        skip!("needs strace");
    }
    let (reader, writer) = pipe::pipe().unwrap();
    let queue = posix_queue::create(&format!("furlong-test-read-{}", own_pid()), 4, 100).unwrap();
    let (_sleeper, _other) = (Sleeper::with(reader), Sleeper::with(queue.try_clone().unwrap()));
    let script = "strace -f -o trace -e trace=file,ftruncate,kill,tkill,tgkill,mq_timedsend,mq_timedreceive,mq_notify \
                  \"$FURLONG\" ipc --all >/dev/null";
    place.finish(&mut place.shell(script)).expect_code(0);
    let trace = fs::read_to_string(place.path("trace")).unwrap();
    assert!(trace.contains("/proc/") && trace.lines().count() > 100, "{trace}");
    let is_change = |line: &&str| {
        let words =
            ["O_WRONLY", "O_CREAT", "O_TRUNC", "unlink", "rename", "mkdir", "kill(", "mq_", "ftruncate"];
        let opens = line.contains("O_RDWR") && !line.contains("/dev/null");
        opens || words.iter().any(|word| line.contains(word))
    };
    let changes: Vec<_> = trace.lines().filter(is_change).collect();
    assert!(changes.is_empty(), "{changes:#?}");
    drop(writer);
}
