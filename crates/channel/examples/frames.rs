//! Sends frames of 6 MB, 60 per second, to three receivers: run `frames send NAME COUNT` in one terminal and `frames
//! receive NAME` in three others. A receiver compares every byte and prints how late the frames arrived, measured from
//! the time at which each was due. All receivers share one copy of each frame. Needs the feature `broadcast`.

use furlong_channel::{Broadcast, Error, Listener, Options, Receiver};
use std::io::ErrorKind;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const RECEIVERS: usize = 3;
const BYTES: usize = 6_000_000;
const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// Bytes of a frame's number and of the time at which it is due.
const HEADER: usize = 16;

/// Number of different frames.
const SHIFTS: usize = 251;

/// Longest time that a call of the sender waits for a receiver.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns nanoseconds of a clock that all processes share.
fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

/// The contents of all frames.
struct Pattern(Vec<u8>);

impl Pattern {
    fn new() -> Pattern {
        Pattern((0..=250).cycle().take(BYTES + SHIFTS).collect())
    }

    /// Returns the bytes of a frame after its header.
    fn body(&self, number: u64) -> &[u8] {
        &self.0[number as usize % SHIFTS..][..BYTES - HEADER]
    }
}

fn send(name: &str, options: &Options, count: u64) -> Result<(), Error> {
    let listener = Listener::bind(name, options)?;
    let mut broadcast = Broadcast::new(options)?;
    for _ in 0..RECEIVERS {
        broadcast.accept_timeout(&listener, PATIENCE)?;
    }
    let (mut frame, pattern) = (vec![0; BYTES], Pattern::new());
    let mut due_ns = now_ns();
    for number in 0..count {
        frame[..8].copy_from_slice(&number.to_le_bytes());
        frame[8..HEADER].copy_from_slice(&due_ns.to_le_bytes());
        frame[HEADER..].copy_from_slice(pattern.body(number));
        sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns())));
        // A receiver that stops reading would otherwise block the others forever.
        broadcast.send_timeout(&frame, PATIENCE)?;
        due_ns += PERIOD.as_nanos() as u64;
    }
    Ok(())
}

/// Subscribes as soon as a process listens.
fn subscribe(name: &str, options: &Options) -> Result<Receiver, Error> {
    let begin = Instant::now();
    loop {
        match Receiver::subscribe(name, options) {
            Err(Error::System(error))
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
                    && begin.elapsed() < PATIENCE =>
            {
                sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

fn receive(name: &str, options: &Options) -> Result<(), Error> {
    let mut receiver = subscribe(name, options)?;
    let (mut frame, pattern) = (vec![0; BYTES], Pattern::new());
    let mut late_ns = Vec::new();
    loop {
        let len = match receiver.recv(&mut frame) {
            Ok(len) => len,
            Err(Error::Closed) => break,
            Err(error) => return Err(error),
        };
        let received_ns = now_ns();
        let [number, due_ns] =
            [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|byte| frame[at + byte])));
        let is_right =
            len == BYTES && number == late_ns.len() as u64 && frame[HEADER..] == *pattern.body(number);
        assert!(is_right, "frame {} is wrong", late_ns.len());
        late_ns.push(received_ns.saturating_sub(due_ns));
    }
    late_ns.sort_unstable();
    let ms = |percent: usize| late_ns[(late_ns.len() * percent).saturating_sub(1) / 100] as f64 / 1e6;
    if !late_ns.is_empty() {
        println!(
            "{} frames in Rust, every byte verified: p50 {:.1} ms, p99 {:.1} ms",
            late_ns.len(),
            ms(50),
            ms(99)
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    let options = Options::for_messages(BYTES, 4);
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["send", name, count] => send(name, &options, count.parse().unwrap_or(0)),
        ["receive", name] => receive(name, &options),
        _ => {
            eprintln!("type frames send NAME COUNT, or frames receive NAME");
            return ExitCode::FAILURE;
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
