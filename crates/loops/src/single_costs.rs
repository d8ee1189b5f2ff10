//! The cost of single steps of a round trip that one process can make alone, in a process that does nothing else.

use furlong_model::Cost;
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

/// Number of batches of which a figure is the median.
const BATCHES: usize = 7;

/// Approximate duration of a batch, in nanoseconds.
const BATCH_NS: u64 = 100_000;

/// Sizes of the copies, in bytes: from the first-level cache to memory.
const COPY_SIZES: [usize; 10] =
    [64, 128, 512, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20];

/// Costs without a size, in the order of the report. The costs of copies follow.
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

/// Returns the measured costs, each with its size, if any.
pub fn list() -> impl Iterator<Item = (Cost, Option<usize>)> {
    let copies = COPY_SIZES.iter().map(|size| (Cost::Copy, Some(*size)));
    SINGLE.iter().map(|cost| (*cost, None)).chain(copies)
}

/// Measures each cost of the [`list`] in this process, in nanoseconds, with a set of System V semaphores if there is one. A
/// cost is `None` if the kernel lacks the call.
pub fn measure(semaphores: Option<i32>) -> Vec<Option<f64>> {
    list().map(|(cost, size)| size.map_or_else(|| single(cost, semaphores), |size| copy(size).ok())).collect()
}

/// Measures one `cost` in this process, in nanoseconds; `None` if the kernel lacks the call.
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
        | Cost::Poll => linux_cost(cost, semaphores),
        Cost::Copy | Cost::CopyAcross | Cost::CopyAcrossAsleep => None,
    }
}

/// Measures a cost that exists only on Linux.
#[cfg(target_os = "linux")]
fn linux_cost(cost: Cost, semaphores: Option<i32>) -> Option<f64> {
    match cost {
        Cost::FutexWake => with_page(|page| each_result(|| futex::wake(page.word(0))))?,
        // The word is 0 and not 1, so the call returns at once.
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

/// Returns `None`: only Linux has these costs.
#[cfg(not(target_os = "linux"))]
fn linux_cost(_cost: Cost, _semaphores: Option<i32>) -> Option<f64> {
    None
}

/// Measures writing 8 bytes and reading them again.
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

/// Returns the median time of one `step`, in nanoseconds.
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

/// Returns the median time of one `step`, in nanoseconds; `None` if a step failed.
#[cfg(target_os = "linux")]
fn each_result(mut step: impl FnMut() -> io::Result<()>) -> Option<f64> {
    let mut failed = false;
    let ns = each(|| failed |= step().is_err());
    (!failed).then_some(ns)
}

/// Measures the first access to a page, in nanoseconds.
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

/// Measures copying `size` bytes between the same two buffers repeatedly, in nanoseconds.
fn copy(size: usize) -> io::Result<f64> {
    let (mut from, mut to) = (Pages::new(size)?, Pages::new(size)?);
    from.fill(1);
    to.fill(2);
    Ok(each(|| black_box(&mut to[..]).copy_from_slice(black_box(&from[..]))))
}
