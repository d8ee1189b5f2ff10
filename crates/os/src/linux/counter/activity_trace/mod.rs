//! A trace of several processes, a control group or the whole machine: selected system calls with arguments and results, context switches, and the beginning and end of
//! threads. The kernel writes it into one ring per CPU. Nothing of the processes is changed, and the kernel closes the trace when
//! this process exits.

mod scheduling;
#[cfg(test)]
mod tests;

pub use scheduling::SchedulingEvent;

use super::perf_event::{
    Attributes, CLOCK_MONOTONIC, ENABLE_ON_EXEC, Event, IDENTIFY_ALL, INHERIT, KIND_TRACEPOINT, SAMPLE_RAW,
    SAMPLE_THREAD, SAMPLE_TIME, SWITCHES, TASKS, USE_CLOCK, WATERMARK,
};
use super::ring::{
    ENTER_BYTES, LEAST_RING_BYTES, RECORD_EXIT, RECORD_FORK, RECORD_SAMPLE, RECORD_SWITCH,
    RECORD_SWITCH_CPU_WIDE, Record, Ring, high, low, unexpected,
};
use crate::error::Context;
use crate::linux::affinity::parse_list;
use crate::linux::identity::thread;
use crate::linux::limits::{Resource, raised};
use crate::linux::memory::page_bytes;
use crate::linux::tracefs;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::BorrowedFd;
use std::process;

/// Size of the requested ring of a CPU, and of the rings of all CPUs together, in bytes.
const RING_BYTES: usize = 16 << 20;
const ALL_RINGS_BYTES: usize = 128 << 20;

/// Size in bytes of the data of a call that has returned: the common fields (8), the call's number (8), the result (8) and padding (4).
const EXIT_BYTES: u32 = 28;

/// Flags of a record of a context switch: the thread leaves the CPU, and it could have gone on.
const SWITCHED_OUT: u32 = 1 << 13;
const PREEMPTED: u32 = 1 << 14;

/// An event of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRecord {
    /// Time of `CLOCK_MONOTONIC` in nanoseconds.
    pub time_ns: u64,
    /// Process in the PID namespace of this process; 0 while it exits.
    pub pid: i32,
    /// Thread, like `pid`.
    pub tid: i32,
    #[expect(missing_docs, reason = "the name says everything")]
    pub event: TraceEvent,
}

/// Kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceEvent {
    /// The thread has entered a system call.
    Entered {
        /// Number of the call.
        call: i64,
        /// Arguments; the call may use fewer.
        arguments: [u64; 6],
    },
    /// The thread returns from a system call.
    Returned {
        /// Number of the call.
        call: i64,
        /// Result; a negative number is an errno.
        result: i64,
    },
    /// The thread begins to run on a CPU.
    SwitchedIn,
    /// The thread leaves its CPU.
    SwitchedOut {
        /// Whether it could have gone on. Otherwise it waits for something.
        is_preempted: bool,
    },
    /// The thread begins.
    Started,
    /// The thread exits.
    Exited,
    /// Event of the scheduler or of a CPU, which the thread of the record caused or only was interrupted by.
    Scheduling(SchedulingEvent),
}

/// Remedy if this user may not trace.
pub const TRACE_REMEDY: &str = "run as root, or with CAP_PERFMON and a readable /sys/kernel/tracing";

/// A trace of threads and of their later children.
#[derive(Debug)]
pub struct ActivityTrace {
    cpus: Vec<CpuTrace>,
    enter_id: u64,
    exit_id: u64,
    /// Events of the scheduler, by their numbers.
    scheduling: Vec<(u16, scheduling::Kind)>,
    filter: CString,
    ring_bytes: usize,
    /// Number of samples that did not fit into a ring so far.
    pub lost: u64,
}

/// Threads that an event traces.
#[derive(Debug, Clone, Copy)]
enum Scope<'a> {
    Thread(i32),
    /// Directory of a control group.
    Group(BorrowedFd<'a>),
    Machine,
}

