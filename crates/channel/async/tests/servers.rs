//! Each server answers several clients in parallel, long after they connected, and continues after one exits.

use furlong_channel::{Channel, Error, Options};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Number of servers that this process has started.
static SERVERS: AtomicU32 = AtomicU32::new(0);

/// A server and the name of its socket. It is killed when the value is dropped.
struct Server {
    process: Child,
    name: PathBuf,
}

impl Server {
    fn start(program: &str) -> Server {
        let number = SERVERS.fetch_add(1, Ordering::Relaxed);
        let name = std::env::temp_dir().join(format!("channel-{}-{number}", std::process::id()));
        let process = Command::new(program).arg(&name).spawn().expect("a server");
        Server { process, name }
    }

    fn connect(&self) -> Channel {
        let begin = Instant::now();
        loop {
            match Channel::connect(self.name.to_str().expect("a name"), &Options::new()) {
                Ok(channel) => return channel,
                Err(error) if begin.elapsed() > Duration::from_secs(20) => panic!("{error}"),
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.name);
    }
}

fn asks(channel: &mut Channel, text: &str) {
    channel.send(text.as_bytes()).expect("room");
    let mut buffer = [0; 64];
    let len = channel.recv_timeout(&mut buffer, Duration::from_secs(20)).expect("an answer");
    assert_eq!(&buffer[..len], text.as_bytes());
}

fn answers_many(program: &str) {
    let server = Server::start(program);
    let mut clients: Vec<Channel> = (0..5).map(|_| server.connect()).collect();
    for round in 0..20 {
        for (number, client) in clients.iter_mut().enumerate() {
            asks(client, &format!("message {round} of {number}"));
        }
        // The server sleeps during this time.
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(clients.remove(2));
    let mut late = server.connect();
    clients.iter_mut().chain([&mut late]).for_each(|client| asks(client, "still there"));
}

/// A client sends more than both rings hold before it receives anything, and still gets all answers in the end.
fn keeps_nobody_waiting(program: &str) {
    let server = Server::start(program);
    let (mut greedy, mut other) = (server.connect(), server.connect());
    let message = [7; 4096];
    let mut sent = 0;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(1) {
        match greedy.try_send(&message) {
            Ok(()) => sent += 1,
            Err(Error::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => panic!("{error}"),
        }
    }
    asks(&mut other, "me too");
    let mut buffer = [0; 4096];
    for _ in 0..sent {
        let len = greedy.recv_timeout(&mut buffer, Duration::from_secs(20)).expect("each message");
        assert_eq!(buffer[..len], message);
    }
}

/// Returns whether all threads of a process are stopped.
fn is_stopped(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("a process").flatten();
    let states = threads.map(|thread| std::fs::read_to_string(thread.path().join("stat")).expect("a state"));
    states.into_iter().all(|state| state.contains(") T "))
}

/// A client that disconnects before the server accepts it delays no other client.
fn passes_over_a_client_that_left(program: &str) {
    let server = Server::start(program);
    let mut early = server.connect();
    asks(&mut early, "before");
    let signal = |name: &str| {
        let process = server.process.id().to_string();
        assert!(Command::new("kill").args([name, &process]).status().expect("kill").success());
    };
    signal("-STOP");
    while !is_stopped(server.process.id()) {
        std::thread::sleep(Duration::from_millis(1));
    }
    // Times out, and leaves its connection in the backlog.
    let left = Channel::connect_timeout(
        server.name.to_str().expect("a name"),
        &Options::new(),
        Duration::from_millis(1),
    );
    assert_eq!(left.err(), Some(Error::TimedOut));
    signal("-CONT");
    asks(&mut early, "after");
}

#[test]
fn mio_passes_over_a_client_that_left() {
    passes_over_a_client_that_left(env!("CARGO_BIN_EXE_mio"));
}

#[test]
fn tokio_passes_over_a_client_that_left() {
    passes_over_a_client_that_left(env!("CARGO_BIN_EXE_tokio"));
}

#[test]
fn mio_answers_many() {
    answers_many(env!("CARGO_BIN_EXE_mio"));
}

#[test]
fn tokio_answers_many() {
    answers_many(env!("CARGO_BIN_EXE_tokio"));
}

#[test]
fn tokio_keeps_nobody_waiting() {
    keeps_nobody_waiting(env!("CARGO_BIN_EXE_tokio"));
}
