//! Two pinned processes that hand a word back and forth, and bytes with it: less than which nothing takes that
//! crosses cores.
//!
//! Nothing else happens: no harness, no mechanism. On a virtual machine the figures tell where the host has put the
//! virtual cores, and they change when the host moves one.

use crate::child_process::{ChildKind, ChildProgram};
use crate::probe::{self, Figures};
use furlong_loops::pair_end::{Block, PairEnd, TransferMethod};
use furlong_os::memory::{Region, anonymous_object, page_bytes};
use furlong_os::{AsHandle, RawHandle, clock, handle};
use furlong_stats::sort_by;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;

/// Round trips to a reading of the clock of a pair whose pace is looked at for longer than the others.
#[cfg(target_os = "linux")]
const TRIPS_ASLEEP: u32 = 50;

/// The longest that all may take from then on before the pair is given up: a core is not ours alone then.
const LONGEST_NS: u64 = 500_000_000;

/// The median round trip of a bare cache line between two processors, in nanoseconds; `None` if the two did not come
/// to it in time.
///
/// # Errors
/// If no process could be started.
pub fn round_trip_ns(program: &ChildProgram, processors: [usize; 2]) -> io::Result<Option<f64>> {
    let medians = spinning(program, processors, &[0], 101)?;
    Ok(medians[0].map(|per_message_ns| per_message_ns * 2.0))
}

/// For each size the median time of one message between two processes that spin, in nanoseconds, over `batches`
/// batches of half a millisecond at most.
///
/// # Errors
/// If no process could be started.
pub(crate) fn spinning(
    program: &ChildProgram,
    processors: [usize; 2],
    sizes: &[usize],
    batches: usize,
) -> io::Result<Figures> {
    run(program, processors, TransferMethod::Spinning, sizes, batches)
}

/// Returns the median round trip of two processes that sleep until they are woken, in nanoseconds, of the first and of the last
/// quarter of 7000: a fifth of a second or more where a host has to wake the CPUs.
#[cfg(target_os = "linux")]
pub(crate) fn sleeping_paces(program: &ChildProgram, processors: [usize; 2]) -> Option<[f64; 2]> {
    let quarters = run(program, processors, TransferMethod::SleepingLong, &[0; 4], 35).ok()?;
    Some([quarters[0]?, quarters[3]?])
}

/// Measures nothing: only Linux lets two processes sleep on a word that they share.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sleeping_paces(_program: &ChildProgram, _processors: [usize; 2]) -> Option<[f64; 2]> {
    None
}

/// For each size what one message takes longer than one of 8 bytes between two processes that sleep until they are
/// woken, in nanoseconds: half the difference of the medians of `pairs` round trips of either kind, in turns.
///
/// # Errors
/// If no process could be started.
#[cfg(target_os = "linux")]
pub(crate) fn sleeping(
    program: &ChildProgram,
    processors: [usize; 2],
    sizes: &[usize],
    pairs: usize,
) -> io::Result<Figures> {
    run(program, processors, TransferMethod::Sleeping, sizes, pairs)
}

/// Measures nothing.
///
/// # Errors
/// Always: only Linux lets two processes sleep on a word that they share.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sleeping(
    _program: &ChildProgram,
    _processors: [usize; 2],
    _sizes: &[usize],
    _pairs: usize,
) -> io::Result<Figures> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What one of the two has to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PairTask {
    /// 0 for the one that holds the clock, 1 for the other.
    side: usize,
    method: TransferMethod,
    sizes: Vec<usize>,
    /// How often each size is timed.
    repetitions: usize,
    /// The number of the descriptor of the memory that both map.
    memory: RawHandle,
}

impl PairTask {
    /// What both do. They know beforehand how long each message is: a length that came with it would be waited for.
    fn script(&self) -> Vec<Block> {
        #[cfg(target_os = "linux")]
        const SMALL: Block = Block { size: 8, trips: 1 };
        let of_size = |&size: &usize| match self.method {
            // The first batch waits for the other process, or for the caches.
            TransferMethod::Spinning => {
                vec![Block { size, trips: trips_in_a_batch(size) }; self.repetitions + 1]
            }
            #[cfg(target_os = "linux")]
            TransferMethod::Sleeping => [SMALL, Block { size, trips: 1 }].repeat(self.repetitions),
            #[cfg(target_os = "linux")]
            TransferMethod::SleepingLong => vec![Block { size, trips: TRIPS_ASLEEP }; self.repetitions],
        };
        self.sizes.iter().flat_map(of_size).collect()
    }