/// Numbers of the trace's events.
struct Ids<'a> {
    enter: u16,
    exit: u16,
    scheduling: &'a [(u16, scheduling::Kind)],
}

/// The events on one CPU. All write into the ring of the first one.
#[derive(Debug)]
struct CpuTrace {
    number: usize,
    events: Vec<Event>,
    ring: Option<Ring>,
}

impl ActivityTrace {
    /// Creates a trace of these system calls, or of all if there are none, without threads. The kernel finds the first numbers
    /// fastest.
    ///
    /// # Errors
    /// Returns `PermissionDenied` if this user may not read the numbers of tracepoints, with the missing right.
    pub fn new(calls: &[i64]) -> io::Result<ActivityTrace> {
        let online = std::fs::read_to_string("/sys/devices/system/cpu/online").context(|| "read the CPUs")?;
        let cpus = parse_list(online.trim());
        let share_bytes = (ALL_RINGS_BYTES / cpus.len().next_power_of_two()).max(LEAST_RING_BYTES);
        let cpus = cpus.into_iter().map(|number| CpuTrace { number, events: Vec::new(), ring: None });
        let mut filter: Vec<_> = calls.iter().map(|number| format!("id == {number}")).collect();
        if filter.is_empty() {
            filter.push("id >= 0".to_owned());
        }
        Ok(ActivityTrace {
            cpus: cpus.collect(),
            enter_id: tracefs::event_id("raw_syscalls", "sys_enter")?,
            exit_id: tracefs::event_id("raw_syscalls", "sys_exit")?,
            scheduling: Vec::new(),
            filter: CString::new(filter.join(" || "))?,
            ring_bytes: share_bytes.min(RING_BYTES),
            lost: 0,
        })
    }

    /// Adds a thread, with the threads and processes that it starts later. They are traced once [`enable`](Self::enable) is
    /// called.
    ///
    /// # Errors
    /// Returns `PermissionDenied` if this user may not trace it, with the missing right, and `NotFound` if it has exited.
    pub fn add_thread(&mut self, tid: i32) -> io::Result<()> {
        // Two descriptors per thread and CPU are needed. Programs that this process starts would inherit the limit.
        let _ = raised(Resource::OpenFiles);
        self.add(Scope::Thread(tid), 0)
    }

    /// Adds the programs that the calling thread starts from now on, each from its `execve`. This process itself is not traced.
    ///
    /// # Errors
    /// Returns the errors of [`add_thread`](Self::add_thread).
    pub fn add_own_programs(&mut self) -> io::Result<()> {
        self.add(Scope::Thread(0), ENABLE_ON_EXEC)
    }

    /// Adds all threads of a control group and its subgroups, also later ones, except those of this process. `folder` is the group's
    /// directory.
    ///
    /// # Errors
    /// Returns the errors of [`add_thread`](Self::add_thread), and `Unsupported` if the group's hierarchy does not have the `perf_event`
    /// controller.
    pub fn add_group(&mut self, folder: BorrowedFd<'_>) -> io::Result<()> {
        self.add_all_but_own(Scope::Group(folder))
    }

    /// Adds all threads of this machine, also later ones, except those of this process.
    ///
    /// # Errors
    /// Returns the errors of [`add_thread`](Self::add_thread).
    pub fn add_machine(&mut self) -> io::Result<()> {
        self.add_all_but_own(Scope::Machine)
    }

