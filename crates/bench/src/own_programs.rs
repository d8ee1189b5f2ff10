//! Programs of the user that do not use furlong: a server and its client, or one program that is the whole system.
//!
//! Each prints a line on its standard output: `ready` when the server accepts requests or the client begins, and `done`
//! or `done N` when the client has finished N exchanges. furlong does not see the messages, so it verifies none of
//! them. It handles everything else from outside, as for adapters: CPUs, resource usage, deaths, silence and leftovers.

use crate::adapter::{RUN_VARIABLE, remaining_processes};
use crate::not_measured::{NotMeasured, not_started};
use crate::session::Session;
use crate::started_program::{PRINTED_BYTES, ProgramActivity, StartedProgram, shortened};
use crate::tally::role_tally;
use crate::trial::context::Settings;
use crate::watch::{
    Carrier, OTHER_REPORT, ObservedProcesses, Observer, ProcessEvent, Silence, in_ms, paused_failure,
    supervise,
};
use furlong_loops::recorder::timing_of;
use furlong_loops::schedule::IdleResources;
use furlong_model::{
    Capabilities, Case, Failure, Family, Fault, Measurement, Party, Phase, Placement, ProgramFacts, Role,
    RoleTally, Start, Unavailable, Wait,
};
use furlong_os::activity::Activity;
use furlong_os::linux::signal;
use furlong_os::memory::bounded_object;
use furlong_os::other_process::{self, ProcessUsage, with_descendants};
use furlong_os::pipe::pipe;
use furlong_os::process::{Bond, Exit, Output, Program, send_signal, spawn};
use furlong_os::usage::{self, Usage};
use furlong_os::{AsHandle, BorrowedHandle, RawHandle, clock};
use furlong_stats::distinct;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The longest line, in bytes.
const LONGEST_LINE: usize = 64 << 10;

/// The most bytes that a program may print in a trial: a program that prints for every message would be timed printing.
const MOST_PRINTED: usize = 1 << 20;

/// The longest time that a histogram can hold.
const LONGEST: Duration = Duration::from_mins(1);

/// The time until the first sample of the programs' CPUs, in nanoseconds. The time doubles after each sample, up to the
/// longest: a sample takes 0.1 ms from the processes that run there.
const FIRST_SAMPLE_NS: u64 = 5_000_000;
const LONGEST_SAMPLE_NS: u64 = 100_000_000;

/// The commands of a benchmark, as lines for the shell.
#[derive(Debug)]
pub struct OwnPrograms {
    /// The server, which is started first; `None` if the client is the whole system.
    pub serve: Option<String>,
    /// The client, which is timed.
    pub ask: String,
}

impl OwnPrograms {
    /// Returns the capabilities of a benchmark of own programs.
    pub(crate) fn capabilities(name: &str) -> Capabilities {
        Capabilities {
            name: name.to_owned().leak(),
            family: Family::Programs,
            waits: &[Wait::Own],
            fixed_size_bytes: Some(0),
            start: Start::Fresh,
            ..Capabilities::library("own programs, which know nothing of furlong")
        }
    }

    /// Returns why the programs cannot run this case, or `None`.
    pub(crate) fn refusal(case: &Case) -> Option<Unavailable> {
        (case.placement == Placement::OneProcess).then(|| {
            Unavailable::new(
                format!("{} starts its own processes", case.mechanism),
                "ask for same-core, other-core or free",
            )
        })
    }
}

