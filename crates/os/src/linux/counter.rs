//! Counting what a process does while it runs: its system calls, and what the processor counts by itself.

use super::perf_event::{
    Attributes, EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, Event, KIND_HARDWARE, KIND_HARDWARE_CACHE,
    KIND_TRACEPOINT, READ_TIMES, SAMPLE_RAW, WATERMARK,
};
use crate::error::Context;
use crate::linux::memory::{Region, page_bytes};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

/// The ring that is asked for, and what is made do with where the kernel allows no more, in bytes.
const RING_BYTES: usize = 2 << 20;
const LEAST_RING_BYTES: usize = 64 << 10;

/// Places in the first page of the map, which the kernel and we write.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// Kinds of record in the ring.
const RECORD_LOST: u32 = 2;
const RECORD_SAMPLE: u32 = 9;
const RECORD_LOST_SAMPLES: u32 = 13;

/// The bytes that one entered system call says of itself: what every event says (8), the call's number (8), its six
/// arguments (48), and 4 to fill up. This has not changed since Linux 2.6.33.
const CALL_BYTES: u32 = 68;

/// The system calls that one thread enters, in order, as the kernel logs them: the trace event
/// `raw_syscalls:sys_enter`. A call that the thread is already in when the log is enabled is not in it.
#[derive(Debug)]
pub struct SystemCallLog {
    event: Event,
    /// The first page, and the ring behind it.
    map: Region,
    ring_bytes: u64,
    /// Which event a sample must be of.
    event_id: u64,
    /// Calls given out, or known to be lost.
    accounted: u64,
    /// Whether the event may still be counting.
    enabled: bool,
}

/// What one [`SystemCallLog::drain`] found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drained {
    /// Calls given out.
    pub calls: u64,
    /// Calls that found the ring full, as far as is known by now: all of them once the log is disabled. It is known
    /// how many they were, but not which.
    pub lost: u64,
}

impl SystemCallLog {
    /// A log of the thread `pid`, disabled. `event_id` is the number of `raw_syscalls:sys_enter`.
    ///
    /// # Errors
    /// `PermissionDenied` where the user may not log the kernel's events or lock the memory, with what would help.
    pub fn open(event_id: u64, pid: i32) -> io::Result<SystemCallLog> {
        let mut ring_bytes = RING_BYTES;
        loop {
            match SystemCallLog::with_ring(event_id, pid, ring_bytes) {
                Err(Refusal::Memory(_)) if ring_bytes > LEAST_RING_BYTES => ring_bytes /= 2,
                Err(Refusal::Memory(error)) => {
                    return Err(error).context(|| "too little memory may be locked (see ulimit -l)");
                }
                Err(Refusal::Other(error)) => return Err(error),
                Ok(log) => return Ok(log),
            }
        }
    }

    /// A log with a ring of `ring_bytes`, a power of two, or of one page where that is more.
    fn with_ring(event_id: u64, pid: i32, ring_bytes: usize) -> Result<SystemCallLog, Refusal> {
        let ring_bytes = ring_bytes.max(page_bytes());
        let attributes = Attributes {
            kind: KIND_TRACEPOINT,
            config: event_id,
            sample_period: 1,
            sample_type: SAMPLE_RAW,
            flags: WATERMARK,
            wakeup: (ring_bytes / 2) as u32,
            ..Attributes::default()
        };
        let event = Event::open(attributes, pid).map_err(Refusal::Other)?;
        let map =
            Region::of_device(event.descriptor(), page_bytes() + ring_bytes).map_err(|error| match error
                .kind()
            {
                io::ErrorKind::PermissionDenied | io::ErrorKind::OutOfMemory => Refusal::Memory(error),
                _ => Refusal::Other(error),
            })?;
        Ok(SystemCallLog {
            event,
            map,
            ring_bytes: ring_bytes as u64,
            event_id,
            accounted: 0,
            enabled: false,
        })
    }

    /// Logs from now on.
    pub fn enable(&mut self) -> io::Result<()> {
        self.event.enable().context(|| "enable the log of system calls")?;
        self.enabled = true;
        Ok(())
    }

    /// Logs no longer. What was logged can still be drained.
    pub fn disable(&mut self) -> io::Result<()> {
        self.event.disable().context(|| "disable the log of system calls")?;
        self.enabled = false;
        Ok(())
    }

