//! Work of the neighbours of a trial, which goes on until the process is killed.

use std::hint::{black_box, spin_loop};

/// Keeps a CPU busy.
pub fn spin() -> ! {
    loop {
        spin_loop();
    }
}

/// Returns a buffer of this size whose pages are all in memory.
pub fn buffer(bytes: usize) -> Vec<u64> {
    vec![1; bytes / size_of::<u64>()]
}

/// Reads and writes every word of the buffer, in order.
pub fn rewrite(buffer: &mut [u64]) -> ! {
    loop {
        for word in buffer.iter_mut() {
            *word = word.wrapping_add(1);
        }
        black_box(&mut *buffer);
    }
}
