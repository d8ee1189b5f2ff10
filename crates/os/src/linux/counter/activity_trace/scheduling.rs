//! Tracepoints of the scheduler, of idle CPUs and of interrupts between CPUs, from the wake-up of a thread until it runs.

use super::{ActivityTrace, Scope};
use crate::linux::counter::ring::{Record, low};
use crate::linux::tracefs;
use std::ffi::CString;
use std::io;

/// Event on the way of a woken thread to its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchedulingEvent {
    /// The thread of the record begins to wake this thread.
    Waking(i32),
    /// This thread is runnable.
    Woken(i32),
    /// The scheduler has selected this thread to run next.
    Selected(i32),
    /// The CPU leaves its idle state.
    IdleExit,
    /// Another CPU interrupts this one, to let it call a function or run the scheduler.
    Interrupt,
}

/// Kind of event, without its thread.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Waking,
    Woken,
    Selected,
    IdleExit,
    Interrupt,
}

/// Groups and names of the tracepoints. Idle exits depend on the kernel's configuration, and interrupts on the architecture.
const POINTS: [(&str, &str, Kind); 6] = [
    ("sched", "sched_waking", Kind::Waking),
    ("sched", "sched_wakeup", Kind::Woken),
    ("sched", "sched_switch", Kind::Selected),
    ("power", "cpu_idle", Kind::IdleExit),
    ("irq_vectors", "reschedule_entry", Kind::Interrupt),
    ("irq_vectors", "call_function_single_entry", Kind::Interrupt),
];

impl Kind {
    /// Returns the kernel's filter for events of these threads.
    fn filter(self, tids: &[i32]) -> Option<String> {
        let of_threads = |field| {
            let one = |tid: &i32| format!("{field} == {tid}");
            Some(tids.iter().map(one).collect::<Vec<_>>().join(" || "))
        };
        match self {
            Kind::Waking | Kind::Woken => of_threads("pid"),
            Kind::Selected => of_threads("next_pid"),
            // PWR_EVENT_EXIT. Other values are the entered state.
            Kind::IdleExit => Some(format!("state == {}", u32::MAX)),
            Kind::Interrupt => None,
        }
    }

    /// Returns the event of a sample whose data begin at the word with this index.
    pub(super) fn event(self, sample: &Record<'_>, data: u64) -> SchedulingEvent {
        // After the common fields (8 bytes): name (16), thread (4). A switch has the name, the thread, the priority (4) and
        // the state (8) of the previous thread first.
        let thread = |word| low(sample.data_word(data, word)) as i32;
        match self {
            Kind::Waking => SchedulingEvent::Waking(thread(3)),
            Kind::Woken => SchedulingEvent::Woken(thread(3)),
            Kind::Selected => SchedulingEvent::Selected(thread(7)),
            Kind::IdleExit => SchedulingEvent::IdleExit,
            Kind::Interrupt => SchedulingEvent::Interrupt,
        }
    }

    /// Returns the length in bytes of the data up to the last field that [`event`](Kind::event) reads.
    pub(super) fn least_bytes(self) -> u32 {
        match self {
            Kind::Waking | Kind::Woken => 28,
            Kind::Selected => 60,
            Kind::IdleExit | Kind::Interrupt => 8,
        }
    }
}

impl ActivityTrace {
    /// Adds the wake-ups and switches of these threads, and the idle exits and interrupts of these CPUs. Add the threads
    /// themselves with [`add_thread`](Self::add_thread). Returns the tracepoints that this kernel lacks.
    ///
    /// # Errors
    /// Returns `PermissionDenied` if this user may not trace a whole CPU, with the missing right, and `Unsupported` in a PID namespace,
    /// whose numbers are not those of the kernel's filter.
    pub fn add_scheduling(&mut self, tids: &[i32], cpus: &[usize]) -> io::Result<Vec<&'static str>> {
        if !super::is_in_first_namespace() {
            let why = "tracepoints report other PIDs than those of this PID namespace: run outside of the container";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let mut missing = Vec::new();
        for (group, name, kind) in POINTS {
            let is_needed = !matches!(kind, Kind::IdleExit | Kind::Interrupt);
            let id = match tracefs::event_id(group, name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && !is_needed => {
                    missing.push(name);
                    continue;
                }
                id => id?,
            };
            let filter = kind.filter(tids).map(CString::new).transpose()?;
            for index in 0..self.cpus.len() {
                let number = self.cpus[index].number;
                if cpus.contains(&number) {
                    let event = self.open(id, Scope::Machine, number, 0, filter.as_deref())?;
                    self.connect(index, event)?;
                }
            }
            self.scheduling.push((id as u16, kind));
        }
        Ok(missing)
    }
}
