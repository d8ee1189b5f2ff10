//! Tracepoints of the scheduler, of idle CPUs and of interrupts between CPUs, from the wake-up of a thread until it runs.

use crate::linux::counter::ring::{Record, low};

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
pub(super) const POINTS: [(&str, &str, Kind); 6] = [
    ("sched", "sched_waking", Kind::Waking),
    ("sched", "sched_wakeup", Kind::Woken),
    ("sched", "sched_switch", Kind::Selected),
    ("power", "cpu_idle", Kind::IdleExit),
    ("irq_vectors", "reschedule_entry", Kind::Interrupt),
    ("irq_vectors", "call_function_single_entry", Kind::Interrupt),
];

impl Kind {
    /// Returns the kernel's filter for events of these threads.
    pub(super) fn filter(self, tids: &[i32]) -> Option<String> {
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
