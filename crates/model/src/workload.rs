//! What a user's two processes have to do: what `furlong recommend` chooses a mechanism for.

use crate::named_enum::named_enum;
use crate::{Arrival, Boundary, Case, Exchange, Pattern, Placement, Reach, Request, Time, Wait};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::{fmt, str::FromStr, time::Duration};

/// What two processes exchange, how often, and under which conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// How messages go back and forth.
    pub pattern: Pattern,
    /// Bytes in each message; of a request, in each answer.
    pub size_bytes: usize,
    /// Bytes in a request, where that is the pattern.
    pub request_bytes: Option<usize>,
    /// Nanoseconds between two messages; `None` is as fast as it goes.
    pub interval_ns: Option<u64>,
    /// What is to be best.
    pub objective: Objective,
    /// What must hold.
    pub slo: Option<Slo>,
    /// What lies between the processes.
    pub boundaries: Vec<Boundary>,
    /// In what they are written.
    pub languages: Vec<Language>,
    /// How many processes receive every message.
    #[serde(alias = "consumers")]
    pub receivers: u32,
    /// How many processes send to one.
    #[serde(default = "one_process", skip_serializing_if = "is_one_process")]
    pub senders: u32,
    /// How many processes share the messages, each of which one of them takes.
    #[serde(default = "one_process", skip_serializing_if = "is_one_process")]
    pub workers: u32,
    /// What the mechanism must offer by itself.
    pub needs: Vec<Need>,
    /// Whether each process trusts the other not to change a message while it is read.
    pub trust: Trust,
    /// Whether memory that both can write is accepted all the same, where they do not trust each other.
    pub accept_shared_memory: bool,
    /// Whether who waits may keep a processor busy.
    pub spin: bool,
    /// Whether the newest message alone counts, so that mechanisms may replace older ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latest: bool,
    /// What the user's own work on each message takes, in nanoseconds.
    pub work_ns: Option<u64>,
    /// Whether libraries that installed adapters carry may be chosen too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adapters: bool,
}

fn one_process() -> u32 {
    1
}

fn is_one_process(number: &u32) -> bool {
    *number == 1
}

impl Default for Workload {
    /// Round trips of 128 bytes between two processes that trust each other, as fast as they go.
    fn default() -> Self {
        Workload {
            pattern: Pattern::default(),
            size_bytes: 128,
            request_bytes: None,
            interval_ns: None,
            objective: Objective::Latency,
            slo: None,
            boundaries: vec![Boundary::Process],
            languages: Vec::new(),
            receivers: 1,
            senders: 1,
            workers: 1,
            needs: Vec::new(),
            trust: Trust::Mutual,
            accept_shared_memory: false,
            spin: false,
            latest: false,
            work_ns: None,
            adapters: false,
        }
    }
}

impl Workload {
    /// Messages a second; `None` is as fast as it goes.
    pub fn per_second(&self) -> Option<f64> {
        self.interval_ns.map(|ns| 1e9 / (ns.max(1) as f64))
    }

    /// Whether a row that waits like this may be chosen.
    pub fn admits(&self, wait: Wait) -> bool {
        self.spin || wait.sleeps_in_the_end()
    }

    /// What is measured of a row: this very workload, or as fast as it goes where throughput is what counts.
    pub fn case(&self, mechanism: &str, wait: Wait, placement: Placement) -> Case {
        let is_paced =
            self.objective != Objective::Throughput && !self.pattern_and_parties().0.shares_an_end();
        let interval_ns = self.interval_ns.filter(|_| is_paced);
        Case {
            arrival: interval_ns.map_or(Arrival::ClosedLoop, Arrival::Interval),
            ..self.closed_case(mechanism, wait, self.size_bytes, placement)
        }
    }

