//! Two pinned processes that pass a word back and forth, and bytes with it. No communication between cores is faster.
//!
//! No harness and no mechanism is involved. On a virtual machine, the figures depend on where the host runs the virtual
//! CPUs, and they change when the host moves one.

use crate::child_process::{ChildKind, ChildProgram};
use crate::probe::{self, Figures};
use furlong_loops::pair_end::{Block, PairEnd, TransferMethod};
use furlong_os::memory::{Region, anonymous_object, page_bytes};
use furlong_os::{AsHandle, RawHandle, clock, handle};
use furlong_stats::sort_by;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;

/// Round trips per clock reading of a sleeping pair whose pace is watched for longer than that of other pairs.
#[cfg(target_os = "linux")]
const TRIPS_ASLEEP: u32 = 50;

/// The longest time, in nanoseconds, for all blocks after the first round trip. A pair that takes longer is given up:
/// another process uses one of the cores.
const LONGEST_NS: u64 = 500_000_000;

/// Returns the median round trip of a bare cache line between two CPUs, in nanoseconds; `None` if the pair was not done
/// in time.
///
/// # Errors
/// Returns an error if no process could be started.
pub fn round_trip_ns(program: &ChildProgram, processors: [usize; 2]) -> io::Result<Option<f64>> {
    let medians = spinning(program, processors, &[0], 101)?;
    Ok(medians[0].map(|per_message_ns| per_message_ns * 2.0))
}

/// Returns for each size the median time of one message between two processes that busy-wait, in nanoseconds. The
/// median is over `batches` batches of at most 0.5 ms.
///
/// # Errors
/// Returns an error if no process could be started.
pub(crate) fn spinning(
    program: &ChildProgram,
    processors: [usize; 2],
    sizes: &[usize],
    batches: usize,
) -> io::Result<Figures> {
    run(program, processors, TransferMethod::Spinning, sizes, batches)
}

/// Returns the median round trip of two processes that sleep until they are woken, in nanoseconds: of the first and of
/// the last quarter of 7000. They take 0.2 s or more if a host must wake the CPUs.
#[cfg(target_os = "linux")]
pub(crate) fn sleeping_paces(program: &ChildProgram, processors: [usize; 2]) -> Option<[f64; 2]> {
    let quarters = run(program, processors, TransferMethod::SleepingLong, &[0; 4], 35).ok()?;
    Some([quarters[0]?, quarters[3]?])
}

/// Measures nothing: only on Linux two processes can sleep on a shared word.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sleeping_paces(_program: &ChildProgram, _processors: [usize; 2]) -> Option<[f64; 2]> {
    None
}

/// Returns for each size the additional time of one message, in nanoseconds, compared with a message of 8 bytes. The
/// two processes sleep until they are woken. The time is half the difference of the medians of `pairs` round trips of
/// each size, which alternate.
///
/// # Errors
/// Returns an error if no process could be started.
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
/// Returns `Unsupported` always: only on Linux two processes can sleep on a shared word.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sleeping(
    _program: &ChildProgram,
    _processors: [usize; 2],
    _sizes: &[usize],
    _pairs: usize,
) -> io::Result<Figures> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The task of one of the two processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PairTask {
    /// 0 for the process that reads the clock, 1 for the other.
    side: usize,
    method: TransferMethod,
    sizes: Vec<usize>,
    /// The number of timed blocks per size.
    repetitions: usize,
    /// The descriptor of the memory that both processes map.
    memory: RawHandle,
}

impl PairTask {
    /// Returns the blocks that both processes exchange. Both know the length of each message beforehand, because a
    /// transmitted length would add a wait.
    fn script(&self) -> Vec<Block> {
        #[cfg(target_os = "linux")]
        const SMALL: Block = Block { size: 8, trips: 1 };
        let of_size = |&size: &usize| match self.method {
            // The first batch is not used: it contains the wait for the other process, or cache misses.
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

    /// Returns a figure per size, from the times of one round trip in each block.
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

    /// Returns the size of the shared memory in bytes: a page for the words, and space for one message per process.
    fn memory_bytes(&self) -> usize {
        page_bytes() + 2 * self.largest().next_multiple_of(page_bytes())
    }
}

/// Runs one of the two processes.
pub(crate) fn one_side(task: PairTask) -> Figures {
    one_side_or_error(&task).unwrap_or_default()
}

fn one_side_or_error(task: &PairTask) -> io::Result<Figures> {
    let memory = handle::inherit(task.memory)?;
    let region = Arc::new(Region::from_file(memory.as_handle(), task.memory_bytes())?);
    let mut end = PairEnd::new(&region, task.side, task.largest(), task.method)?;
    let script = task.script();
    // The process that starts first waits for the other.
    let meeting = Block { size: 0, trips: 1 };
    let met = if task.side == 0 { end.initiate(meeting).map(drop) } else { end.respond(meeting) };
    if met.is_none() {
        return Ok(Vec::new());
    }
    end.deadline_ns = clock::now_ns() + LONGEST_NS;
    if task.side == 1 {
        // If this process gives up, the other one ends at its own deadline.
        let _ = script.iter().try_for_each(|block| end.respond(*block));
        return Ok(Vec::new());
    }
    let times: Option<Vec<f64>> = script.iter().map(|block| end.initiate(*block)).collect();
    Ok(times.map(|mut times| task.figures(&mut times)).unwrap_or_default())
}

/// Returns the number of round trips per clock reading: larger for small messages.
fn trips_in_a_batch(size: usize) -> u32 {
    (512 / (1 + size / 512)).max(2) as u32
}

fn median(values: &mut [f64]) -> f64 {
    sort_by(values, f64::total_cmp);
    values[values.len() / 2]
}

/// Runs both processes. Returns a figure per size, or `None` for every size if the pair was not done in time.
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

    /// Two cores if this process may use two, and otherwise one core twice: then the processes sleep in turn.
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
