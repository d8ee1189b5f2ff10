//! What the steps of which a round trip is made cost on this machine: one reading, taken between trials.
//!
//! Each figure is the median of several batches in a process that does nothing else. Context switches and wake-ups
//! are not measured here: what they take depends on how a process waits, so they come from rows of the same run.

use crate::bare_pair;
use crate::child_process::{ChildKind, ChildProgram};
use crate::probe::{self, Figures};
use furlong_mechanism::LinkSpecification;
use furlong_model::{Cost, CostFigure, CostReading};
#[cfg(target_os = "linux")]
use furlong_os::cleanup::CleanUp;
#[cfg(target_os = "linux")]
use furlong_os::linux::{futex, pipe, posix_semaphore, readiness, sysv_semaphore};
#[cfg(target_os = "linux")]
use furlong_os::memory::Region;
use furlong_os::memory::{Pages, page_bytes};
#[cfg(target_os = "linux")]
use furlong_os::wait::Interest;
#[cfg(target_os = "linux")]
use furlong_os::{AsHandle, Handle, handle};
use furlong_os::{clock, identity};
use std::hint::black_box;
use std::io;

/// Batches of which a figure is the median.
const BATCHES: usize = 7;

/// The time that a batch is to take, roughly, in nanoseconds.
const BATCH_NS: u64 = 100_000;

/// Sizes that are copied: from the first cache to memory.
const COPY_SIZES: [usize; 10] =
    [64, 128, 512, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20];

/// Sizes that are handed from core to core.
const ACROSS_SIZES: [usize; 9] = [8, 64, 128, 512, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20];

/// Sizes that are handed to a core that sleeps; with less no difference can be seen.
const ASLEEP_SIZES: [usize; 4] = [4 << 10, 16 << 10, 64 << 10, 1 << 20];

/// Round trips of each of those.
const ASLEEP_PAIRS: usize = 80;

/// One reading, `at_ns` after the run began: on the first of the processors, and between both where there are two.
/// What cannot be had is left out. `spec` has names that are free between trials.
pub(crate) fn read(
    program: &ChildProgram,
    at_ns: u64,
    processor: usize,
    pair: Option<[usize; 2]>,
    specification: &LinkSpecification,
) -> CostReading {
    let mut figures = on_one(program, processor, specification).unwrap_or_default();
    if let Some(pair) = pair {
        figures.extend(across(
            Cost::CopyAcross,
            &ACROSS_SIZES,
            bare_pair::spinning(program, pair, &ACROSS_SIZES, BATCHES),
        ));
        let asleep = bare_pair::sleeping(program, pair, &ASLEEP_SIZES, ASLEEP_PAIRS);
        figures.extend(across(Cost::CopyAcrossAsleep, &ASLEEP_SIZES, asleep));
    }
    CostReading { at_ns, figures }
}

fn across(cost: Cost, sizes: &[usize], times: io::Result<Vec<Option<f64>>>) -> Vec<CostFigure> {
    let figure = |(size, ns): (&usize, Option<f64>)| {
        // Where noise is larger than the difference it may come out below nothing.
        Some(CostFigure { cost, size_bytes: Some(*size), ns: ns?.max(0.0) })
    };
    sizes.iter().zip(times.unwrap_or_default()).filter_map(figure).collect()
}

/// What is measured in one process, in the order in which figures are reported; sizes that are copied follow.
const SINGLE: [Cost; 10] = [
    Cost::ClockRead,
    Cost::SystemCall,
    Cost::FutexWake,
    Cost::FutexWait,
    Cost::PosixSemaphore,
    Cost::SysvSemaphore,
    Cost::PipeTransfer,
    Cost::SocketTransfer,
    Cost::Poll,
    Cost::PageFault,
];

fn on_one(
    program: &ChildProgram,
    processor: usize,
    specification: &LinkSpecification,
) -> io::Result<Vec<CostFigure>> {
    // They are removed, whatever becomes of the process that uses them.
    #[cfg(target_os = "linux")]
    let semaphores = sysv_semaphore::create(specification.key, 1).ok();
    #[cfg(target_os = "linux")]
    let _removed = semaphores.map(|set| CleanUp::new(move || sysv_semaphore::remove(set)));
    #[cfg(not(target_os = "linux"))]
    let (semaphores, _): (Option<i32>, _) = (None, specification);
    let figures = probe::measure(program, ChildKind::CostProbe, [(processor, semaphores)], &[])?;
    let kinds = SINGLE.iter().map(|cost| (*cost, None));
    let copies = COPY_SIZES.iter().map(|size| (Cost::Copy, Some(*size)));
    let figure = |((cost, size_bytes), ns): (_, Option<f64>)| Some(CostFigure { cost, size_bytes, ns: ns? });
    Ok(kinds.chain(copies).zip(figures.concat()).filter_map(figure).collect())
}

