//! heapless' single-producer single-consumer queue in shared memory, one for each direction.
//!
//! The queue moves its items by value, so a message is sent in pieces of one cache line.

#[path = "../../rust/protocol.rs"]
mod protocol;

use heapless::spsc::{Consumer, Producer, Queue};
use protocol::{Failure, Link, SetUp};
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::hint;
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

const PIECE: usize = 64;
/// 2 MiB, as the rings of furlong.
const PIECES: usize = 32 << 10;
type Pieces = Queue<[u8; PIECE], PIECES>;

/// Shared memory that both processes map.
#[repr(C)]
struct SharedMemory {
    there: Pieces,
    back: Pieces,
}

struct Spsc {
    producer: Producer<'static, [u8; PIECE]>,
    consumer: Consumer<'static, [u8; PIECE]>,
}

impl Spsc {
    /// Returns the memory, which stays mapped until the process ends.
    fn map(path: &str) -> Result<*mut SharedMemory, Failure> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let (length, protection) = (size_of::<SharedMemory>(), libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: maps a file that is as long as that, at an address that the kernel chooses.
        let memory = unsafe {
            libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if memory == libc::MAP_FAILED {
            Err(std::io::Error::last_os_error().into())
        } else {
            Ok(memory.cast())
        }
    }
}

impl Link for Spsc {
    fn open(set_up: &SetUp) -> Result<Self, Failure> {
        let path = format!("/dev/shm/{}", set_up.name);
        let unfinished = format!("{path}-new");
        let shared = if set_up.initiator {
            while fs::metadata(&path).is_err() {
                thread::sleep(Duration::from_millis(1));
            }
            Spsc::map(&path)?
        } else {
            fs::write(&unfinished, [])?;
            OpenOptions::new().write(true).open(&unfinished)?.set_len(size_of::<SharedMemory>() as u64)?;
            let shared = Spsc::map(&unfinished)?;
            // SAFETY: the mapping is new and large enough for both queues, and no other process knows its name.
            unsafe {
                (&raw mut (*shared).there).write(Queue::new());
                (&raw mut (*shared).back).write(Queue::new());
            }
            fs::rename(unfinished, path)?;
            shared
        };
        // SAFETY: made above by the same program, so of the same layout, and mapped until the end. Each process uses one
        // end of each queue, and what both use of it is atomic.
        let (there, back) = unsafe { ((*shared).there.split(), (*shared).back.split()) };
        let (producer, consumer) = if set_up.initiator { (there.0, back.1) } else { (back.0, there.1) };
        Ok(Spsc { producer, consumer })
    }

    fn numbers(&self) -> Vec<(&'static str, u64)> {
        vec![("queue-bytes", ((PIECES - 1) * PIECE) as u64)]
    }

    #[inline(always)]
    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        for part in message.chunks(PIECE) {
            let mut piece = [0; PIECE];
            piece[..part.len()].copy_from_slice(part);
            while let Err(refused) = self.producer.enqueue(piece) {
                piece = refused;
                hint::spin_loop();
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn receive(&mut self, message: &mut [u8]) -> Result<usize, Failure> {
        for part in message.chunks_mut(PIECE) {
            let piece = loop {
                match self.consumer.dequeue() {
                    Some(piece) => break piece,
                    None => hint::spin_loop(),
                }
            };
            part.copy_from_slice(&piece[..part.len()]);
        }
        Ok(message.len())
    }
}

fn main() -> ExitCode {
    let about = json!({
        "name": "heapless-spsc",
        "versions": {"heapless": "0.9.3"},
        "claims": {
            "summary": "heapless' queue for one producer and one consumer, in shared memory",
            "waits": ["spin"],
            "patterns": ["round-trip", "one-way", "request"],
            "peer_death": "unnoticed",
        },
    });
    match protocol::run::<Spsc>(about) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure:?}");
            ExitCode::FAILURE
        }
    }
}