/// Runs one trial. It leaves nothing behind.
///
/// # Errors
/// Returns the reason if there are no figures.
pub(crate) fn measure(
    programs: &OwnPrograms,
    processors: Option<&[usize]>,
    session: &Session,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Measurement, NotMeasured> {
    let starting = |error| not_started(Phase::Open, &error);
    session.note_programs().map_err(starting)?;
    let processors = processors.unwrap_or_default();
    let sampled = CpuSamples::default();
    let mut trial = ProgramsTrial { processors, session, settings, observer, started: Vec::new(), sampled };
    let measured = trial.run(programs);
    drop(trial);
    let left = remaining_processes(session.name()).map_err(starting)?;
    match measured {
        Ok(_) if !left.is_empty() => {
            let detail = format!(
                "they left processes behind, which furlong has killed: {}",
                shortened(&left.join(", "))
            );
            Err(Failure { phase: Phase::Finish, party: None, fault: Fault::Error, detail }.into())
        }
        measured => measured,
    }
}

/// A mark of a program's progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Ready,
    /// The program is done, after this number of exchanges if it reports one.
    Done(Option<u32>),
    /// The program has exited with status 0.
    Ended,
}

impl Mark {
    /// Returns the mark in a line; `None` for any other line.
    ///
    /// # Errors
    /// Returns a description if the number of exchanges is invalid.
    fn of(line: &[u8]) -> Result<Option<Mark>, String> {
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("ready"), None, None) => Ok(Some(Mark::Ready)),
            (Some("done"), None, None) => Ok(Some(Mark::Done(None))),
            (Some("done"), Some(number), None) => match number.parse() {
                Ok(count) if count > 0 => Ok(Some(Mark::Done(Some(count)))),
                _ => Err(format!(
                    "it printed 'done {}', but expected a number of exchanges from 1 to {}",
                    shortened(number),
                    u32::MAX
                )),
            },
            _ => Ok(None),
        }
    }
}

/// Returns the number of exchanges in each line of a program, or the error of the line.
#[cfg(fuzzing)]
pub(crate) fn marks(mut lines: Vec<u8>) -> Vec<Result<Option<u32>, String>> {
    let lines = std::iter::from_fn(|| crate::started_program::take_line(&mut lines));
    let marks = lines.filter_map(|line| Mark::of(&line).transpose());
    marks.map(|mark| mark.map(|mark| if let Mark::Done(count) = mark { count } else { None })).collect()
}

/// A started command and its state.
struct Side {
    program: StartedProgram,
    printed_bytes: usize,
    /// The PIDs that existed at the last look. Children whose parent has ended are found through them.
    known: BTreeSet<i32>,
}

/// CPU time of a program's processes so far, by PID.
type UsedSoFar = BTreeMap<i32, ProcessUsage>;

/// The CPUs on which the programs were seen, with the CPU time before each sample.
#[derive(Default)]
struct CpuSamples {
    before: UsedSoFar,
    used_ns: BTreeMap<usize, u64>,
}

impl CpuSamples {
    /// Adds the CPU time since the last sample to the CPU on which each process ran last.
    fn add(&mut self, sides: &[UsedSoFar]) {
        for (pid, used) in sides.iter().flatten() {
            let Ok(processor) = other_process::processor(*pid) else { continue };
            let since = *used - self.before.insert(*pid, *used).unwrap_or_default();
            *self.used_ns.entry(processor).or_default() += since.user_ns + since.system_ns;
        }
    }

    /// Returns the CPUs with at least 5 % of the CPU time.
    fn processors(&self) -> Vec<usize> {
        let all: u64 = self.used_ns.values().sum();
        let used = self.used_ns.iter().filter(|(_, ns)| **ns > 0 && **ns >= all / 20);
        used.map(|(processor, _)| *processor).collect()
    }
}

/// A running trial.
struct ProgramsTrial<'a> {
    /// The CPUs of the client and of the server; empty if the scheduler chooses.
    processors: &'a [usize],
    session: &'a Session,
    settings: &'a Settings,
    observer: &'a mut dyn Observer,
    /// The server, if there is one, and then the client.
    started: Vec<Side>,
    sampled: CpuSamples,
}

const SERVES: usize = 0;

