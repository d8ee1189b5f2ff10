//! The log of the system calls that one thread enters.

#[cfg(test)]
mod tests;

use super::perf_event::{Attributes, Event, KIND_TRACEPOINT, SAMPLE_RAW, WATERMARK};
use super::ring::{Record, Ring};
use crate::error::Context;
use crate::linux::memory::page_bytes;
use std::io;
use std::os::fd::BorrowedFd;

/// The ring that is asked for, and what is made do with where the kernel allows no more, in bytes.
const RING_BYTES: usize = 2 << 20;
const LEAST_RING_BYTES: usize = 64 << 10;

/// The system calls that one thread enters, in order, as the kernel logs them: the trace event
/// `raw_syscalls:sys_enter`. A call that the thread is already in when the log is enabled is not in it.
#[derive(Debug)]
pub struct SystemCallLog {
    event: Event,
    ring: Ring,
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
        let ring = Ring::of(&event, event_id, ring_bytes).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::OutOfMemory => Refusal::Memory(error),
            _ => Refusal::Other(error),
        })?;
        Ok(SystemCallLog { event, ring, accounted: 0, enabled: false })
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
        let result = self.ring.drain(|record| match record {
            Record::Call(number) => {
                drained.calls += 1;
                each(number);
            }
            Record::Lost(count) => drained.lost += count,
            Record::Other => {}
        });
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
}

/// Why there is no log.
#[derive(Debug)]
enum Refusal {
    /// The ring is too large.
    Memory(io::Error),
    /// The log would not be there with a smaller ring.
    Other(io::Error),
}
