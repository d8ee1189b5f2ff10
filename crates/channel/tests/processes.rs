//! The two ends in separate processes: messages between them, and the resources that are left after one process dies.

mod common;
#[cfg(target_os = "linux")]
#[path = "processes/linux.rs"]
mod linux;
#[cfg(windows)]
#[path = "processes/windows.rs"]
mod windows;

use common::{PATIENCE, Process, WAITINGS, content, length, start, task};
use furlong_channel::{Channel, Error, Listener, Options, Receiver, Sender, WaitStrategy};
#[cfg(target_os = "linux")]
use linux::{things, told_of_messages, told_of_room};
use std::thread;
use std::time::{Duration, Instant};
#[cfg(windows)]
use windows::{things, told_of_messages, told_of_room};

/// Returns the number of times that a process is killed at random.
fn kills() -> usize {
    std::env::var("CHANNEL_KILLS").map_or(60, |text| text.parse().unwrap())
}

fn small(waiting: WaitStrategy) -> Options {
    Options::new().capacity(8192).longest_message(20_000).waiting(waiting)
}

fn waiting_of(text: &str) -> WaitStrategy {
    match text {
        "Spin" => WaitStrategy::Spin,
        "Park" => WaitStrategy::Park,
        _ => WaitStrategy::Adaptive,
    }
}

/// Sends messages that are echoed, and expects that the descriptor reports each one, unless it arrived before the wait.
fn expect_messages_told(sender: &mut Sender, receiver: &mut Receiver) {
    let mut buffer = [0; 100];
    for number in 0..200 {
        assert!(receiver.watch().unwrap(), "nothing was sent");
        sender.send(&content(number, 100)).unwrap();
        // A message that arrived before the wait needs no wait.
        while receiver.watch().unwrap() {
            assert!(told_of_messages(receiver, PATIENCE), "message {number}");
        }
        assert_eq!(receiver.try_recv(&mut buffer).unwrap(), 100);
        assert_eq!(buffer[..], content(number, 100));
        expect!(receiver.try_recv(&mut buffer), Err(Error::WouldBlock));
    }
}

/// Sends more messages than the ring has room for, and expects that the descriptor reports free room.
fn expect_room_told(sender: &mut Sender, receiver: &mut Receiver) {
    thread::scope(|scope| {
        let receiving = scope.spawn(|| (0..500).try_for_each(|_| receiver.recv_vec().map(drop)));
        for number in 0..500 {
            let message = content(number, 1000);
            while sender.try_send(&message).is_err() {
                if sender.watch(message.len()).unwrap() {
                    assert!(told_of_room(sender, PATIENCE), "room for message {number}");
                }
            }
        }
        receiving.join().unwrap().unwrap();
    });
}

/// Performs the task of a child process.
#[test]
#[ignore = "child process of the other tests"]
fn child() {
    let Some((task, name)) = task() else { return };
    let (what, waiting) = task.split_once('/').unwrap();
    let mut end = Channel::connect(&name, &small(waiting_of(waiting))).unwrap();
    match what {
        "echo" => while end.recv_vec().and_then(|message| end.send(&message)).is_ok() {},
        "send" => (0..).try_for_each(|number| end.send(&content(number, length(number)))).unwrap(),
        "receive" => loop {
            end.recv_vec().unwrap();
        },
        "send-ten-and-exit" => {
            (0..10).for_each(|number| end.send(&content(number, 100)).unwrap());
            // Exits without dropping the end.
            std::process::exit(1);
        }
        "idle" => thread::sleep(PATIENCE),
        other => panic!("unknown role {other}"),
    }
}

fn task_of(what: &str, waiting: WaitStrategy) -> String {
    format!("{what}/{waiting:?}")
}

#[test]
fn messages_go_there_and_back() {
    for waiting in WAITINGS {
        let (_child, mut end) = start(&task_of("echo", waiting), &small(waiting));
        for number in 0..500 {
            let message = content(number, length(number));
            end.send(&message).unwrap();
            assert_eq!(end.recv_vec().unwrap(), message, "message {number}, {waiting:?}");
        }
        for len in [0, 1, 2020, 2040, 2041, 4096, 8192, 20_000] {
            let message = content(len, len);
            end.send(&message).unwrap();
            assert_eq!(end.recv_vec().unwrap(), message, "{len} bytes, {waiting:?}");
        }
    }
}

#[test]
fn what_a_dead_process_sent_is_received_and_then_its_death() {
    for waiting in WAITINGS {
        let (mut child, mut end) = start(&task_of("send-ten-and-exit", waiting), &small(waiting));
        child.0.wait().unwrap();
        for number in 0..10 {
            assert_eq!(end.recv_vec().unwrap(), content(number, 100));
        }
        let begin = Instant::now();
        expect!(end.recv_timeout(&mut [0; 8], PATIENCE), Err(Error::PeerDied));
        expect_early(begin, waiting);
    }
}

