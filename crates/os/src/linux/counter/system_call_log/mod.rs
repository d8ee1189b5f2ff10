//! The log of the system calls that one thread enters.

#[cfg(test)]
mod tests;

use super::perf_event::{Attributes, Event, KIND_TRACEPOINT, SAMPLE_RAW, WATERMARK};
use super::ring::{ENTER_BYTES, LEAST_RING_BYTES, RECORD_SAMPLE, Record, Ring, unexpected};
use crate::error::Context;
use crate::linux::memory::page_bytes;
use std::io;
use std::os::fd::BorrowedFd;

/// Size of the requested ring, in bytes.
const RING_BYTES: usize = 2 << 20;

/// Log of the system calls that one thread enters, in the order of the kernel: the trace event `raw_syscalls:sys_enter`. It does
/// not contain a call that the thread is already in when the log is enabled.
#[derive(Debug)]
pub struct SystemCallLog {
    event: Event,
    /// ID of the event to which every sample must belong.
    event_id: u64,
    ring: Ring,
    /// Number of calls that were passed on, or are known to be lost.
    accounted: u64,
    /// Whether the event may still be counting.
    enabled: bool,
}

/// Result of one [`SystemCallLog::drain`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrainResult {
    /// Number of calls passed on.
    pub calls: u64,
    /// Number of calls known so far to be lost because the ring was full: all of them once the log is disabled. Which calls were
    /// lost is not known.
    pub lost: u64,
}

impl SystemCallLog {
    /// Opens a log of the thread `pid`, disabled. `event_id` is the number of `raw_syscalls:sys_enter`.
    ///
    /// # Errors
    /// Returns `PermissionDenied` if the user may not log the kernel's events or lock the memory, with the missing right.
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

    /// Opens a log with a ring of `ring_bytes`, a power of two, or of one page if that is larger.
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
        let ring = Ring::of(&event, ring_bytes).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::OutOfMemory => Refusal::Memory(error),
            _ => Refusal::Other(error),
        })?;
        Ok(SystemCallLog { event, event_id, ring, accounted: 0, enabled: false })
    }

    /// Starts logging.
    pub fn enable(&mut self) -> io::Result<()> {
        self.event.enable().context(|| "enable the log of system calls")?;
        self.enabled = true;
        Ok(())
    }

    /// Stops logging. Calls in the log can still be drained.
    pub fn disable(&mut self) -> io::Result<()> {
        self.event.disable().context(|| "disable the log of system calls")?;
        self.enabled = false;
        Ok(())
    }

    /// Returns a descriptor that becomes readable when the ring is half full, until it is polled, and that stays readable once
    /// the process is dead.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.event.descriptor()
    }

    /// Empties the ring and passes the number of each call to `each`, in order.
    ///
    /// # Errors
    /// Returns `InvalidData` if a record of the kernel does not have the expected form.
    pub fn drain(&mut self, mut each: impl FnMut(i64)) -> io::Result<DrainResult> {
        let mut drained = DrainResult::default();
        let result = self.ring.drain(|record| {
            if record.kind == RECORD_SAMPLE {
                each(call_number(&record, self.event_id)?);
                drained.calls += 1;
            }
            drained.lost += record.lost().unwrap_or_default();
            Ok(())
        });
        self.accounted += drained.calls + drained.lost;
        result?;
        if !self.enabled {
            // The kernel reports a loss with the next record that fits, and there may be none.
            let [count] = self.event.read()?;
            let unreported = count.saturating_sub(self.accounted);
            drained.lost += unreported;
            self.accounted += unreported;
        }
        Ok(drained)
    }
}

/// Returns the number of the call of a sample.
fn call_number(sample: &Record<'_>, event_id: u64) -> io::Result<i64> {
    const DATA: u64 = 1;
    let (bytes, event) = sample.data_head(DATA);
    if sample.bytes < 12 + ENTER_BYTES || bytes != ENTER_BYTES || event != event_id as u32 as u16 {
        return Err(unexpected(format!("a sample is of event {event} and has {bytes} bytes")));
    }
    Ok(sample.data_word(DATA, 1) as i64)
}

/// Reason why the log cannot be opened.
#[derive(Debug)]
enum Refusal {
    /// The memory of the ring was refused: a smaller ring may work.
    Memory(io::Error),
    /// A smaller ring would not help.
    Other(io::Error),
}
