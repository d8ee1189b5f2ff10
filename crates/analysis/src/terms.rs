//! The parts of a round trip, each with how often it happens and what it costs once.

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
/// The message that a longer one is compared with where the reader sleeps, in bytes.
const SHORT_BYTES: usize = 8;
/// Page faults beyond those in one process that make a part of their own, in a round trip.
const FEW_FAULTS: f64 = 0.01;

/// A part of a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Entering the kernel and coming back.
    SystemCalls,
    /// Copying the bytes, in caches that are warm.
    Copying,
    /// What the mechanism's calls do beside that.
    OwnPath,
    /// One role giving way to the other on one core.
    ContextSwitches,
    /// Waking a role that sleeps on another core.
    WakeUps,
    /// Bytes that lie in another core's cache, or in none that is near.
    CacheLinesAcross,
    /// Touching memory for the first time.
    PageFaults,
    /// System calls of a library's own threads, in a program with a loop of its own.
    LibraryThreads,
    /// What is left over of such a program: it and its libraries. No term has this name.
    Program,
    /// What a server of the mechanism's own does.
    Server,
    /// Time in which an own program and its peers use no CPU.
    Waiting,
}

impl Part {
    /// Its name for people.
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

/// One part of one row's round trip.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Term {
    /// Which.
    pub name: Part,
    /// What of it, where a part is told by the name of a call, a thread or a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// How often in a round trip.
    pub count: f64,
    /// Nanoseconds each time.
    pub cost_ns: f64,
    /// Nanoseconds in a round trip: count times cost.
    pub ns: f64,
    /// Where count and cost come from.
    pub source: Source,
}

/// Where the count or the cost of a part comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Counted in both roles.
    BothRoles,
    /// Counted with both ends in one process.
    CountedInOneProcess,
    /// The mechanism copies nothing.
    NothingCopied,
    /// It copies a message once.
    OneCopy,
    /// It copies a message twice.
    TwoCopies,
    /// Measured with both ends in one process.
    MeasuredInOneProcess,
    /// Counted while the row was measured.
    CountedWhileMeasured,
    /// A message is waited for once.
    OneAMessage,
    /// What it takes a reader with cold caches, beyond copying.
    ColdReader,
    /// Measured on two cores that spin.
    SpinningCores,
    /// What is more than in one process.
    MoreThanInOneProcess,
    /// Counted in both roles, at what such calls cost here.
    PricedByKind,
    /// Counted in a library's own thread, which need not be waited for.
    LibraryThread,
    /// Switches from one thread of a role to another.
    BetweenThreads,
    /// Processor time of a process that is neither role.
    ServersProcessorTime,
    /// Elapsed time less CPU time.
    NoCpuTime,
}

impl Term {
    pub(crate) fn new(name: Part, count: f64, cost_ns: f64, source: Source) -> Self {
        let (count, cost_ns, ns) = (tidy(count), tidy(cost_ns), tidy(count * cost_ns));
        Term { name, of: None, count, cost_ns, ns, source }
    }

    /// The part of that name, in full.
    pub(crate) fn of(self, name: &str) -> Self {
        Term { of: Some(name.to_owned()), ..self }
    }
}

/// A row with what all explanations rest on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// What is explained.
    pub row: &'a Row,
    /// System calls that lengthen a round trip, over both roles.
    pub calls: f64,
    /// Copies of a message that are a part of their own.
    pub copies: u8,
    /// What the machine charges.
    pub costs: &'a Costs,
}

/// A row beside the same with both ends in one process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WithTwin<'a> {
    pub subject: Subject<'a>,
    /// The row in one process.
    pub twin: &'a Row,
    /// System calls in a round trip of that.
    pub twin_calls: f64,
}

impl<'a> WithTwin<'a> {
    /// A row that makes `calls` in a round trip, over both roles, and the same in one process. Of a row that spins only the
    /// calls that carry its messages count: attempts in vain take time that is waited anyway.
    pub(crate) fn new(
        (row, calls): (&'a Row, f64),
        (twin, twin_calls): (&'a Row, f64),
        copies: Option<Copies>,
        costs: &'a Costs,
    ) -> Self {
        // What a notification carries is no copy worth the name.
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

    /// All parts, or the cost that is missing.
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
        // Faults of the twin are in its own path already.
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

    /// Median of the twin, less what it is known to spend on entering the kernel and on copying.
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

    /// Context switches in a round trip of the row, of either kind, over both roles.
    pub(crate) fn switches(&self) -> f64 {
        self.row.exchange.switches.all()
    }

    /// A message is waited for once: whoever falls asleep again before all of it is there sleeps while the other role
    /// is at work, and lengthens nothing.
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

    /// So many page faults, if that is more than a few.
    pub(crate) fn page_faults(&self, faults: f64, source: Source) -> Result<Option<Term>, NotExplained> {
        if faults <= FEW_FAULTS {
            return Ok(None);
        }
        let cost_ns = self.needed_ns(cost_name(Cost::PageFault), faults)?;
        Ok(Some(Term::new(Part::PageFaults, faults, cost_ns, source)))
    }

    /// What grows with the size, in a round trip of `size_bytes`: copying, and on two cores the cache lines beyond
    /// those of the shortest message.
    pub(crate) fn by_size_ns(&self, size_bytes: usize) -> Option<f64> {
        let copies_ns = MESSAGES * f64::from(self.copies) * self.costs.copy_ns(size_bytes)?;
        if !self.on_two_cores() {
            return Some(copies_ns);
        }
        let lines_ns = self.across_beyond_ns(size_bytes)? - self.across_beyond_ns(SHORT_BYTES)?;
        Some(copies_ns + MESSAGES * lines_ns.max(0.0))
    }

    /// What a message takes from core to core beyond writing and reading it on one.
    fn across_beyond_ns(&self, size_bytes: usize) -> Option<f64> {
        // By its definition, the cost of a sleeping reader is none up to here.
        if self.sleeps() && size_bytes <= SHORT_BYTES {
            return Some(0.0);
        }
        let across_ns = self.costs.across_ns(size_bytes, self.sleeps())?;
        Some((across_ns - 2.0 * self.costs.copy_ns(size_bytes)?).max(0.0))
    }

    fn across(&self) -> Cost {
        if self.sleeps() { Cost::CopyAcrossAsleep } else { Cost::CopyAcross }
    }

    /// A copy of one message; of what is never copied nobody needs the cost.
    fn copy_ns(&self) -> Result<f64, NotExplained> {
        if self.copies == 0 {
            return Ok(0.0);
        }
        self.costs.copy_ns(self.row.case.size_bytes).ok_or_else(|| missing(cost_name(Cost::Copy)))
    }

    /// The cost of this name; of what never happens nobody needs it.
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