    /// Readable when the ring is half full, until one looks; and always once the process is dead.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.event.descriptor()
    }

    /// Takes everything out of the ring and gives the number of each call, in order, to `each`.
    ///
    /// # Errors
    /// `InvalidData` if the kernel's records are not of the form that is known here.
    pub fn drain(&mut self, mut each: impl FnMut(i64)) -> io::Result<Drained> {
        let mut drained = Drained::default();
        let mut tail = self.map.double_word(TAIL).load(Ordering::Relaxed);
        // Acquire: what the kernel wrote before it moved the head is seen after it.
        let head = self.map.double_word(HEAD).load(Ordering::Acquire);
        let result = loop {
            if tail == head {
                break Ok(());
            }
            match self.record(tail, head) {
                Ok((record, bytes)) => {
                    match record {
                        Record::Call(number) => {
                            drained.calls += 1;
                            each(number);
                        }
                        Record::Lost(count) => drained.lost += count,
                        Record::Other => {}
                    }
                    tail += bytes;
                }
                Err(error) => {
                    // What follows cannot be made sense of either.
                    tail = head;
                    break Err(error);
                }
            }
        };
        // Release: the kernel writes there again only after it was read.
        self.map.double_word(TAIL).store(tail, Ordering::Release);
        self.accounted += drained.calls + drained.lost;
        result?;
        if !self.enabled {
            // The kernel reports a loss with the next record that fits, of which there may be none.
            let [count] = self.event.read()?;
            let unreported = count.saturating_sub(self.accounted);
            drained.lost += unreported;
            self.accounted += unreported;
        }
        Ok(drained)
    }

    /// The record at `at`, and its length in bytes.
    fn record(&self, at: u64, head: u64) -> io::Result<(Record, u64)> {
        let header = self.word(at);
        // The header: kind (4 bytes), something (2), length (2).
        let (kind, bytes) = (low(header), high(header) >> 16);
        let least = match kind {
            RECORD_SAMPLE => 8 + 4 + CALL_BYTES,
            RECORD_LOST => 24,
            RECORD_LOST_SAMPLES => 16,
            _ => 8,
        };
        if bytes < least || !bytes.is_multiple_of(8) || u64::from(bytes) > head.wrapping_sub(at) {
            return Err(strange(format!("a record of kind {kind} has {bytes} bytes")));
        }
        let record = match kind {
            RECORD_SAMPLE => {
                // The length of what the event says of itself, and its number (2 bytes).
                let (first, event) = (self.word(at + 8), self.event_id as u32 as u16);
                if low(first) != CALL_BYTES || high(first) as u16 != event {
                    let (event, bytes) = (high(first) as u16, low(first));
                    return Err(strange(format!("a sample is of event {event} and has {bytes} bytes")));
                }
                // The call's number stands 8 bytes into that: its halves lie in two words, for the length before it
                // has 4 bytes.
                Record::Call((u64::from(high(self.word(at + 16))) | self.word(at + 24) << 32) as i64)
            }
            RECORD_LOST => Record::Lost(self.word(at + 16)),
            RECORD_LOST_SAMPLES => Record::Lost(self.word(at + 8)),
            _ => Record::Other,
        };
        Ok((record, u64::from(bytes)))
    }

    /// The 8 bytes at `at`, counted from the ring's first use. Records begin at multiples of 8 and so does the ring's
    /// end: a record may continue at the ring's start, a word never does.
    fn word(&self, at: u64) -> u64 {
        let offset = page_bytes() + (at & (self.ring_bytes - 1)) as usize;
        self.map.double_word(offset).load(Ordering::Relaxed)
    }
}

/// Why there is no log.
#[derive(Debug)]
enum Refusal {
    /// The ring is too large.
    Memory(io::Error),
    /// The log would not be there with a smaller ring.
    Other(io::Error),
}

/// What stands in the ring.
#[derive(Debug)]
enum Record {
    Call(i64),
    Lost(u64),
    Other,
}

/// The four bytes of a word that come first in memory, on the little-endian machines that furlong runs on.
fn low(word: u64) -> u32 {
    word as u32
}

/// The four bytes of a word that come last in memory.
fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

fn strange(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the log of system calls: {what}"))
}

/// A counter of the processor, for one thread.
#[derive(Debug)]
pub struct HardwareCounter {
    event: Event,
    user_only: bool,
}

/// The processor's counters that are asked for: name, kind, and number. The last is a cache's: the data TLB, reads,
/// misses.
const HARDWARE: [(&str, u32, u64); 6] = [
    ("cycles", KIND_HARDWARE, 0),
    ("instructions", KIND_HARDWARE, 1),
    ("cache-references", KIND_HARDWARE, 2),
    ("cache-misses", KIND_HARDWARE, 3),
    ("branch-misses", KIND_HARDWARE, 5),
    ("dTLB-load-misses", KIND_HARDWARE_CACHE, 3 | 1 << 16),
];

