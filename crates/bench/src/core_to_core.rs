//! The bare transfer of a cache line between two cores: the floor under everything that crosses cores.
//!
//! Two processes, pinned, take turns writing one word. Nothing else happens. On a virtual machine the figure
//! tells where the host has put the virtual cores, and it changes when the host moves one.

use furlong_os::memory::{Region, page_bytes};
use furlong_os::process::{Bond, fork};
use furlong_os::{affinity, clock, cpu};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Round trips to one reading of the clock.
const BATCH: u32 = 512;

/// Batches of which the median is given.
const BATCHES: usize = 101;

/// The longest that one may take before it is given up: a core is not ours alone then.
const PATIENCE_NS: u64 = 200_000_000;

/// The longest to wait for both processes, in milliseconds.
const PATIENCE_MS: u64 = 1_000;

/// Where the figure lies that the first process leaves, in hundredths of a nanosecond; 0 if it gave up.
const RESULT: usize = 256;

/// The median round trip in nanoseconds between two processors; `None` if they did not come to it in time.
///
/// # Errors
/// If no process could be started.
pub fn round_trip_ns(first: usize, second: usize) -> io::Result<Option<f64>> {
    let region = Arc::new(Region::anonymous(page_bytes())?);
    let start = |processor: usize, leads: bool| {
        let region = Arc::clone(&region);
        fork(&[], io::stderr().as_fd(), Bond::DiesWithParent, move || {
            if affinity::pin(processor).is_err() {
                return 1;
            }
            if leads {
                lead(&region)
            } else {
                follow(&region)
            }
            0
        })
    };
    let (mut leader, mut follower) = (start(first, true)?, start(second, false)?);
    // Both give up by themselves; one that was stopped is killed when it is dropped.
    leader.wait_at_most(PATIENCE_MS);
    follower.wait_at_most(PATIENCE_MS);
    let hundredths = region.double_word(RESULT).load(Ordering::Acquire);
    Ok((hundredths > 0).then_some(hundredths as f64 / 100.0))
}

/// Waits for the word to hold `wanted`; `false` if that took too long.
#[inline]
fn await_word(word: &AtomicU32, wanted: u32, deadline_ns: u64) -> bool {
    let mut looks = 0u32;
    while word.load(Ordering::Acquire) != wanted {
        cpu::pause();
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(4096) && clock::now_ns() > deadline_ns {
            return false;
        }
    }
    true
}

/// Writes odd numbers and waits for the even ones, and leaves the median.
fn lead(region: &Region) {
    let word = region.word(0);
    let deadline_ns = clock::now_ns() + PATIENCE_NS;
    let mut number = 0;
    let mut batch = || {
        let start = clock::now_ns();
        for _ in 0..BATCH {
            word.store(number + 1, Ordering::Release);
            if !await_word(word, number + 2, deadline_ns) {
                return None;
            }
            number += 2;
        }
        Some((clock::now_ns() - start) as f64 / f64::from(BATCH))
    };
    // The first batch waits for the other process to start.
    let figures: Option<Vec<f64>> = batch().and_then(|_| (0..BATCHES).map(|_| batch()).collect());
    if let Some(mut figures) = figures {
        figures.sort_by(f64::total_cmp);
        region.double_word(RESULT).store((figures[BATCHES / 2] * 100.0) as u64, Ordering::Release);
    }
}

/// Answers every odd number with the even one after it.
fn follow(region: &Region) {
    let word = region.word(0);
    let deadline_ns = clock::now_ns() + PATIENCE_NS;
    let last = BATCH * (BATCHES as u32 + 1) * 2;
    for number in (0..last).step_by(2) {
        if !await_word(word, number + 1, deadline_ns) {
            return;
        }
        word.store(number + 2, Ordering::Release);
    }
}
