//! The observation: traces processes, and adds their events up until the time is over.

use super::calibration::traced_call_ns;
use super::calls::{Activity, Threads};
use super::flows::Flows;
use super::holders::Holders;
use super::links::{LinkSource, Peer};
use super::live_ends::LiveEnds;
use super::live_screen::Screen;
use super::observation::{Observation, ObservedProcess, ObserverCost, SCHEMA, SharedMemory};
use super::resolver::Resolver;
use super::saved::SavedMessages;
use crate::identity::{Access, ObjectId};
use crate::objects::shared_mappings;
use anyhow::Context;
use furlong_console::exit::{CannotHere, Usage};
use furlong_os::activity::State;
use furlong_os::linux::counter::{ActivityTrace, TRACE_REMEDY, TraceEvent, TraceRecord};
use furlong_os::linux::handle::open_null;
use furlong_os::linux::{ipc_call, system_call};
use furlong_os::other_process::{
    ProcessUsage, activity, descriptors, may_inspect_others, name, processes, threads, used, with_descendants,
};
use furlong_os::process::{Bond, Child, Output, Program, spawn};
use furlong_os::shutdown::ShutdownRequests;
use furlong_os::wait::wait_any;
use furlong_os::{AsHandle, clock, control_group};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{File, read_link};
use std::io::{ErrorKind, IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest time between two looks at the rings, in milliseconds.
const STEP_MS: u64 = 8;

/// Shortest time between two looks at the rings.
const LEAST_STEP: Duration = Duration::from_millis(2);

/// Events younger than this may still be followed by older ones of another CPU.
const SLACK_NS: u64 = 1_000_000;

/// Shortest time between two looks at the mappings of all processes. It is longer if a look takes more than 5 % of it.
const MEMORY_STEP_NS: u64 = 250_000_000;

/// Time for which the holders of objects are not read again.
const HOLDERS_NS: u64 = 5_000_000_000;

/// Processes to observe.
#[derive(Debug, Clone)]
pub enum Target {
    /// Running processes, with their descendants.
    Processes(Vec<i32>),
    /// Command of a shell, which is started and ends with the observation.
    Command(String),
    /// Processes of the control group in this directory and of its subgroups, except furlong.
    Group(PathBuf),
    /// Processes of this machine, except furlong.
    Machine,
}

/// Request for an observation.
#[derive(Debug, Clone)]
pub struct Request {
    #[expect(missing_docs, reason = "the type says everything")]
    pub target: Target,
    /// Longest time; `None` until the processes exit.
    pub limit: Option<Duration>,
    /// Whether messages are kept for a trace.
    pub keeps_messages: bool,
    /// Whether the links are shown on the terminal while they are observed.
    pub is_live: bool,
}

/// Observation with the messages for a trace.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say everything")]
pub struct FinishedObservation {
    pub observation: Observation,
    /// Messages in the order of their times, if they were to be kept.
    pub messages: SavedMessages,
    /// Signal that ended the observation.
    pub signal: Option<i32>,
}

/// Observes processes. They are not changed, and the kernel ends the trace when this process exits for any reason.
///
/// # Errors
/// Returns [`Usage`] if there is no such process, and [`CannotHere`] with the missing right if this user may not trace it.
pub fn observe(request: &Request, requests: &ShutdownRequests) -> anyhow::Result<FinishedObservation> {
    let mut trace = ActivityTrace::new(&ipc_call::numbers()).map_err(cannot)?;
    let mut watch = Watch::new(request.keeps_messages, traced_call_ns().map_err(cannot)?)?;
    let mut child = None;
    match &request.target {
        Target::Processes(pids) => watch.attach(&mut trace, pids)?,
        Target::Group(folder) => {
            let group = File::open(folder).with_context(|| format!("open {}", folder.display()))?;
            trace.add_group(group.as_handle()).map_err(|error| cannot_group(folder, error))?;
            watch.attach_existing(&mut trace, &control_group::processes(folder))?;
        }
        Target::Machine => {
            trace.add_machine().map_err(cannot)?;
            watch.attach_existing(&mut trace, &processes()?)?;
        }
        Target::Command(command) => {
            trace.add_own_programs().map_err(cannot)?;
            child = Some(start(command, request.is_live)?);
        }
    }
    let mut screen = request.is_live.then(Screen::open).transpose()?;
    let start_ns = watch.start_ns;
    let end_ns = request.limit.map_or(u64::MAX, |limit| start_ns.saturating_add(limit.as_nanos() as u64));
    let mut signal = None;
    while signal.is_none() && clock::now_ns() < end_ns && watch.is_alive(child.as_mut()) {
        let mut handles = trace.descriptors();
        handles.push(requests.as_handle());
        handles.extend(screen.as_ref().map(Screen::keys));
        wait_any(&handles, STEP_MS)?;
        // The descriptors of exited threads are always readable.
        std::thread::sleep(LEAST_STEP);
        signal = requests.take();
        watch.step(&mut trace, SLACK_NS)?;
        let Some(screen) = &mut screen else { continue };
        if screen.is_due() {
            screen.show(watch.report(clock::now_ns())?);
        }
        if !screen.obey() {
            // A terminal that closes also sends a signal.
            signal = signal.or_else(|| requests.take());
            break;
        }
    }
    drop(screen);
    let now_ns = clock::now_ns();
    trace.disable()?;
    watch.step(&mut trace, 0)?;
    let (observation, messages) = watch.finish(now_ns)?;
    Ok(FinishedObservation { observation, messages, signal })
}

/// Returns the error of a trace of a control group.
fn cannot_group(folder: &Path, error: std::io::Error) -> anyhow::Error {
    if error.kind() == ErrorKind::Unsupported {
        let reason = format!("the hierarchy of {} does not have the perf_event controller", folder.display());
        let remedy = "specify the group in the hierarchy of version 2, or in perf_event of version 1";
        return CannotHere::new(reason, remedy).into();
    }
    cannot(error)
}

/// Returns the error of a trace that this user may not have.
fn cannot(error: std::io::Error) -> anyhow::Error {
    if error.kind() == ErrorKind::PermissionDenied {
        return CannotHere::new(format!("cannot trace system calls: {error}"), TRACE_REMEDY).into();
    }
    anyhow::Error::new(error).context("cannot trace system calls")
}

/// Checks that the descriptors of a process can be identified. Some rights permit to list them, but not to read their links.
fn check_readable(pid: i32) -> Result<(), CannotHere> {
    let read_link = |number: i32| read_link(format!("/proc/{pid}/fd/{number}")).map(drop);
    match descriptors(pid).and_then(|numbers| numbers.first().copied().map_or(Ok(()), read_link)) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let reason = format!(
                "cannot read the descriptors of process {pid}, which belongs to another user: {error}"
            );
            Err(CannotHere::new(reason, "run as root, as its user, or with CAP_SYS_PTRACE"))
        }
        _ => Ok(()),
    }
}