    /// The pattern that is measured, and of how many: several can take part one way alone. If the newest message alone counts,
    /// one receiver is measured as several are: with one message in flight.
    pub fn pattern_and_parties(&self) -> (Pattern, NonZeroU32) {
        let several = [
            (Pattern::FanOut, self.receivers),
            (Pattern::FanIn, self.senders),
            (Pattern::Work, self.workers),
        ];
        let asked = several.into_iter().find(|(_, number)| *number > 1);
        let asked = asked.or(self.latest.then_some((Pattern::FanOut, 1)));
        let (pattern, number) = asked.filter(|_| self.pattern.is_stream()).unwrap_or((self.pattern, 1));
        (pattern, NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN))
    }

    /// The exchange of messages between the processes.
    pub fn exchange(&self) -> Exchange {
        let (pattern, parties) = self.pattern_and_parties();
        let request = self.request_bytes.map(|size_bytes| Request { size_bytes, by: None });
        Exchange::of(pattern).with_request(request).with_parties(parties)
    }

    /// The same messages of another size, each as soon as the one before it is done.
    pub fn closed_case(&self, mechanism: &str, wait: Wait, size_bytes: usize, placement: Placement) -> Case {
        let case = Case::round_trip(mechanism, wait, size_bytes, placement).with(self.exchange());
        Case { boundary: Boundary::measured_of(&self.boundaries), ..case }
    }
}

named_enum! {
    /// What is to be best.
    Objective, "objective" {
        /// The median time of a message.
        Latency = "latency",
        /// Messages a second.
        Throughput = "throughput",
        /// Processor time of a message, over both processes.
        Cpu = "cpu",
        /// Least that users must do themselves.
        Simplicity = "simplicity",
    }
}

named_enum! {
    /// What the mechanism must offer by itself.
    Need, "need" {
        /// A message arrives as one, whatever its size.
        Boundaries = "boundaries",
        /// A sender that is too fast waits.
        BackPressure = "back-pressure",
        /// What was sent stays when both processes have ended.
        Persistence = "persistence",
        /// Open files can be handed over with a message.
        FdPassing = "fd-passing",
        /// Who lives notices that the other has gone.
        PeerDeath = "peer-death",
    }
}

named_enum! {
    /// Whether the processes trust each other.
    Trust, "trust" {
        /// A fault of one may be a fault of both.
        Mutual = "mutual",
        /// Neither may be able to hurt the other.
        None = "none",
    }
}

named_enum! {
    /// What a process is written in.
    Language, "language" {
        /// C.
        C = "c",
        /// C++.
        Cpp = "c++",
        /// Rust.
        Rust = "rust",
        /// Go.
        Go = "go",
        /// Python, with what comes with it.
        Python = "python",
        /// Java.
        Java = "java",
        /// JavaScript, in Node.
        Node = "node",
    }
}

impl Language {
    /// The name as sentences have it.
    pub const fn title(self) -> &'static str {
        match self {
            Language::C => "C",
            Language::Cpp => "C++",
            Language::Rust => "Rust",
            Language::Go => "Go",
            Language::Python => "Python",
            Language::Java => "Java",
            Language::Node => "Node",
        }
    }
}

/// A percentile that must stay below a time: `p99<2ms`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Slo {
    /// Which share of messages must be faster, 0 to 1.
    pub quantile: f64,
    /// Than this, in nanoseconds.
    pub limit_ns: u64,
}

/// A service level objective that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no service level objective: write a percentile (p50, p90, p99 or p99.9) and a time, as in p99<2ms"
)]
pub struct InvalidSlo(String);

/// The percentiles of which figures are kept.
const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

impl Slo {
    /// The percentile's name.
    pub fn percentile(&self) -> &'static str {
        PERCENTILES
            .iter()
            .find(|(_, quantile)| *quantile == self.quantile)
            .map_or("percentile", |(name, _)| name)
    }
}

impl FromStr for Slo {
    type Err = InvalidSlo;

    fn from_str(text: &str) -> Result<Self, InvalidSlo> {
        let invalid = || InvalidSlo(text.to_owned());
        let (percentile, limit) = text.split_once('<').ok_or_else(invalid)?;
        let known = PERCENTILES.iter().find(|(name, _)| *name == percentile.trim());
        let (_, quantile) = known.ok_or_else(invalid)?;
        let limit: Time = limit.trim().trim_start_matches('=').trim().parse().map_err(|_| invalid())?;
        Ok(Slo { quantile: *quantile, limit_ns: limit.0.as_nanos() as u64 })
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<{}", self.percentile(), Time(Duration::from_nanos(self.limit_ns)))
    }
}