impl ProgramsTrial<'_> {
    /// Returns the index of the client.
    fn asks(&self) -> usize {
        self.started.len() - 1
    }

    fn run(&mut self, programs: &OwnPrograms) -> Result<Measurement, NotMeasured> {
        if let Some(serve) = &programs.serve {
            self.start(serve, Role::Responder, &[])?;
            match self.next_mark(SERVES, Phase::Open)?.0 {
                Mark::Ready => {}
                _ => {
                    let what = "it printed 'done' before 'ready'";
                    return Err(self.started[SERVES].failure(Phase::Open, what).into());
                }
            }
        }
        let ended_before = usage::ended_children_usage().map_err(|error| self.unreadable(&error))?;
        let mut begin_ns = clock::now_ns();
        // The processes of a whole system may use the CPUs of both roles.
        let whole = if programs.serve.is_none() { self.processors } else { &[] };
        self.start(&programs.ask, Role::Initiator, whole)?;
        let asks = self.asks();
        let mut before = self.used();
        let mut first = self.next_mark(asks, Phase::WarmUp)?;
        let begins_when_ready = first.0 == Mark::Ready;
        if begins_when_ready {
            begin_ns = first.1;
            before = self.begin_timed();
            let known = before.iter().flatten().map(|(pid, used)| (*pid, *used));
            self.sampled = CpuSamples { before: known.collect(), ..CpuSamples::default() };
            let at_once = self.started[asks].come_mark(Phase::Timed)?;
            let is_mark = matches!(at_once, Some(Mark::Ready | Mark::Done(_)));
            // The last line may lack its line feed.
            if is_mark || self.started[asks].program.has_begun("done") {
                let what = "two of its lines arrived together: flush its output after each line";
                return Err(self.started[asks].failure(Phase::Timed, what).into());
            }
            first = match at_once {
                Some(ended) => (ended, clock::now_ns()),
                None => self.next_mark(asks, Phase::Timed)?,
            };
        }
        let (mark, end_ns) = first;
        let count = match mark {
            Mark::Ready => {
                return Err(self.started[asks].failure(Phase::Timed, "it printed 'ready' twice").into());
            }
            Mark::Done(count) => count,
            Mark::Ended => None,
        };
        let mut after = self.used();
        self.sampled.add(&after);
        if begins_when_ready {
            self.observer.before(Phase::Finish, &self.roles(&after));
        }
        // All processes are asked each time, because each answer covers the time since the previous question.
        let paused = self.started.iter().filter(|side| side.program.child.take_continued());
        let paused: Vec<Party> = paused.map(|side| side.program.party).collect();
        if let Some(party) = paused.first() {
            return Err(NotMeasured::Disturbed(paused_failure(*party)));
        }
        let elapsed_ns = end_ns.saturating_sub(begin_ns).max(1);
        if elapsed_ns > LONGEST.as_nanos() as u64 {
            let what = "it took longer than a minute, which is the longest recorded time: let it exchange fewer \
                        messages";
            return Err(self.started[asks].failure(Phase::Timed, what).into());
        }
        if before[asks].keys().any(|pid| !after[asks].contains_key(pid)) {
            // The client or a child may end right after the last line. Once the client is reaped, the kernel reports
            // its usage and that of the children that it has reaped.
            self.started[asks].program.child.wait_at_most(in_ms(OTHER_REPORT));
            let later = self.used();
            if !later[asks].contains_key(&self.pid(asks)) {
                after = later;
            }
        }
        let ended_side = [asks, SERVES].into_iter().find(|side| !after[*side].contains_key(&self.pid(*side)));
        let ended = match ended_side {
            Some(side) => {
                let now = usage::ended_children_usage().map_err(|error| self.unreadable(&error))?;
                (side, now - ended_before)
            }
            None => (asks, Usage::default()),
        };
        let round_trips = u64::from(count.unwrap_or(1));
        let roles = self.tallies(round_trips, [&before, &after], ended);
        self.finish()?;
        let timing = timing_of(&[elapsed_ns], count.unwrap_or(1))
            .map_err(|error| self.started[asks].failure(Phase::Finish, &error.detail))?;
        let mut ran_on = self.sampled.processors();
        if ran_on.is_empty() && distinct(self.processors).len() == 1 {
            ran_on = vec![self.processors[0]];
        }
        Ok(Measurement {
            roles,
            programs: Some(ProgramFacts {
                commands: [programs.serve.clone().unwrap_or_default(), programs.ask.clone()],
                begins_when_ready,
                ends_when_done: mark != Mark::Ended,
                counts: count.is_some(),
            }),
            ran_on,
            ..timing.measurement()
        })
    }

    /// Starts a line of the shell. It is bound to the CPU of its role, or to `whole`, before it runs.
    fn start(&mut self, line: &str, role: Role, whole: &[usize]) -> Result<(), NotMeasured> {
        let starting = |error: io::Error| not_started(Phase::Open, &error);
        let (lines, their_lines) = pipe().map_err(starting)?;
        let printed = bounded_object("furlong-program-output", PRINTED_BYTES).map_err(starting)?;
        let own = self.processors.get(role.index()).map_or(&[][..], std::slice::from_ref);
        let program = Program {
            arguments: &["-c", line],
            environment: &[(RUN_VARIABLE, OsStr::new(self.session.name()))],
            output: Output::To(their_lines.as_handle()),
            processors: if whole.is_empty() { own } else { whole },
            is_foreign: true,
            ..Program::at(Path::new("/bin/sh"))
        };
        let child = spawn(&program, &[] as &[RawHandle], printed.as_handle(), Bond::DiesWithParentAndGroup)
            .map_err(starting)?;
        let program = StartedProgram::new(role.into(), child, lines, printed);
        self.started.push(Side { program, printed_bytes: 0, known: BTreeSet::new() });
        Ok(())
    }

    fn pid(&self, side: usize) -> i32 {
        self.started[side].program.child.pid()
    }

    /// Waits for the next mark of a side, and returns it with the time. Ignores all other lines.
    fn next_mark(&mut self, side: usize, phase: Phase) -> Result<(Mark, u64), NotMeasured> {
        let ProgramsTrial { session, observer, started, sampled, settings, .. } = self;
        let next_sample_ns = clock::now_ns() + FIRST_SAMPLE_NS;
        let mut awaited = MarkWait {
            sides: started,
            side,
            phase,
            limit: settings.timeout,
            sampled,
            step_ns: FIRST_SAMPLE_NS,
            next_sample_ns,
        };
        supervise(&mut awaited, session, *observer)
    }

    /// Finds the processes of each side. Returns their resource usage so far.
    fn used(&mut self) -> Vec<UsedSoFar> {
        self.started.iter_mut().map(Side::used).collect()
    }

    /// Finds the processes when the measured part begins, and notifies the observer. Returns their resource usage so
    /// far.
    fn begin_timed(&mut self) -> Vec<UsedSoFar> {
        let stops = self.observer.observes_stopped_programs();
        let signal_all = |sides: &[Side], signal| {
            let all = sides.iter().flat_map(|side| &side.known);
            all.for_each(|pid| drop(send_signal(*pid, signal)));
        };
        if stops {
            signal_all(&self.started, signal::STOP);
        }
        let used = self.used();
        self.observer.before(Phase::Timed, &self.roles(&used));
        if stops {
            signal_all(&self.started, signal::CONTINUE);
            // Resets the flag. Otherwise the trial would look as if another process had stopped it.
            for side in &self.started {
                let _ = side.program.child.take_continued();
            }
        }
        used
    }

    /// Returns the processes of each side, the client's first.
    fn roles(&self, used: &[UsedSoFar]) -> Vec<(Party, i32)> {
        let of_side = |(side, used): (&Side, &UsedSoFar)| {
            let party = side.program.party;
            used.keys().map(move |pid| (party, *pid)).collect::<Vec<_>>()
        };
        self.started.iter().zip(used).rev().flat_map(of_side).collect()
    }

    /// Returns the tally of each role between two readings, the client first. The CPU is the last one of the role's
    /// busiest process, or the pinned one if the role has ended. `ended` is a side that has ended, with its usage. If both have
    /// ended, it is the client with the usage of both.
    fn tallies(
        &self,
        round_trips: u64,
        [before, after]: [&[UsedSoFar]; 2],
        ended: (usize, Usage),
    ) -> Vec<RoleTally> {
        let busiest = |used: &UsedSoFar| {
            let total = |used: &ProcessUsage| {
                (*used - ProcessUsage::default()).user_ns + (*used - ProcessUsage::default()).system_ns
            };
            used.iter().max_by_key(|(_, used)| total(used)).map(|(pid, _)| *pid)
        };
        let tally = |(side, party): (usize, Party)| {
            let ended = if side == ended.0 { ended.1 } else { Usage::default() };
            let none = UsedSoFar::new();
            let used = between(before.get(side).unwrap_or(&none), &after[side], ended);
            let seen = busiest(&after[side]).and_then(|pid| other_process::processor(pid).ok());
            let pinned = self.processors.get(party.role.index()).copied();
            let processor = seen.or(pinned).unwrap_or_default();
            role_tally(party, processor, 0, round_trips, used, IdleResources::default())
        };
        let parties = self.started.iter().map(|side| side.program.party);
        let sides: Vec<_> = parties.enumerate().collect();
        sides.into_iter().rev().map(tally).collect()
    }

    /// Waits until the client exits, and then asks the server and all its processes to exit.
    fn finish(&mut self) -> Result<(), NotMeasured> {
        let limit = self.settings.timeout;
        let index = self.asks();
        let asks = &mut self.started[index].program;
        match asks.end_within(limit, "it was done")? {
            Exit::Code(0) => {}
            exit => {
                let what = format!("it {exit} after it was done");
                return Err(asks.failure(Phase::Finish, what).into());
            }
        }
        if index == SERVES {
            return Ok(());
        }
        let serves = &mut self.started[SERVES].program;
        // If the signal fails, the server has already exited.
        let _ = send_signal(-serves.child.pid(), signal::TERMINATE);
        let exit = serves.end_within(limit, "it was asked to (SIGTERM)")?;
        // A crash right before the last line of the client may show only now. The end of the client may cause SIGPIPE.
        match exit.killer().as_deref() {
            None | Some("SIGTERM" | "SIGPIPE" | "SIGHUP" | "SIGINT") => Ok(()),
            Some(_) => Err(serves.exit_failure(exit, Phase::Finish).into()),
        }
    }

    fn unreadable(&self, error: &io::Error) -> NotMeasured {
        self.started[SERVES].failure(Phase::Timed, &format!("read what the programs use: {error}")).into()
    }
}