/// Starts a command in a separate session, so that it continues if furlong is killed. Its output goes to standard error, because
/// standard output has the result. On a terminal that shows the links, it is dropped.
fn start(command: &str, is_live: bool) -> anyhow::Result<Child> {
    let arguments = ["-c", command];
    let null = (is_live && stderr().is_terminal()).then(open_null).transpose()?;
    let (stderr, null) = (stderr(), null.as_ref().map(AsHandle::as_handle));
    let program = Program {
        arguments: &arguments,
        output: Output::WithErrors,
        is_foreign: true,
        ..Program::at(Path::new("/bin/sh"))
    };
    spawn(&program, &[], null.unwrap_or(stderr.as_handle()), Bond::Outlives).context("cannot start --command")
}

/// State of an observation.
struct Watch {
    /// Beginning of the observation, or of the present interval.
    start_ns: u64,
    pids: Vec<i32>,
    threads: Threads,
    flows: Flows,
    resolver: Resolver,
    /// Events that are not processed yet.
    pending: Vec<TraceRecord>,
    /// Names of programs, because processes may exit.
    commands: HashMap<i32, String>,
    /// Memory that observed processes can write, or map together with a process that can.
    memory: BTreeMap<ObjectId, SharedMemory>,
    memory_due_ns: u64,
    holders: OnceCell<Holders>,
    holders_ns: u64,
    traced_call_ns: f64,
    events: u64,
    lost: u64,
    /// Lost events at the beginning of the interval.
    lost_before: u64,
    /// Resources that the processes had used at the beginning of the interval, with those of this process.
    used_before: HashMap<i32, ProcessUsage>,
    own_before: ProcessUsage,
    close: Option<i64>,
    executes: [Option<i64>; 2],
}

