//! Parts of a round trip, each with its count and the cost of one occurrence.

use crate::{
    Costs, Row,
    checks::on_two_processors,
    costs::{CONTEXT_SWITCH, WAKE_UP, cost_name},
    not_explained::NotExplained,
};
use furlong_model::{Copies, Cost, Family, WaitKind};
use furlong_stats::tidy;
use serde::Serialize;

/// Messages in a round trip.
pub(crate) const MESSAGES: f64 = 2.0;
/// Size in bytes of the reference message for longer ones, if the reader blocks.
const SHORT_BYTES: usize = 8;
/// Minimum number of page faults per round trip for a separate part, beyond those in one process.
const FEW_FAULTS: f64 = 0.01;

/// Part of a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Entry into the kernel and return.
    SystemCalls,
    /// Copying of the bytes in warm caches.
    Copying,
    /// Remaining work of the mechanism's calls.
    OwnPath,
    /// Switch from one role to the other on one core.
    ContextSwitches,
    /// Wake-up of a role that blocks on another core.
    WakeUps,
    /// Access to bytes that are in the cache of another core, or not in a near cache.
    CacheLinesAcross,
    /// First access to memory.
    PageFaults,
    /// System calls of a library's own threads, in a program with its own loop.
    LibraryThreads,
    /// Remainder of such a program: the program and its libraries. No term has this name.
    Program,
    /// Work of a server that belongs to the mechanism.
    Server,
    /// Time in which an own program and its peers use no CPU.
    Waiting,
}

impl Part {
    /// Returns the name for users.
    pub const fn name(self) -> &'static str {
        match self {
            Part::SystemCalls => "system calls",
            Part::Copying => "copying",
            Part::OwnPath => "own path",
            Part::ContextSwitches => "context switches",
            Part::WakeUps => "wake-ups",
            Part::CacheLinesAcross => "cache lines across",
            Part::PageFaults => "page faults",
            Part::LibraryThreads => "library threads",
            Part::Program => "program and libraries",
            Part::Server => "server",
            Part::Waiting => "waiting",
        }
    }
}

/// One part of a benchmark's round trip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Term {
    /// The part.
    pub name: Part,
    /// Name of a call, a thread or a server, if the part is split by them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Count per round trip.
    pub count: f64,
    /// Nanoseconds of one occurrence.
    pub cost_ns: f64,
    /// Nanoseconds per round trip: count times cost.
    pub ns: f64,
    /// Origin of count and cost.
    pub source: Source,
}

/// Origin of the count or the cost of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Count of both roles.
    BothRoles,
    /// Count with both ends in one process.
    CountedInOneProcess,
    /// The mechanism copies nothing.
    NothingCopied,
    /// The mechanism copies a message once.
    OneCopy,
    /// The mechanism copies a message twice.
    TwoCopies,
    /// Measurement with both ends in one process.
    MeasuredInOneProcess,
    /// Count during the measurement.
    CountedWhileMeasured,
    /// One wait per message.
    OneAMessage,
    /// Additional time of a reader with cold caches, besides copying.
    ColdReader,
    /// Measurement on two cores that busy-wait.
    SpinningCores,
    /// Excess over the count in one process.
    MoreThanInOneProcess,
    /// Count of both roles, with the costs of such calls on this machine.
    PricedByKind,
    /// Count in a library's own thread, which the program may not wait for.
    LibraryThread,
    /// Switches between threads of a role.
    BetweenThreads,
    /// CPU time of a process that is neither role.
    ServersProcessorTime,
    /// Elapsed time less CPU time.
    NoCpuTime,
}

impl Term {
    pub(crate) fn new(name: Part, count: f64, cost_ns: f64, source: Source) -> Self {
        let (count, cost_ns, ns) = (tidy(count), tidy(cost_ns), tidy(count * cost_ns));
        Term { name, of: None, count, cost_ns, ns, source }
    }

    /// Adds the name of a call, a thread or a server.
    pub(crate) fn of(self, name: &str) -> Self {
        Term { of: Some(name.to_owned()), ..self }
    }
}