/// The state of a wait for the next mark of one side.
struct MarkWait<'a> {
    sides: &'a mut [Side],
    /// The index of the awaited side.
    side: usize,
    phase: Phase,
    limit: Duration,
    sampled: &'a mut CpuSamples,
    /// The time between the last two samples, and the time of the next one.
    step_ns: u64,
    next_sample_ns: u64,
}

impl MarkWait<'_> {
    /// Samples the CPUs of the processes when a sample is due.
    fn sample(&mut self, now_ns: u64) {
        if now_ns >= self.next_sample_ns {
            let used: Vec<_> = self.sides.iter_mut().map(Side::used).collect();
            self.sampled.add(&used);
            self.step_ns = (2 * self.step_ns).min(LONGEST_SAMPLE_NS);
            self.next_sample_ns = now_ns + self.step_ns;
        }
    }

    /// Reads the next mark of the awaited side, and the lines of the others.
    fn listen(&mut self, now_ns: u64) -> Result<Option<(Mark, u64)>, Failure> {
        let mark = self.sides[self.side].mark(self.phase)?;
        // The exit came after the end of the output, so its time is read now.
        let at_ns = if mark == Some(Mark::Ended) { clock::now_ns() } else { now_ns };
        for (_, other) in self.sides.iter_mut().enumerate().filter(|(index, _)| *index != self.side) {
            // A server may exit when it has served its client, which may report that later. If the server crashed, the client's
            // mark is not a result.
            match other.listen(self.phase) {
                Err(_) if self.side != SERVES && other.program.exit == Some(Exit::Code(0)) => {}
                listened => listened?,
            }
        }
        Ok(mark.map(|mark| (mark, at_ns)))
    }
}