    /// Adds the wake-ups and switches of these threads, and the idle exits and interrupts of these CPUs. Add the threads
    /// themselves with [`add_thread`](Self::add_thread). Returns the tracepoints that this kernel lacks.
    ///
    /// # Errors
    /// Returns `PermissionDenied` if this user may not trace a whole CPU, with the missing right, and `Unsupported` in a PID namespace,
    /// whose numbers are not those of the kernel's filter.
    pub fn add_scheduling(&mut self, tids: &[i32], cpus: &[usize]) -> io::Result<Vec<&'static str>> {
        if !is_in_first_namespace() {
            let why = "tracepoints report other PIDs than those of this PID namespace: run outside of the container";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let mut missing = Vec::new();
        for (group, name, kind) in scheduling::POINTS {
            let is_needed = !matches!(kind, scheduling::Kind::IdleExit | scheduling::Kind::Interrupt);
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

    fn add_all_but_own(&mut self, scope: Scope<'_>) -> io::Result<()> {
        // The calls that read the trace would cause further samples. Other records of this process are dropped when they are read.
        if is_in_first_namespace() {
            let filter = format!("common_pid != {} && ({})", thread(), self.filter.to_string_lossy());
            self.filter = CString::new(filter)?;
        }
        self.add(scope, 0)
    }

    fn add(&mut self, scope: Scope<'_>, flags: u64) -> io::Result<()> {
        for index in 0..self.cpus.len() {
            for (id, with) in [(self.enter_id, SWITCHES | TASKS), (self.exit_id, 0)] {
                let (number, filter) = (self.cpus[index].number, Some(self.filter.as_c_str()));
                let event = self.open(id, scope, number, flags | with, filter)?;
                self.connect(index, event)?;
            }
        }
        Ok(())
    }

    fn open(
        &self,
        id: u64,
        scope: Scope<'_>,
        cpu: usize,
        flags: u64,
        filter: Option<&CStr>,
    ) -> io::Result<Event> {
        let attributes = Attributes {
            kind: KIND_TRACEPOINT,
            config: id,
            sample_period: 1,
            sample_type: SAMPLE_THREAD | SAMPLE_TIME | SAMPLE_RAW,
            flags: flags | WATERMARK | IDENTIFY_ALL | USE_CLOCK,
            wakeup: (self.ring_bytes / 4) as u32,
            clock: CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        let cpu = cpu as i32;
        let event = match scope {
            Scope::Thread(tid) => {
                let flags = attributes.flags | INHERIT;
                Event::open_on(Attributes { flags, ..attributes }, tid, cpu)?
            }
            Scope::Group(folder) => Event::open_for_group(attributes, folder, cpu)?,
            Scope::Machine => Event::open_on(attributes, -1, cpu)?,
        };
        if let Some(filter) = filter {
            event.filter(filter).context(|| "filter the events in the kernel")?;
        }
        Ok(event)
    }

    /// Lets an event write into the ring of its CPU, which the first event of the CPU creates.
    fn connect(&mut self, index: usize, event: Event) -> io::Result<()> {
        let cpu = &mut self.cpus[index];
        match cpu.events.first() {
            Some(first) => event.write_into(first).context(|| "share the ring of a CPU")?,
            None => cpu.ring = Some(ring(&event, &mut self.ring_bytes)?),
        }
        cpu.events.push(event);
        Ok(())
    }

    /// Starts tracing the threads that were added, except own programs.
    pub fn enable(&self) -> io::Result<()> {
        self.cpus.iter().flat_map(|cpu| &cpu.events).try_for_each(Event::enable)
    }

    /// Stops tracing. Records in the rings can still be drained.
    pub fn disable(&self) -> io::Result<()> {
        self.cpus.iter().flat_map(|cpu| &cpu.events).try_for_each(Event::disable)
    }

    /// Returns one descriptor per CPU. It is readable when the ring of the CPU is a quarter full, and always once its first thread has
    /// exited.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.cpus.iter().filter_map(|cpu| cpu.events.first()).map(Event::descriptor).collect()
    }

    /// Removes all records, and passes them to `each`: those of one CPU in order, one CPU after the other.
    ///
    /// # Errors
    /// Returns `InvalidData` if a record of the kernel does not have the expected form.
    #[inline]
    pub fn drain(&mut self, mut each: impl FnMut(TraceRecord)) -> io::Result<()> {
        self.drain_by_cpu(|_, record| each(record))
    }

    /// Removes all records, and passes them to `each` with the number of their CPU.
    ///
    /// # Errors
    /// Returns the errors of [`drain`](Self::drain).
    #[inline]
    pub fn drain_by_cpu(&mut self, mut each: impl FnMut(usize, TraceRecord)) -> io::Result<()> {
        let ids =
            Ids { enter: self.enter_id as u16, exit: self.exit_id as u16, scheduling: &self.scheduling };
        let own = process::id() as i32;
        for (number, ring) in self.cpus.iter().filter_map(|cpu| Some((cpu.number, cpu.ring.as_ref()?))) {
            ring.drain(|record| {
                self.lost += record.lost().unwrap_or_default();
                // Thread 0 is the idle task, or belongs to a PID namespace that this process cannot see.
                let is_wanted = |record: &TraceRecord| {
                    matches!(record.event, TraceEvent::Scheduling(_)) || record.tid != 0 && record.pid != own
                };
                if let Some(record) = decode(&record, &ids)?.filter(is_wanted) {
                    each(number, record);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Returns whether this process is in the first PID namespace, whose numbers filters compare.
fn is_in_first_namespace() -> bool {
    std::fs::read_link("/proc/self/ns/pid").is_ok_and(|namespace| namespace.as_os_str() == "pid:[4026531836]")
}

/// Maps a ring, smaller than `bytes` if the kernel allows no larger one.
fn ring(event: &Event, bytes: &mut usize) -> io::Result<Ring> {
    loop {
        match Ring::of(event, (*bytes).max(page_bytes())) {
            Err(error)
                if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::OutOfMemory) =>
            {
                if *bytes <= LEAST_RING_BYTES {
                    return Err(error).context(|| "too little memory may be locked (see ulimit -l)");
                }
                *bytes /= 2;
            }
            other => return other,
        }
    }
}

/// Returns the event of a record; `None` for records of other kinds.
#[inline]
fn decode(record: &Record<'_>, ids: &Ids<'_>) -> io::Result<Option<TraceRecord>> {
    let (thread, time_ns, event) = match record.kind {
        RECORD_SAMPLE => (record.word(1), record.word(2), sample(record, ids)?),
        RECORD_SWITCH | RECORD_SWITCH_CPU_WIDE => {
            let first = 1 + u64::from(record.kind == RECORD_SWITCH_CPU_WIDE);
            let event = match record.flags & SWITCHED_OUT {
                0 => TraceEvent::SwitchedIn,
                _ => TraceEvent::SwitchedOut { is_preempted: record.flags & PREEMPTED != 0 },
            };
            (record.word(first), record.word(first + 1), event)
        }
        // Process and parent, thread and thread of the parent, time.
        RECORD_FORK | RECORD_EXIT => {
            let thread = u64::from(low(record.word(1))) | u64::from(low(record.word(2))) << 32;
            let is_start = record.kind == RECORD_FORK;
            (thread, record.word(3), if is_start { TraceEvent::Started } else { TraceEvent::Exited })
        }
        _ => return Ok(None),
    };
    Ok(Some(TraceRecord { time_ns, pid: low(thread) as i32, tid: high(thread) as i32, event }))
}

/// Returns the event of a sample. Its data follow the header, the thread and the time.
#[inline]
fn sample(sample: &Record<'_>, ids: &Ids<'_>) -> io::Result<TraceEvent> {
    const DATA: u64 = 3;
    let word = |number| sample.data_word(DATA, number);
    let (bytes, event) = sample.data_head(DATA);
    let is_complete = sample.bytes >= 28 + bytes;
    match (bytes, event) {
        (ENTER_BYTES, id) if id == ids.enter && is_complete => {
            let arguments = std::array::from_fn(|index| word(2 + index as u64));
            Ok(TraceEvent::Entered { call: word(1) as i64, arguments })
        }
        (EXIT_BYTES, id) if id == ids.exit && is_complete => {
            Ok(TraceEvent::Returned { call: word(1) as i64, result: word(2) as i64 })
        }
        _ => match ids.scheduling.iter().find(|(id, _)| *id == event) {
            Some((_, kind)) if is_complete && bytes >= kind.least_bytes() => {
                Ok(TraceEvent::Scheduling(kind.event(sample, DATA)))
            }
            _ => Err(unexpected(format!("a sample is of event {event} and has {bytes} bytes"))),
        },
    }
}