    /// A figure for each size, of the times of one round trip in each block.
    fn figures(&self, times: &mut [f64]) -> Figures {
        let of_size = |times: &mut [f64]| match self.method {
            TransferMethod::Spinning => median(&mut times[1..]) / 2.0,
            #[cfg(target_os = "linux")]
            TransferMethod::Sleeping => {
                let every_other =
                    |first: usize| times.iter().copied().skip(first).step_by(2).collect::<Vec<_>>();
                let [mut small, mut large] = [every_other(0), every_other(1)];
                (median(&mut large) - median(&mut small)) / 2.0
            }
            #[cfg(target_os = "linux")]
            TransferMethod::SleepingLong => median(times),
        };
        let blocks = times.len() / self.sizes.len().max(1);
        times.chunks_exact_mut(blocks.max(1)).map(|times| Some(of_size(times))).collect()
    }

    fn largest(&self) -> usize {
        self.sizes.iter().copied().chain([8]).max().unwrap_or_default()
    }

    /// Bytes of the memory that both map: a page for the line, and room for a message of each.
    fn memory_bytes(&self) -> usize {
        page_bytes() + 2 * self.largest().next_multiple_of(page_bytes())
    }
}

/// The life of one of the two.
pub(crate) fn one_side(task: PairTask) -> Figures {
    one_side_or_error(&task).unwrap_or_default()
}

fn one_side_or_error(task: &PairTask) -> io::Result<Figures> {
    let memory = handle::inherit(task.memory)?;
    let region = Arc::new(Region::of_file(memory.as_handle(), task.memory_bytes())?);
    let mut end = PairEnd::new(&region, task.side, task.largest(), task.method)?;
    let script = task.script();
    // Whoever comes first waits for the other.
    let meeting = Block { size: 0, trips: 1 };
    let met = if task.side == 0 { end.initiate(meeting).map(drop) } else { end.respond(meeting) };
    if met.is_none() {
        return Ok(Vec::new());
    }
    end.deadline_ns = clock::now_ns() + LONGEST_NS;
    if task.side == 1 {
        // One that gives up leaves the other to its own deadline.
        let _ = script.iter().try_for_each(|block| end.respond(*block));
        return Ok(Vec::new());
    }
    let times: Option<Vec<f64>> = script.iter().map(|block| end.initiate(*block)).collect();
    Ok(times.map(|mut times| task.figures(&mut times)).unwrap_or_default())
}

/// Round trips to one reading of the clock: many where they are short.
fn trips_in_a_batch(size: usize) -> u32 {
    (512 / (1 + size / 512)).max(2) as u32
}

fn median(values: &mut [f64]) -> f64 {
    sort_by(values, f64::total_cmp);
    values[values.len() / 2]
}

/// Gives a figure for each size, or `None` for each if the two did not come to it in time.
fn run(
    program: &ChildProgram,
    processors: [usize; 2],
    method: TransferMethod,
    sizes: &[usize],
    repetitions: usize,
) -> io::Result<Figures> {
    let mut task = PairTask { side: 0, method, sizes: sizes.to_vec(), repetitions, memory: -1 };
    let memory = anonymous_object("furlong-pair", task.memory_bytes())?;
    task.memory = memory.raw_handle();
    let tasks = processors
        .into_iter()
        .enumerate()
        .map(|(side, processor)| (processor, PairTask { side, ..task.clone() }));
    let mut figures = probe::measure(program, ChildKind::PairProbe, tasks, &[memory.raw_handle()])?.concat();
    figures.resize(sizes.len(), None);
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child_process::tests::program;
    use furlong_model::Placement;
    use furlong_testing::skip;

    /// Two cores, or one twice where there are no two: the pair works there too, by sleeping.
    fn processors() -> [usize; 2] {
        crate::placement::resolve(Placement::OtherCore)
            .or_else(|_| crate::placement::resolve(Placement::SameCore))
            .unwrap()
    }

    #[test]
    fn more_bytes_take_longer_between_sleepers() {
        let times = sleeping(&program(), processors(), &[64 << 10, 4 << 20], 41).unwrap();
        let [Some(few), Some(many)] = times[..] else { panic!("{times:?}") };
        assert!(many > few, "{times:?}");
    }

    #[test]
    fn a_larger_message_takes_longer_between_spinners() {
        let [first, second] = processors();
        if first == second {
            skip!("needs two processors");
        }
        let times = spinning(&program(), [first, second], &[0, 8, 1 << 20], 41).unwrap();
        let [Some(bare), Some(small), Some(large)] = times[..] else { panic!("{times:?}") };
        assert!(bare > 0.0 && small > 0.0 && large > small, "{times:?}");
    }
}