impl ObservedProcesses for MarkWait<'_> {
    fn activities(&self) -> Vec<(i32, Activity)> {
        let of_side =
            |side: &Side| side.known.iter().copied().chain([side.program.child.pid()]).collect::<Vec<_>>();
        let pids: BTreeSet<i32> = self.sides.iter().flat_map(of_side).collect();
        pids.into_iter().filter_map(|pid| Some((pid, other_process::activity(pid)?))).collect()
    }
}

impl Carrier for MarkWait<'_> {
    type Answer = (Mark, u64);

    fn phase(&self) -> Phase {
        self.phase
    }

    fn longest_silence(&self) -> Duration {
        self.limit
    }

    fn next_look(&self, now_ns: u64) -> Duration {
        Duration::from_nanos(self.next_sample_ns.saturating_sub(now_ns))
    }

    fn handles(&self) -> Vec<BorrowedHandle<'_>> {
        self.sides.iter().flat_map(|side| side.program.handles()).collect()
    }

    fn attend(
        &mut self,
        now_ns: u64,
        _was_woken: bool,
        _observer: &mut dyn Observer,
        incidents: &mut Vec<Failure>,
    ) -> Result<ProcessEvent<(Mark, u64)>, NotMeasured> {
        match self.listen(now_ns) {
            Ok(Some(mark)) => return Ok(ProcessEvent::Answer(mark)),
            Ok(None) => self.sample(now_ns),
            Err(failure) => incidents.push(failure),
        }
        // Lines that are not marks do not end a silence: a program may print for ever.
        Ok(ProcessEvent::Nothing)
    }

    fn is_settled(&self, _incidents: &[Failure]) -> bool {
        // `give_up` waits for deaths.
        true
    }

    fn why_silent(&self, observer: &dyn Observer, silence: &Silence) -> Vec<Failure> {
        let awaited = if self.phase == Phase::Open { "line 'ready'" } else { "line 'done'" };
        let program = &self.sides[self.side].program;
        let stopped = observer.sees_stopped(program.child.pid());
        vec![program.silence(self.phase, awaited, self.limit, stopped, silence.lacked())]
    }

    fn give_up(&mut self, incidents: &mut Vec<Failure>) -> String {
        // A side that dies within a moment may be the cause.
        let failed = incidents.iter().find_map(|incident| incident.party);
        let others = self.sides.iter_mut().filter(|side| Some(side.program.party) != failed);
        let deaths = others.filter_map(|Side { program, .. }| {
            let exit = program.child.wait_at_most(in_ms(OTHER_REPORT))?;
            (exit != Exit::Code(0)).then(|| program.exit_failure(exit, self.phase))
        });
        // Of two early exits, that of the other side explains the one that was noticed.
        incidents.splice(0..0, deaths);
        String::new()
    }
}