/// What is measured in one process, with a set of System V semaphores if there is one.
pub(crate) fn single_costs(semaphores: Option<i32>) -> Figures {
    let singles = SINGLE.iter().map(|cost| single(*cost, semaphores));
    singles.chain(COPY_SIZES.iter().map(|size| copy(*size).ok())).collect()
}

/// The time of one `cost` in this process; `None` where the kernel has no such thing.
fn single(cost: Cost, semaphores: Option<i32>) -> Option<f64> {
    match cost {
        Cost::ClockRead => Some(each(|| {
            black_box(clock::now_ns());
        })),
        Cost::SystemCall => Some(each(|| {
            black_box(identity::parent_process());
        })),
        Cost::PageFault => page_fault().ok(),
        Cost::FutexWake
        | Cost::FutexWait
        | Cost::PosixSemaphore
        | Cost::SysvSemaphore
        | Cost::PipeTransfer
        | Cost::SocketTransfer
        | Cost::Poll => of_linux(cost, semaphores),
        Cost::Copy | Cost::CopyAcross | Cost::CopyAcrossAsleep => None,
    }
}

/// The same of what only Linux has.
#[cfg(target_os = "linux")]
fn of_linux(cost: Cost, semaphores: Option<i32>) -> Option<f64> {
    match cost {
        Cost::FutexWake => with_page(|page| each_result(|| futex::wake(page.word(0))))?,
        // The word is 0, so nobody sleeps while it is 1.
        Cost::FutexWait => with_page(|page| each_result(|| futex::wait(page.word(0), 1)))?,
        Cost::PosixSemaphore => with_page(|page| {
            posix_semaphore::initialise(page, 0).ok()?;
            each_result(|| posix_semaphore::post(page, 0).and_then(|()| posix_semaphore::wait(page, 0)))
        })?,
        Cost::SysvSemaphore => {
            let set = semaphores?;
            each_result(|| sysv_semaphore::post(set, 0).and_then(|()| sysv_semaphore::wait(set, 0, true)))
        }
        Cost::PipeTransfer => transfer(pipe::pipe().ok()?),
        Cost::SocketTransfer => transfer(pipe::duplex().ok()?),
        Cost::Poll => {
            let (reader, writer) = pipe::pipe().ok()?;
            handle::write(writer.as_handle(), &[1]).ok()?;
            each_result(|| readiness::poll(reader.as_handle(), Interest::Readable))
        }
        _ => None,
    }
}

/// Nothing: only Linux has these.
#[cfg(not(target_os = "linux"))]
fn of_linux(_cost: Cost, _semaphores: Option<i32>) -> Option<f64> {
    None
}

/// Writing 8 bytes and reading them again.
#[cfg(target_os = "linux")]
fn transfer((reader, writer): (Handle, Handle)) -> Option<f64> {
    let mut bytes = [0; 8];
    each_result(|| {
        handle::write(writer.as_handle(), &bytes)?;
        handle::read(reader.as_handle(), &mut bytes).map(drop)
    })
}

#[cfg(target_os = "linux")]
fn with_page<T>(measure: impl FnOnce(&Region) -> T) -> Option<T> {
    Region::anonymous(page_bytes()).ok().map(|page| measure(&page))
}

/// The median time of one `step`, in nanoseconds.
fn each(mut step: impl FnMut()) -> f64 {
    let time = |steps: u32, step: &mut dyn FnMut(u32)| {
        let start = clock::now_ns();
        step(steps);
        (clock::now_ns() - start) as f64 / f64::from(steps)
    };
    let mut steps = |count: u32| (0..count).for_each(|_| step());
    let first_ns = time(4, &mut steps).max(1.0);
    let count = (BATCH_NS as f64 / first_ns).clamp(1.0, 1e5) as u32;
    let mut times: Vec<f64> = (0..BATCHES).map(|_| time(count, &mut steps)).collect();
    times.sort_by(f64::total_cmp);
    times[BATCHES / 2]
}

#[cfg(target_os = "linux")]
/// The same where a step can fail; then there is no figure.
fn each_result(mut step: impl FnMut() -> io::Result<()>) -> Option<f64> {
    let mut failed = false;
    let ns = each(|| failed |= step().is_err());
    (!failed).then_some(ns)
}

/// The first touch of a page, in nanoseconds.
fn page_fault() -> io::Result<f64> {
    const PAGES: usize = 64;
    let mut times = Vec::new();
    for _ in 0..BATCHES {
        let mut pages = Pages::new(PAGES * page_bytes())?;
        let start = clock::now_ns();
        pages.iter_mut().step_by(page_bytes()).for_each(|byte| *byte = 1);
        times.push((clock::now_ns() - start) as f64 / PAGES as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[BATCHES / 2])
}

/// Copying `size` bytes from one place to another, over and over, in nanoseconds.
fn copy(size: usize) -> io::Result<f64> {
    let (mut from, mut to) = (Pages::new(size)?, Pages::new(size)?);
    from.fill(1);
    to.fill(2);
    Ok(each(|| black_box(&mut to[..]).copy_from_slice(black_box(&from[..]))))
}
