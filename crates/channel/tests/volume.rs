//! Many bytes with each message size, with positions that overflow 32 and 64 bits.
//!
//! `cargo test --release -p furlong-channel --test volume -- --ignored --nocapture` sends 8 GiB of each size, or
//! `CHANNEL_GIB` GiB.

mod common;

use common::{content, pair};
use furlong_channel::{Options, WaitStrategy};
use std::thread;
use std::time::Instant;

const SIZES: [usize; 9] = [0, 8, 128, 1000, 8192, 8193, 64 << 10, 1 << 20, 16 << 20];

/// Number of positions of the pattern at which messages begin. Consecutive messages begin at different positions.
const SHIFTS: usize = 251;

fn carry(size: usize, bytes: usize, start: u64) {
    let options = Options::new().waiting(WaitStrategy::Adaptive).start(start);
    let [first, second] = pair(&options);
    let ((mut sender, _keep), (_keep_too, mut receiver)) = (first.split(), second.split());
    let pattern = content(0, size + SHIFTS);
    let count = bytes / (size + 8);
    let begin = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut message = vec![0; size];
            for number in 0..count {
                let stamp = size.min(8);
                message[stamp..].copy_from_slice(&pattern[number % SHIFTS..][stamp..size]);
                message[..stamp].copy_from_slice(&number.to_le_bytes()[..stamp]);
                sender.send(&message).unwrap();
            }
        });
        let mut buffer = vec![0; size];
        for number in 0..count {
            let stamp = size.min(8);
            assert_eq!(receiver.recv(&mut buffer).unwrap(), size, "message {number} of {size} bytes");
            assert!(buffer[..stamp] == number.to_le_bytes()[..stamp], "message {number} of {size} bytes");
            assert!(
                buffer[stamp..] == pattern[number % SHIFTS..][stamp..size],
                "message {number} of {size} bytes"
            );
        }
    });
    let seconds = begin.elapsed().as_secs_f64();
    println!("{size} bytes: {count} messages in {seconds:.1} s, from position {start:#x}");
}

/// Sends half of the bytes before the overflow, and half after it.
fn carry_all(bytes: usize) {
    for size in SIZES {
        carry(size, bytes / 2, (1 << 32) - bytes as u64 / 4);
        carry(size, bytes / 2, 0u64.wrapping_sub(bytes as u64 / 4));
    }
}

#[test]
fn some_bytes_of_each_size() {
    carry_all(8 << 20);
}

#[test]
#[ignore = "takes minutes"]
fn gibibytes_of_each_size() {
    let gib = std::env::var("CHANNEL_GIB").map_or(8, |text| text.parse::<usize>().unwrap());
    carry_all(gib << 30);
}