impl Side {
    /// Finds the processes. Returns their resource usage so far.
    fn used(&mut self) -> UsedSoFar {
        let roots = self.known.iter().copied().chain([self.program.child.pid()]);
        let pids: BTreeSet<i32> = roots.flat_map(with_descendants).collect();
        // A process that ends in between is not counted.
        let used: UsedSoFar =
            pids.into_iter().filter_map(|pid| Some((pid, other_process::used(pid).ok()?))).collect();
        self.known = used.keys().copied().collect();
        used
    }

    /// Returns the next mark, if it has arrived.
    fn mark(&mut self, phase: Phase) -> Result<Option<Mark>, Failure> {
        loop {
            match self.said(phase)? {
                ProgramActivity::Nothing | ProgramActivity::Closed => return Ok(None),
                ProgramActivity::Line(line) => {
                    if let Some(mark) = Mark::of(&line).map_err(|what| self.failure(phase, &what))? {
                        return Ok(Some(mark));
                    }
                }
                ProgramActivity::Ended(_) if self.program.has_more() => {
                    let line = self.program.take_rest();
                    if let Some(mark) = Mark::of(&line).map_err(|what| self.failure(phase, &what))? {
                        return Ok(Some(mark));
                    }
                }
                ProgramActivity::Ended(Exit::Code(0)) if self.program.party.role == Role::Initiator => {
                    return Ok(Some(Mark::Ended));
                }
                ProgramActivity::Ended(exit) => return Err(self.program.exit_failure(exit, phase)),
            }
        }
    }