/// Benchmark with the data for all explanations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The benchmark.
    pub row: &'a Row,
    /// System calls that lengthen a round trip, over both roles.
    pub calls: f64,
    /// Copies of a message that are a separate part.
    pub copies: u8,
    /// Costs of the machine.
    pub costs: &'a Costs,
}

/// Benchmark with its counterpart in one process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WithTwin<'a> {
    pub subject: Subject<'a>,
    /// Counterpart in one process.
    pub twin: &'a Row,
    /// System calls per round trip of the counterpart.
    pub twin_calls: f64,
}

impl<'a> WithTwin<'a> {
    /// Creates it from a benchmark with `calls` per round trip over both roles, and its counterpart in one process. If the
    /// benchmark does not block, only the calls of the counterpart count. Unsuccessful attempts take time that is spent
    /// waiting anyway.
    pub(crate) fn new(
        (row, calls): (&'a Row, f64),
        (twin, twin_calls): (&'a Row, f64),
        copies: Option<Copies>,
        costs: &'a Costs,
    ) -> Self {
        // The payload of a notification is too small to count as a copy.
        let copies = match (row.family, copies) {
            (Some(Family::Notification | Family::Floor), _) => 0,
            (_, Some(Copies::One)) => 1,
            (_, Some(Copies::Two | Copies::TwoOrNone) | None) => 2,
        };
        let mut subject = Subject { row, calls, copies, costs };
        if !subject.sleeps() {
            subject.calls = twin_calls;
        }
        WithTwin { subject, twin, twin_calls }
    }

    /// Returns all parts, or the missing cost.
    pub(crate) fn terms(&self) -> Result<Vec<Term>, NotExplained> {
        let subject = &self.subject;
        let mut terms = vec![self.system_calls()?, subject.copying()?, self.own_path()?];
        if subject.on_two_cores() {
            if subject.sleeps() {
                terms.push(subject.wake_ups()?);
            }
            terms.push(subject.cache_lines_across()?);
        } else {
            terms.push(subject.context_switches()?);
        }
        // `own_path` already contains the faults of the counterpart.
        let faults = subject.row.exchange.page_faults.minor - self.twin.exchange.page_faults.minor;
        terms.extend(subject.page_faults(faults, Source::MoreThanInOneProcess)?);
        Ok(terms)
    }

    fn system_calls(&self) -> Result<Term, NotExplained> {
        let Subject { calls, .. } = self.subject;
        let cost_ns = self.subject.needed_ns(cost_name(Cost::SystemCall), calls)?;
        let source = if self.subject.sleeps() { Source::BothRoles } else { Source::CountedInOneProcess };
        Ok(Term::new(Part::SystemCalls, calls, cost_ns, source))
    }

    /// Returns the median of the counterpart, less its known time for system calls and copies.
    fn own_path(&self) -> Result<Term, NotExplained> {
        let subject = &self.subject;
        let calls_ns = self.twin_calls * subject.needed_ns(cost_name(Cost::SystemCall), self.twin_calls)?;
        let copies_ns = MESSAGES * f64::from(subject.copies) * subject.copy_ns()?;
        let own_ns = (self.twin.exchange.ns.p50 - calls_ns - copies_ns).max(0.0);
        Ok(Term::new(Part::OwnPath, 1.0, own_ns, Source::MeasuredInOneProcess))
    }
}

impl Subject<'_> {
    pub(crate) fn copying(&self) -> Result<Term, NotExplained> {
        let source = match self.copies {
            0 => Source::NothingCopied,
            1 => Source::OneCopy,
            _ => Source::TwoCopies,
        };
        Ok(Term::new(Part::Copying, MESSAGES * f64::from(self.copies), self.copy_ns()?, source))
    }

    pub(crate) fn context_switches(&self) -> Result<Term, NotExplained> {
        let cost_ns = self.needed_ns(CONTEXT_SWITCH, self.switches())?;
        Ok(Term::new(Part::ContextSwitches, self.switches(), cost_ns, Source::CountedWhileMeasured))
    }

    /// Returns the context switches per round trip, of both kinds, over both roles.
    pub(crate) fn switches(&self) -> f64 {
        self.row.exchange.switches.all()
    }

    /// Returns at most one wake-up per message. A role may block again before the whole message has arrived, but the other
    /// role works at that time, so the latency does not increase.
    pub(crate) fn wake_ups(&self) -> Result<Term, NotExplained> {
        let sleeps = self.row.exchange.switches.voluntary;
        let source = if sleeps > MESSAGES { Source::OneAMessage } else { Source::CountedWhileMeasured };
        let sleeps = sleeps.min(MESSAGES);
        Ok(Term::new(Part::WakeUps, sleeps, self.needed_ns(WAKE_UP, sleeps)?, source))
    }

    pub(crate) fn cache_lines_across(&self) -> Result<Term, NotExplained> {
        let source = if self.sleeps() { Source::ColdReader } else { Source::SpinningCores };
        let size = self.row.case.size_bytes;
        let missing = || missing(cost_name(self.across()));
        Ok(Term::new(
            Part::CacheLinesAcross,
            MESSAGES,
            self.across_beyond_ns(size).ok_or_else(missing)?,
            source,
        ))
    }

    /// Returns the part for this number of page faults, if there are more than a few.
    pub(crate) fn page_faults(&self, faults: f64, source: Source) -> Result<Option<Term>, NotExplained> {
        if faults <= FEW_FAULTS {
            return Ok(None);
        }
        let cost_ns = self.needed_ns(cost_name(Cost::PageFault), faults)?;
        Ok(Some(Term::new(Part::PageFaults, faults, cost_ns, source)))
    }

    /// Returns the costs that grow with the size, in a round trip of `size_bytes`: copying, and across cores the cache
    /// lines beyond those of the shortest message.
    pub(crate) fn by_size_ns(&self, size_bytes: usize) -> Option<f64> {
        let copies_ns = MESSAGES * f64::from(self.copies) * self.costs.copy_ns(size_bytes)?;
        if !self.on_two_cores() {
            return Some(copies_ns);
        }
        let lines_ns = self.across_beyond_ns(size_bytes)? - self.across_beyond_ns(SHORT_BYTES)?;
        Some(copies_ns + MESSAGES * lines_ns.max(0.0))
    }

    /// Returns the nanoseconds of a message from core to core, beyond writing and reading it on one core.
    fn across_beyond_ns(&self, size_bytes: usize) -> Option<f64> {
        // The cost of a blocking reader is zero up to this size by definition.
        if self.sleeps() && size_bytes <= SHORT_BYTES {
            return Some(0.0);
        }
        let across_ns = self.costs.across_ns(size_bytes, self.sleeps())?;
        Some((across_ns - 2.0 * self.costs.copy_ns(size_bytes)?).max(0.0))
    }

    fn across(&self) -> Cost {
        if self.sleeps() { Cost::CopyAcrossAsleep } else { Cost::CopyAcross }
    }

    /// Returns the nanoseconds to copy one message. Without copies the cost is not needed.
    fn copy_ns(&self) -> Result<f64, NotExplained> {
        if self.copies == 0 {
            return Ok(0.0);
        }
        self.costs.copy_ns(self.row.case.size_bytes).ok_or_else(|| missing(cost_name(Cost::Copy)))
    }

    /// Returns the cost with this name. If the count is zero, the cost is not needed.
    pub(crate) fn needed_ns(&self, name: &str, count: f64) -> Result<f64, NotExplained> {
        match self.costs.ns(name) {
            Some(ns) => Ok(ns),
            None if count <= 0.0 => Ok(0.0),
            None => Err(missing(name)),
        }
    }

    pub(crate) fn sleeps(&self) -> bool {
        self.row.case.wait.kind() == WaitKind::Sleeping
    }

    pub(crate) fn on_two_cores(&self) -> bool {
        on_two_processors(self.row.case.placement)
    }
}

fn missing(name: &str) -> NotExplained {
    NotExplained::NoCost { name: name.to_owned() }
}