impl Watch {
    fn new(keeps_messages: bool, traced_call_ns: f64) -> anyhow::Result<Watch> {
        let start_ns = clock::now_ns();
        Ok(Watch {
            start_ns,
            pids: Vec::new(),
            threads: Threads::new(start_ns, HashSet::new()),
            used_before: HashMap::new(),
            flows: Flows::new(keeps_messages),
            resolver: Resolver::new(),
            pending: Vec::new(),
            commands: HashMap::new(),
            memory: BTreeMap::new(),
            memory_due_ns: 0,
            holders: OnceCell::new(),
            holders_ns: start_ns,
            traced_call_ns,
            events: 0,
            lost: 0,
            lost_before: 0,
            own_before: used(std::process::id() as i32)?,
            close: system_call::number("close"),
            executes: ["execve", "execveat"].map(system_call::number),
        })
    }

    /// Traces all threads of the processes and of their descendants.
    fn attach(&mut self, trace: &mut ActivityTrace, pids: &[i32]) -> anyhow::Result<()> {
        self.pids = pids.to_vec();
        pids.iter().try_for_each(|pid| check_readable(*pid))?;
        let mut added = HashSet::new();
        loop {
            let before = added.len();
            for pid in pids.iter().flat_map(|pid| with_descendants(*pid)) {
                let Ok(tids) = threads(pid) else { continue };
                for tid in tids.into_iter().filter(|tid| !added.contains(tid)).collect::<Vec<_>>() {
                    match trace.add_thread(tid) {
                        Err(error) if error.kind() == ErrorKind::NotFound => continue,
                        other => other.map_err(|error| {
                            cannot(std::io::Error::new(error.kind(), format!("process {pid}: {error}")))
                        })?,
                    }
                    added.insert(tid);
                    if tid == pid {
                        self.commands.insert(pid, name(pid));
                        self.used_before.insert(pid, used(pid).unwrap_or_default());
                    }
                }
            }
            // A thread that was added traces its later children. Others may have begun before.
            if added.len() == before {
                break;
            }
        }
        if let Some(pid) = pids.iter().find(|pid| !added.contains(*pid)) {
            return Err(
                Usage(format!("there is no process {pid}: specify the PIDs of running processes")).into()
            );
        }
        self.begin(trace, added)
    }

    /// Notes the processes that exist, of a trace that includes later ones.
    fn attach_existing(&mut self, trace: &mut ActivityTrace, pids: &[i32]) -> anyhow::Result<()> {
        let own = std::process::id() as i32;
        let others = || pids.iter().copied().filter(|pid| *pid != own);
        // A sandbox may forbid some processes to everyone.
        if !may_inspect_others() {
            others().try_for_each(check_readable)?;
        }
        self.used_before = others().filter_map(|pid| Some((pid, used(pid).ok()?))).collect();
        // Others may exit without a record of their switch to a CPU, and would then count as running all the time.
        let runs = |tid: &i32| activity(*tid).is_some_and(|found| found.state == State::Runnable);
        self.begin(trace, others().flat_map(|pid| threads(pid).unwrap_or_default()).filter(runs).collect())
    }