/// The rows that may be chosen for a workload, and those that may not: what was known before anything was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortlist {
    /// What was asked.
    pub workload: Workload,
    /// Rows that may be chosen.
    pub candidates: Vec<Candidate>,
    /// Rows that may not, and why.
    pub excluded: Vec<Excluded>,
    /// What a process across the boundary was seen to reach on this machine; empty where nothing was tried.
    pub tried: Vec<Tried>,
    /// Where the roles run.
    pub placement: Placement,
    /// Trials of each row whose numbers are below this only say which rows are worth a longer look.
    pub first_look_trials: u32,
}

impl Shortlist {
    /// The row of this mechanism and wait, if it may be chosen.
    pub fn candidate(&self, mechanism: &str, wait: Wait) -> Option<&Candidate> {
        self.candidates.iter().find(|row| row.mechanism == mechanism && row.wait == wait)
    }
}

/// Whether a process across the boundary got hold of what another one made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// How things are found across it.
    pub reach: Reach,
    /// Why it was not reached; `None` if it was.
    pub failed: Option<String>,
}

/// A row that may be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The mechanism's name.
    pub mechanism: String,
    /// How the receiver waits.
    pub wait: Wait,
    /// What its users must do themselves, with how much each weighs.
    pub integration_costs: Vec<IntegrationCost>,
    /// What its figures leave out for this workload.
    pub caveats: Vec<String>,
    /// What would exclude it.
    pub disqualified_by: Vec<Disqualifier>,
    /// The largest message that a user's program may send with it on that machine; `None` is as large as memory allows.
    pub max_size_bytes: Option<usize>,
    /// Whether a newer message replaces an older one that was not read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces_older: bool,
}

/// Something that users of a mechanism must do themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrationCost {
    /// What it is.
    pub what: String,
    /// How much it weighs: 1 is a line or two, 3 a piece of work.
    pub weight: u32,
}

/// A change of the workload that would exclude a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disqualifier {
    /// The change, as in `--trust none`.
    pub change: String,
    /// Why it would.
    pub reason: String,
}

/// A row that may not be chosen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Excluded {
    /// The mechanism's name.
    pub mechanism: String,
    /// How the receiver waits; `None` if it is all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// Why.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_slo_is_a_percentile_and_a_time() {
        let slo: Slo = "p99<2ms".parse().unwrap();
        assert_eq!((slo.quantile, slo.limit_ns, slo.to_string().as_str()), (0.99, 2_000_000, "p99<2.00 ms"));
        assert_eq!("p99.9 <= 150us".parse::<Slo>().unwrap().limit_ns, 150_000);
        for text in ["", "p99", "99<2ms", "p98<1ms", "p99<", "p99<2", "p99>2ms", "<2ms"] {
            assert!(text.parse::<Slo>().is_err(), "{text}");
        }
    }

    #[test]
    fn several_are_measured_one_way_and_who_shares_an_end_as_fast_as_it_goes() {
        let rpc = Workload { interval_ns: Some(1_000), ..Workload::default() };
        let stream = Workload { pattern: Pattern::OneWay, ..rpc.clone() };
        let measured = |workload: &Workload| {
            let case = workload.case("pipe", Wait::Block, Placement::OtherCore);
            (case.pattern(), case.parties().get(), case.links().get(), case.arrival)
        };
        let paced = Arrival::Interval(1_000);
        for (workload, expected) in [
            (Workload { receivers: 3, ..rpc }, (Pattern::RoundTrip, 1, 1, paced)),
            (stream.clone(), (Pattern::OneWay, 1, 1, paced)),
            (Workload { latest: true, ..stream.clone() }, (Pattern::FanOut, 1, 1, paced)),
            (Workload { receivers: 3, ..stream.clone() }, (Pattern::FanOut, 3, 3, paced)),
            (Workload { senders: 4, ..stream.clone() }, (Pattern::FanIn, 4, 1, Arrival::ClosedLoop)),
            (Workload { workers: 5, ..stream }, (Pattern::Work, 5, 1, Arrival::ClosedLoop)),
        ] {
            assert_eq!(measured(&workload), expected);
        }
    }

    #[test]
    fn words_read_back_as_written() {
        for boundary in Boundary::ALL {
            assert_eq!(boundary.name().parse(), Ok(boundary));
            assert_eq!(serde_json::to_string(&boundary).unwrap(), format!("\"{boundary}\""));
        }
        let error = "tape".parse::<Boundary>().unwrap_err().to_string();
        assert!(error.contains("no boundary is called 'tape'") && error.contains("container"), "{error}");
    }
}
