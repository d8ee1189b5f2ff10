//! Hardware counters of the CPU.

use super::perf_event::{
    Attributes, EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, Event, KIND_HARDWARE, KIND_HARDWARE_CACHE, READ_TIMES,
};
use std::io;

/// A hardware counter for one thread.
#[derive(Debug)]
pub struct HardwareCounter {
    event: Event,
    user_only: bool,
}

/// Requested counters: name, kind and number. The last one belongs to a cache: the data TLB, reads, misses.
const HARDWARE: [(&str, u32, u64); 6] = [
    ("cycles", KIND_HARDWARE, 0),
    ("instructions", KIND_HARDWARE, 1),
    ("cache-references", KIND_HARDWARE, 2),
    ("cache-misses", KIND_HARDWARE, 3),
    ("branch-misses", KIND_HARDWARE, 5),
    ("dTLB-load-misses", KIND_HARDWARE_CACHE, 3 | 1 << 16),
];

/// Opens the hardware counters for the thread `pid`, disabled, each with its name in `perf`. If the user may not count in the
/// kernel, a counter counts user mode only.
///
/// # Errors
/// Each counter has its own error: `Unsupported` if the machine has no such counter, as in most virtual machines, and
/// `PermissionDenied` if the user may not open it.
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

    /// Returns whether the kernel's work for the process is excluded.
    pub fn user_only(&self) -> bool {
        self.user_only
    }

    /// Starts counting.
    pub fn enable(&self) -> io::Result<()> {
        self.event.enable()
    }

    /// Stops counting.
    pub fn disable(&self) -> io::Result<()> {
        self.event.disable()
    }

    /// Returns the count since it was first enabled. If the CPU had to share its few counters among more events, the count is
    /// extrapolated from the time in which it was active.
    ///
    /// # Errors
    /// Returns an error if the process ran, but the counter was never active.
    pub fn read(&self) -> io::Result<u64> {
        let [count, enabled_ns, running_ns] = self.event.read()?;
        scale(count, enabled_ns, running_ns)
    }
}

/// Extrapolates the count to the whole time in which the event was enabled.
fn scale(count: u64, enabled_ns: u64, running_ns: u64) -> io::Result<u64> {
    if running_ns == enabled_ns {
        return Ok(count);
    }
    if running_ns == 0 {
        return Err(io::Error::other(
            "the counter was never scheduled: other events use the hardware counters of the CPU",
        ));
    }
    let scaled = u128::from(count) * u128::from(enabled_ns) / u128::from(running_ns);
    Ok(u64::try_from(scaled).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::memory::page_bytes;
    use crate::linux::test_child::{PERFMON, TestChild, get_parent, has};
    use furlong_testing::skip;

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
        process.end();
        let mut counters = counters.into_iter().filter(|(name, _)| *name == "instructions");
        let Some((_, Ok(counter))) = counters.next() else { skip!("needs hardware counters") };
        assert!(counter.read().unwrap() > 1_000);
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