    /// Starts the trace; `first` are the threads that exist.
    fn begin(&mut self, trace: &mut ActivityTrace, first: HashSet<i32>) -> anyhow::Result<()> {
        trace.enable()?;
        self.start_ns = clock::now_ns();
        self.threads = Threads::new(self.start_ns, first);
        for pid in self.used_before.keys().copied().collect::<Vec<_>>() {
            self.live_ends(trace).note_process(pid);
        }
        Ok(())
    }

    fn is_alive(&self, child: Option<&mut Child>) -> bool {
        match child {
            Some(child) => child.try_wait().is_none(),
            None => self.pids.is_empty() || self.pids.iter().any(|pid| exists(*pid)),
        }
    }

    fn live_ends<'a>(&'a mut self, trace: &'a mut ActivityTrace) -> LiveEnds<'a> {
        LiveEnds { resolver: &mut self.resolver, trace, pending: &mut self.pending, close: self.close }
    }

    /// Processes all events that are older than the slack.
    fn step(&mut self, trace: &mut ActivityTrace, slack_ns: u64) -> anyhow::Result<()> {
        let before_ns = if slack_ns == 0 { u64::MAX } else { clock::now_ns().saturating_sub(slack_ns) };
        self.live_ends(trace).drain()?;
        self.pending.sort_by_key(|record| record.time_ns);
        let count = self.pending.partition_point(|record| record.time_ns < before_ns);
        let rest = self.pending.split_off(count);
        let records = std::mem::replace(&mut self.pending, rest);
        self.events += records.len() as u64;
        for record in &records {
            if record.pid > 0 {
                self.commands.entry(record.pid).or_insert_with(|| name(record.pid));
            }
        }
        for record in &records {
            if let Some(call) = self.threads.add(record) {
                if self.executes.contains(&Some(call.number)) {
                    self.commands.insert(call.pid, name(call.pid));
                }
                let (resolver, pending, close) = (&mut self.resolver, &mut self.pending, self.close);
                self.flows.add(&call, &mut LiveEnds { resolver, trace, pending, close });
            }
            if record.event == TraceEvent::Exited && record.pid == record.tid {
                self.resolver.forget_process(record.pid);
            }
        }
        if clock::now_ns() > self.memory_due_ns {
            self.note_memory();
        }
        if trace.lost > self.lost {
            self.lost = trace.lost;
            self.threads.forget_calls();
            self.flows.forget();
            self.resolver.forget();
        }
        Ok(())
    }

    /// Notes the memory that observed processes share, because they may exit before the end.
    fn note_memory(&mut self) {
        let start_ns = clock::now_ns();
        for &pid in self.commands.keys() {
            for found in shared_mappings(pid).unwrap_or_default() {
                let memory = self.memory.entry(found.id).or_insert_with(|| SharedMemory {
                    kind: found.id.kind.name(),
                    name: found.name,
                    ..SharedMemory::default()
                });
                memory.bytes = memory.bytes.max(found.mapped_bytes);
                memory.is_written |= found.access == Access::Maps;
                memory.processes.insert(pid);
            }
        }
        let now_ns = clock::now_ns();
        self.memory_due_ns = now_ns + MEMORY_STEP_NS.max(20 * (now_ns - start_ns));
    }

    /// Returns the result, and the messages for a trace.
    fn finish(mut self, end_ns: u64) -> anyhow::Result<(Observation, SavedMessages)> {
        let start_ns = self.start_ns;
        self.note_memory();
        let observation = self.report(end_ns)?;
        let kept = self.flows.kept.take().unwrap_or_default();
        let messages = SavedMessages::new(kept, &observation.links, start_ns);
        Ok((observation, messages))
    }

