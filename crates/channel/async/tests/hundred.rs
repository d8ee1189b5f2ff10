//! A tokio server with 100 clients. 10 clients are killed and 10 connect and leave; all others are served.

use std::io::{BufRead, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 200;

/// A process that is killed when the value is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: &str, arguments: &[&str]) -> Process {
    let started = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn();
    Process(started.expect("a process"))
}

/// Waits for a process, and returns its output.
fn output_of(mut client: Process) -> String {
    let mut text = String::new();
    let mut output = client.0.stdout.take().expect("a pipe");
    output.read_to_string(&mut text).expect("text");
    assert!(client.0.wait().expect("a status").success(), "{text}");
    text
}

#[test]
fn clients_are_served_while_others_are_killed_or_leave() {
    let name = format!("@furlong-channel-hundred-{}", std::process::id());
    let _server = start(env!("CARGO_BIN_EXE_tokio"), &[&name]);
    let begin = Instant::now();
    while furlong_channel::Channel::connect(&name, &furlong_channel::Options::new()).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(20), "no server");
        std::thread::sleep(Duration::from_millis(10));
    }
    let client = |task: &str| start(env!("CARGO_BIN_EXE_client"), &[&name, task]);
    let (mut served, mut killed, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..100 {
        match number % 10 {
            3 => killed.push(client("stay")),
            7 => left.push(client("leave")),
            _ => served.push(client(&ROUNDS.to_string())),
        }
    }
    // During the round trips of the others.
    for mut client in killed {
        let mut line = String::new();
        let output = client.0.stdout.as_mut().expect("a pipe");
        std::io::BufReader::new(output).read_line(&mut line).expect("a round trip");
        drop(client);
    }
    left.into_iter().for_each(|client| drop(output_of(client)));
    let mut times_ns: Vec<u64> = Vec::new();
    for client in served {
        let times =
            output_of(client).lines().map(|line| line.parse().expect("a number")).collect::<Vec<u64>>();
        assert_eq!(times.len(), ROUNDS);
        times_ns.extend(times);
    }
    times_ns.sort_unstable();
    let at = |share: usize| times_ns[(times_ns.len() - 1) * share / 1000] / 1000;
    println!(
        "{} round trips of 80 clients, of 100: median {} us, p99 {} us, p99.9 {} us",
        times_ns.len(),
        at(500),
        at(990),
        at(999)
    );
}