    /// Returns a mark that arrived together with the previous one.
    fn come_mark(&mut self, phase: Phase) -> Result<Option<Mark>, Failure> {
        if self.program.has_more() { self.mark(phase) } else { Ok(None) }
    }

    /// Reads the output while the mark of another side is awaited.
    fn listen(&mut self, phase: Phase) -> Result<(), Failure> {
        loop {
            match self.said(phase)? {
                ProgramActivity::Nothing | ProgramActivity::Closed => return Ok(()),
                ProgramActivity::Line(_) => {}
                ProgramActivity::Ended(exit) => return Err(self.program.exit_failure(exit, phase)),
            }
        }
    }

    fn said(&mut self, phase: Phase) -> Result<ProgramActivity, Failure> {
        let said = self.program.attend(phase, "line", LONGEST_LINE)?;
        if let ProgramActivity::Line(line) = &said {
            self.printed_bytes += line.len() + 1;
        }
        if self.printed_bytes > MOST_PRINTED {
            let what = format!(
                "it printed more than {MOST_PRINTED} bytes, which is the maximum during a measurement"
            );
            return Err(self.failure(phase, &what));
        }
        Ok(said)
    }

    fn failure(&self, phase: Phase, what: &str) -> Failure {
        self.program.failure(phase, what.to_owned())
    }
}

/// Returns the usage of all processes between two readings. `ended` is the usage of children that ended, for their
/// whole lives, as the kernel reports it to this process. A process that began in between counts with its whole usage.
/// A process that ended counts with the usage that its parent's reading contains.
fn between(before: &UsedSoFar, after: &UsedSoFar, ended: Usage) -> Usage {
    let all = |used: Vec<Usage>| used.into_iter().fold(Usage::default(), |sum, used| sum + used);
    let earlier = |pid: &i32| before.get(pid).copied().unwrap_or_default();
    let live = all(after.iter().map(|(pid, used)| *used - earlier(pid)).collect());
    let reaped =
        after.iter().map(|(pid, used)| used.ended_children_usage() - earlier(pid).ended_children_usage());
    let reaped = all(reaped.collect());
    let known = before.iter().filter(|(pid, _)| !after.contains_key(pid));
    let known = all(known.map(|(_, used)| used.with_ended_children()).collect());
    live + (reaped + ended - known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_lines_of_one_or_two_words() {
        for (line, mark) in [
            ("ready", Some(Mark::Ready)),
            (" ready\r", Some(Mark::Ready)),
            ("done", Some(Mark::Done(None))),
            ("done 20000", Some(Mark::Done(Some(20_000)))),
            ("", None),
            ("ready to go", None),
            ("I am done", None),
            ("done with 3", None),
        ] {
            assert_eq!(Mark::of(line.as_bytes()), Ok(mark), "{line}");
        }
        for line in ["done 0", "done -1", "done many", "done 99999999999"] {
            assert!(
                Mark::of(line.as_bytes()).unwrap_err().contains("expected a number of exchanges"),
                "{line}"
            );
        }
    }
}