/// Opens the processor's counters for the thread `pid`, disabled, each with the name that `perf` gives it. Those that
/// the user may not have of the kernel are counted in user mode alone.
///
/// # Errors
/// Each counter has its own: `Unsupported` where the machine has no such counter, as most virtual machines, and
/// `PermissionDenied` where the user may not have it.
pub fn open_hardware(pid: i32) -> Vec<(&'static str, io::Result<HardwareCounter>)> {
    HARDWARE.map(|(name, kind, config)| (name, HardwareCounter::open(kind, config, pid))).into()
}

impl HardwareCounter {
    fn open(kind: u32, config: u64, pid: i32) -> io::Result<HardwareCounter> {
        let attributes = Attributes { kind, config, read_format: READ_TIMES, ..Attributes::default() };
        match Event::open(attributes, pid) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let flags = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
                let event = Event::open(Attributes { flags, ..attributes }, pid)?;
                Ok(HardwareCounter { event, user_only: true })
            }
            event => Ok(HardwareCounter { event: event?, user_only: false }),
        }
    }

    /// Whether what the kernel does for the process is left out.
    pub fn user_only(&self) -> bool {
        self.user_only
    }

    /// Counts from now on.
    pub fn enable(&self) -> io::Result<()> {
        self.event.enable()
    }

    /// Counts no longer.
    pub fn disable(&self) -> io::Result<()> {
        self.event.disable()
    }

    /// The count since the first enabling. Where the processor had to share its few counters out among more events, it
    /// is extrapolated from the time in which it was counted.
    ///
    /// # Errors
    /// If the process ran, but the counter never got its turn.
    pub fn read(&self) -> io::Result<u64> {
        let [count, enabled_ns, running_ns] = self.event.read()?;
        scale(count, enabled_ns, running_ns)
    }
}