    /// Returns the observation of the interval until now, and begins the next one.
    fn report(&mut self, end_ns: u64) -> anyhow::Result<Observation> {
        let duration_ns = end_ns - self.start_ns;
        if end_ns.saturating_sub(self.holders_ns) > HOLDERS_NS {
            (self.holders, self.holders_ns) = (OnceCell::new(), end_ns);
        }
        let source = LinkSource {
            flows: &self.flows,
            info: &|flow| self.resolver.info(flow),
            holders: &|end, direction| self.holders.get_or_init(Holders::read).find(end, direction),
            command: &|pid| self.command(pid),
            seconds: duration_ns as f64 / 1e9,
        };
        let links = source.links();
        let observation = Observation {
            schema: SCHEMA,
            duration_ns,
            links,
            shared_memory: self.memory.values().filter(|memory| memory.is_shared()).cloned().collect(),
            processes: self.processes(end_ns),
            observer: self.cost(duration_ns)?,
            unidentified_descriptors: self.resolver.unidentified,
        };
        let kept = self.resolver.forget_unused(&self.flows.used());
        self.flows.begin_interval(&kept);
        self.commands.retain(|pid, _| exists(*pid));
        self.memory.retain(|_, memory| {
            memory.processes.retain(|pid| self.commands.contains_key(pid));
            !memory.processes.is_empty()
        });
        self.start_ns = end_ns;
        Ok(observation)
    }

    /// Returns the cost of the observation in the interval.
    fn cost(&mut self, duration_ns: u64) -> anyhow::Result<ObserverCost> {
        let now = used(std::process::id() as i32)?;
        let own = now - std::mem::replace(&mut self.own_before, now);
        let events = std::mem::take(&mut self.events);
        Ok(ObserverCost {
            cpu_share: (own.user_ns + own.system_ns) as f64 / duration_ns as f64,
            events,
            traced_call_ns: self.traced_call_ns,
            events_per_s: events as f64 * 1e9 / duration_ns as f64,
            lost_events: self.lost - std::mem::replace(&mut self.lost_before, self.lost),
        })
    }

    /// Returns the activity of all processes in the interval, those with the most CPU time first.
    fn processes(&mut self, end_ns: u64) -> Vec<ObservedProcess> {
        let (duration_ns, traced_call_ns) = ((end_ns - self.start_ns) as f64, self.traced_call_ns);
        let activities = self.threads.begin_interval(end_ns);
        let pids: BTreeSet<i32> = activities.keys().chain(self.used_before.keys()).copied().collect();
        let process = |pid: i32| {
            let activity = activities.get(&pid).copied().unwrap_or_default();
            let cpu_ns = self.cpu_ns(pid, &activity);
            let per_s = |count: u64| count as f64 * 1e9 / duration_ns;
            ObservedProcess {
                peer: Peer { pid, command: self.command(pid) },
                cpu_share: cpu_ns as f64 / duration_ns,
                voluntary_switches_per_s: per_s(activity.voluntary),
                preemptions_per_s: per_s(activity.preempted),
                calls_per_s: per_s(activity.calls),
                tracing_share: per_s(activity.calls) * traced_call_ns / 1e9,
                io_uring_calls: self.flows.hidden.get(&pid).copied().unwrap_or_default(),
            }
        };
        let mut processes: Vec<_> = pids.into_iter().filter(|pid| *pid > 0).map(process).collect();
        processes.retain(|found| found.cpu_share + found.calls_per_s > 0.0);
        processes.sort_by(|one, other| other.cpu_share.total_cmp(&one.cpu_share));
        processes
    }

    /// Returns the CPU time of a process within the interval. A process that never leaves its CPU makes no events.
    fn cpu_ns(&mut self, pid: i32, activity: &Activity) -> u64 {
        let Ok(now) = used(pid) else {
            self.used_before.remove(&pid);
            return activity.cpu_ns;
        };
        let used = now - self.used_before.insert(pid, now).unwrap_or_default();
        used.user_ns + used.system_ns
    }

    fn command(&self, pid: i32) -> String {
        self.commands.get(&pid).cloned().unwrap_or_else(|| name(pid))
    }
}

fn exists(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}