/// Expects that a wait for [`PATIENCE`] ended before its timeout, at which a last check would detect the death.
fn expect_early(begin: Instant, waiting: WaitStrategy) {
    assert!(begin.elapsed() < PATIENCE, "{waiting:?}: {:?} of {PATIENCE:?}", begin.elapsed());
}

/// Kills the other process while this one waits.
fn kill_while_waiting(waiting: WaitStrategy, wait: fn(&mut Channel) -> Error) {
    let (child, mut end) = start(&task_of("idle", waiting), &small(waiting));
    let begin = Instant::now();
    let waiter = thread::spawn(move || wait(&mut end));
    thread::sleep(Duration::from_millis(60));
    drop::<Process>(child);
    expect!(waiter.join().unwrap(), Error::PeerDied);
    expect_early(begin, waiting);
}

#[test]
fn a_death_is_noticed_however_one_waits() {
    for waiting in WAITINGS {
        let to_receive = |end: &mut Channel| end.recv_timeout(&mut [0; 8], PATIENCE).unwrap_err();
        let to_send = |end: &mut Channel| loop {
            if let Err(error) = end.send_timeout(&[1; 900], PATIENCE) {
                break error;
            }
        };
        for wait in [to_receive, to_send] {
            kill_while_waiting(waiting, wait);
        }
    }
}

/// Runs alone in its program, because it compares the open descriptors of the process.
#[test]
#[ignore = "`a_process_killed_at_random_harms_nobody` runs it in a separate process"]
fn killed_at_random() {
    let before = things();
    for number in 0..kills() {
        let waiting = WAITINGS[number % 3];
        let sends = number % 2 == 0;
        let what = if sends { "send" } else { "receive" };
        let (child, mut end) = start(&task_of(what, waiting), &small(waiting));
        let delay = Duration::from_micros((number as u64).wrapping_mul(2_654_435_761) % 3000);
        let killer = thread::spawn(move || {
            thread::sleep(delay);
            drop::<Process>(child);
        });
        let error = (0..).find_map(|number| {
            if sends {
                match end.recv_vec() {
                    Ok(message) => {
                        assert_eq!(message, content(number, length(number)), "message {number}");
                        None
                    }
                    Err(error) => Some(error),
                }
            } else {
                end.send(&content(number, length(number))).err()
            }
        });
        expect!(error, Some(Error::PeerDied));
        killer.join().unwrap();
    }
    assert_eq!(things(), before);
}

#[test]
fn a_process_killed_at_random_harms_nobody() {
    let result = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed_at_random", "--ignored", "--test-threads", "1"])
        .output()
        .unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stdout));
}

#[test]
fn a_process_that_starts_again_connects_anew() {
    let (first, end) = start(&task_of("echo", WaitStrategy::Adaptive), &small(WaitStrategy::Adaptive));
    drop((first, end));
    let (_second, mut end) = start(&task_of("echo", WaitStrategy::Adaptive), &small(WaitStrategy::Adaptive));
    end.send(b"again").unwrap();
    assert_eq!(end.recv_vec().unwrap(), b"again");
}

#[test]
fn listener_waits_no_longer_than_it_is_told() {
    let name = common::name();
    let listener = Listener::bind(&name, &Options::new()).unwrap();
    expect!(listener.try_accept(), Err(Error::WouldBlock));
    expect!(listener.accept_timeout(Duration::from_millis(20)), Err(Error::TimedOut));
    let late = Channel::connect_timeout(&name, &Options::new(), Duration::from_millis(20));
    expect!(late, Err(Error::TimedOut));
    let connecting = thread::spawn(move || Channel::connect(&name, &Options::new()).map(drop));
    // A child of another test may still hold the socket of the client that disconnected. That socket is then accepted
    // first.
    while !connecting.is_finished() {
        match listener.accept_timeout(Duration::from_millis(20)) {
            Ok(_) | Err(Error::TimedOut) => {}
            Err(error) => panic!("{error}"),
        }
    }
    connecting.join().unwrap().unwrap();
}

#[test]
fn who_connects_is_known_and_can_be_refused() {
    let name = common::name();
    let listener = Listener::bind(&name, &Options::new()).unwrap();
    let connecting = thread::spawn(move || Channel::connect(&name, &Options::new()).map(|end| end.peer()));
    let end = listener.accept().unwrap();
    let peer = connecting.join().unwrap().unwrap();
    assert_eq!((end.peer().process, peer.process), (std::process::id() as i32, std::process::id() as i32));
    let name = common::name();
    let listener = Listener::bind(&name, &Options::new()).unwrap();
    let connecting = thread::spawn(move || Channel::connect(&name, &Options::new()));
    expect!(listener.accept_if(|peer| peer.process == 0), Err(Error::Refused(_)));
    expect!(connecting.join().unwrap(), Err(Error::Closed));
}