/// The count that would have been seen had the event been counted all the time that it was enabled.
fn scale(count: u64, enabled_ns: u64, running_ns: u64) -> io::Result<u64> {
    if running_ns == enabled_ns {
        return Ok(count);
    }
    if running_ns == 0 {
        return Err(io::Error::other(
            "the counter never got its turn: other events use the processor's counters",
        ));
    }
    let scaled = u128::from(count) * u128::from(enabled_ns) / u128::from(running_ns);
    Ok(u64::try_from(scaled).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::test_child::{PERFMON, SYS_ADMIN, TestChild, get_parent, has, write_and_read};
    use crate::linux::{pipe, tracefs};
    use crate::wait::wait_any;
    use std::os::fd::{AsFd, AsRawFd};

    /// The event, or `None` where this process has no right to it and was told so.
    fn event() -> Option<u64> {
        match tracefs::event_id("raw_syscalls", "sys_enter") {
            Ok(id) => Some(id),
            Err(error) => {
                assert!(!has(SYS_ADMIN) && error.kind() == io::ErrorKind::PermissionDenied, "{error}");
                // Without the right to the event's number there is none to its log either, whatever the number.
                let error = SystemCallLog::open(1, 0).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
                assert!(error.to_string().contains("CAP_PERFMON"), "{error}");
                None
            }
        }
    }

    #[test]
    fn the_log_has_every_call_in_order() {
        let Some(event) = event() else { return };
        let (reader, writer) = pipe::pipe().unwrap();
        let process = TestChild::new(&[reader.as_raw_fd(), writer.as_raw_fd()], || {
            get_parent(100);
            write_and_read(50, writer.as_fd(), reader.as_fd());
        });
        let mut log = SystemCallLog::open(event, process.child.pid()).unwrap();
        assert!(log.ring_bytes >= LEAST_RING_BYTES as u64);
        log.enable().unwrap();
        process.play(|| {});
        // It says that it is done with a write, and waits with a read, in which it may not be yet.
        log.disable().unwrap();
        let mut calls = Vec::new();
        let drained = log.drain(|number| calls.push(number)).unwrap();
        assert_eq!(drained, Drained { calls: calls.len() as u64, lost: 0 });
        if calls.first() == Some(&libc::SYS_read) {
            // It was enabled before the child waited for the start.
            calls.remove(0);
        }
        let mut expected = vec![libc::SYS_getppid; 100];
        expected.extend([libc::SYS_write, libc::SYS_read].repeat(50));
        expected.push(libc::SYS_write);
        if calls.len() > expected.len() {
            expected.push(libc::SYS_read);
        }
        assert_eq!(calls, expected);
        process.end();
        assert_eq!(log.drain(|_| ()).unwrap(), Drained::default());
    }

    #[test]
    fn records_may_wrap_around_the_rings_end() {
        let Some(event) = event() else { return };
        // 80 bytes a record do not divide the ring, and what is left of the last calls makes the start differ.
        let rounds = 5 * page_bytes() / (80 * 20);
        let process = TestChild::repeated(rounds, &[], || get_parent(20));
        let mut log = SystemCallLog::with_ring(event, process.child.pid(), page_bytes()).unwrap();
        log.enable().unwrap();
        let mut calls = Vec::new();
        for _ in 0..rounds {
            process.play(|| {});
            assert_eq!(log.drain(|number| calls.push(number)).unwrap().lost, 0);
        }
        log.disable().unwrap();
        assert_eq!(log.drain(|number| calls.push(number)).unwrap().lost, 0);
        calls.retain(|number| *number != libc::SYS_read);
        let mut round = vec![libc::SYS_getppid; 20];
        round.push(libc::SYS_write);
        assert_eq!(calls, round.repeat(rounds));
        assert!(calls.len() as u64 * 80 > 4 * log.ring_bytes);
        process.end();
    }

    #[test]
    fn what_found_the_ring_full_is_counted() {
        let Some(event) = event() else { return };
        let process = TestChild::new(&[], || get_parent(1_000));
        let mut log = SystemCallLog::with_ring(event, process.child.pid(), page_bytes()).unwrap();
        log.enable().unwrap();
        process.play(|| {});
        let readable = wait_any(&[log.descriptor()], 0).unwrap();
        assert_eq!(readable, [true]);
        // A loss is reported with the next call that fits, and the others when the log is disabled.
        let first = log.drain(|number| assert!(number >= 0)).unwrap();
        assert!(first.calls > 0 && first.calls <= page_bytes() as u64 / 80, "{first:?}");
        log.disable().unwrap();
        let rest = log.drain(|_| ()).unwrap();
        let total = first.calls + first.lost + rest.calls + rest.lost;
        assert!(first.lost + rest.lost > 0 && (1_001..=1_003).contains(&total), "{first:?} {rest:?}");
        process.end();
    }

    #[test]
    fn a_loss_is_reported_while_the_log_goes_on() {
        let Some(event) = event() else { return };
        let process = TestChild::new(&[], || get_parent(1_000));
        let mut log = SystemCallLog::with_ring(event, process.child.pid(), page_bytes()).unwrap();
        log.enable().unwrap();
        process.play(|| {});
        let first = log.drain(|_| ()).unwrap();
        process.end();
        // The child's last calls carried the report.
        let second = log.drain(|_| ()).unwrap();
        assert!(first.lost + second.lost > 0, "{first:?} {second:?}");
        log.disable().unwrap();
        assert_eq!(log.drain(|_| ()).unwrap(), Drained::default());
    }

    #[test]
    fn the_hardwares_counters_count_or_say_why_not() {
        let process = TestChild::new(&[], || get_parent(1_000));
        let counters = open_hardware(process.child.pid());
        assert_eq!(counters.len(), HARDWARE.len());
        for (name, counter) in &counters {
            match counter {
                Ok(counter) => counter.enable().unwrap(),
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    assert!(error.to_string().contains("no such counter"), "{name}: {error}");
                }
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{name}: {error}");
                    assert!(!has(PERFMON) && error.to_string().contains("CAP_PERFMON"), "{name}: {error}");
                }
            }
        }
        process.play(|| {});
        for (name, counter) in counters {
            if let (Ok(counter), "instructions") = (counter, name) {
                counter.disable().unwrap();
                assert!(counter.read().unwrap() > 1_000);
            }
        }
        process.end();
    }

    #[test]
    fn a_counter_counts_between_enable_and_disable() {
        const KIND_SOFTWARE: u32 = 1;
        const PAGE_FAULTS: u64 = 2;
        let pages = 64;
        let process = TestChild::new(&[], move || {
            let mut memory = crate::linux::memory::Pages::new(pages * page_bytes()).unwrap();
            memory.chunks_mut(page_bytes()).for_each(|page| page[0] = 1);
        });
        let counter = HardwareCounter::open(KIND_SOFTWARE, PAGE_FAULTS, process.child.pid()).unwrap();
        assert_eq!(counter.read().unwrap(), 0);
        counter.enable().unwrap();
        process.play(|| {});
        counter.disable().unwrap();
        let count = counter.read().unwrap();
        assert!(count > 0 && count < 100_000, "{count}");
        assert_eq!(counter.user_only(), !has(PERFMON));
        process.end();
        assert_eq!(counter.read().unwrap(), count);
    }

    #[test]
    fn a_shared_counter_is_extrapolated() {
        assert_eq!(scale(10, 100, 100).unwrap(), 10);
        assert_eq!(scale(10, 100, 50).unwrap(), 20);
        assert_eq!(scale(u64::MAX / 2, 1 << 40, 1 << 39).unwrap(), u64::MAX - 1);
        assert_eq!(scale(0, 0, 0).unwrap(), 0);
        assert!(scale(0, 100, 0).is_err());
    }
}
