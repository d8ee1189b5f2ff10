//! The workload of a user's two processes, for which `furlong recommend` chooses a mechanism.

use crate::named_enum::named_enum;
use crate::{
    Arrival, Boundary, Case, Exchange, Pattern, Placement, Reach, Request, RequestedCondition,
    RequestedConditions, Time, Wait,
};
use serde::{Deserialize, Serialize, Serializer};
use std::num::NonZeroU32;
use std::{fmt, str::FromStr, time::Duration};

/// The messages of two processes, their rate, and the conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// The pattern of the exchange.
    pub pattern: Pattern,
    /// Bytes in each message; for a request, in each answer.
    pub size_bytes: usize,
    /// Bytes in a request, if that is the pattern.
    pub request_bytes: Option<usize>,
    /// Nanoseconds between two messages; `None` for the highest possible rate.
    pub interval_ns: Option<u64>,
    /// The figure to optimize.
    pub objective: Objective,
    /// The latency requirement.
    pub slo: Option<Slo>,
    /// The boundaries between the processes.
    #[serde(serialize_with = "write_boundaries")]
    pub boundaries: Vec<Boundary>,
    /// The boundary under which all candidates are measured. If it is `None`, TCP and UDP are measured between two network
    /// namespaces if a boundary separates networks, and all others without a boundary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_boundary: Option<Boundary>,
    /// The languages of the processes.
    pub languages: Vec<Language>,
    /// Number of processes that receive every message.
    #[serde(alias = "consumers")]
    pub receivers: u32,
    /// Number of processes that send to one receiver.
    #[serde(default = "one_process", skip_serializing_if = "is_one_process")]
    pub senders: u32,
    /// Number of processes that share the messages. Each message goes to one of them.
    #[serde(default = "one_process", skip_serializing_if = "is_one_process")]
    pub workers: u32,
    /// The required properties of the mechanism.
    pub needs: Vec<Need>,
    /// Whether each process trusts the other not to change a message while it is read.
    pub trust: Trust,
    /// Whether memory that both processes can write is accepted although they do not trust each other.
    pub accept_shared_memory: bool,
    /// Whether a waiting process may keep a CPU busy.
    pub spin: bool,
    /// Whether only the newest message matters, so that mechanisms may replace older ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latest: bool,
    /// Duration of the user's own work on each message, in nanoseconds.
    pub work_ns: Option<u64>,
    /// Whether libraries of installed adapters may be chosen too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adapters: bool,
    /// The recorded traffic that the candidates carry, if it is not a constant rate of messages of one size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<ObservedTraffic>,
}

/// Recorded traffic of running programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservedTraffic {
    /// The link of the trace, `SENDER->RECEIVER`.
    pub link: String,
    /// The mechanism and the wait strategy of the programs; `None` if the trace does not name them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<(String, Wait)>,
    /// The pace: the times of the trace, or a closed loop if the programs send as soon as they can.
    pub arrival: Arrival,
    /// The replayed trace, unless the pace is a closed loop.
    pub conditions: RequestedConditions,
    /// Exchanges per second of the programs.
    pub per_second: f64,
}

/// Writes the names of boundaries. No boundary is called `process` in a workload.
fn write_boundaries<S: Serializer>(boundaries: &[Boundary], serializer: S) -> Result<S::Ok, S::Error> {
    let name = |boundary: &Boundary| match boundary {
        Boundary::None => "process".to_owned(),
        other => other.to_string(),
    };
    serializer.collect_seq(boundaries.iter().map(name))
}

fn one_process() -> u32 {
    1
}

fn is_one_process(number: &u32) -> bool {
    *number == 1
}

impl Default for Workload {
    /// Returns round trips of 128 bytes between two processes that trust each other, at the highest possible rate.
    fn default() -> Self {
        Workload {
            pattern: Pattern::default(),
            size_bytes: 128,
            request_bytes: None,
            interval_ns: None,
            objective: Objective::Latency,
            slo: None,
            boundaries: vec![Boundary::None],
            measured_boundary: None,
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
            observed: None,
        }
    }
}

impl Workload {
    /// Returns the messages per second; `None` for the highest possible rate.
    pub fn per_second(&self) -> Option<f64> {
        self.interval_ns.map(|ns| 1e9 / (ns.max(1) as f64))
    }

    /// Returns whether a benchmark with this wait strategy may be chosen.
    pub fn admits(&self, wait: Wait) -> bool {
        self.spin || wait.sleeps_in_the_end()
    }

    /// Returns the case that is measured: this workload, or the highest possible rate if the objective is throughput or
    /// processes share an end.
    pub fn case(&self, mechanism: &str, wait: Wait, placement: Placement) -> Case {
        let is_paced =
            self.objective != Objective::Throughput && !self.pattern_and_parties().0.shares_an_end();
        let interval_ns = self.interval_ns.filter(|_| is_paced);
        let closed = self.closed_case(mechanism, wait, self.size_bytes, placement);
        match &self.observed {
            Some(traffic) if interval_ns.is_some() => {
                let with = |all: RequestedConditions, one: &RequestedCondition| all.with(one.clone());
                let conditions = traffic.conditions.iter().fold(closed.conditions, with);
                Case { arrival: traffic.arrival, conditions, ..closed }
            }
            _ => Case { arrival: interval_ns.map_or(Arrival::ClosedLoop, Arrival::Interval), ..closed },
        }
    }

    /// Returns the measured pattern and its number of parties. Several parties are possible only one way. If only the
    /// newest message matters, one receiver is measured like several receivers: with one message in flight.
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

    /// Returns the exchange of messages between the processes.
    pub fn exchange(&self) -> Exchange {
        let (pattern, parties) = self.pattern_and_parties();
        let request = self.request_bytes.map(|size_bytes| Request { size_bytes, by: None });
        Exchange::of(pattern).with_request(request).with_parties(parties)
    }

    /// Returns the case of these messages with another size, in a closed loop.
    pub fn closed_case(&self, mechanism: &str, wait: Wait, size_bytes: usize, placement: Placement) -> Case {
        let case = Case::round_trip(mechanism, wait, size_bytes, placement).with(self.exchange());
        Case { conditions: self.conditions(), ..case }
    }

    /// Returns the conditions of the roles.
    fn conditions(&self) -> RequestedConditions {
        let separates_networks = self.boundaries.iter().any(Boundary::separates_networks);
        let networks = separates_networks.then_some(&Boundary::NetworkNamespace);
        let boundary = self.measured_boundary.as_ref().or(networks).cloned();
        boundary.map_or_else(RequestedConditions::default, |boundary| {
            RequestedConditions::default().with(RequestedCondition::Boundary(boundary))
        })
    }

    /// Returns this workload without boundaries, if its candidates are measured under one.
    pub fn without_boundary(&self) -> Option<Workload> {
        let without =
            || Workload { boundaries: vec![Boundary::None], measured_boundary: None, ..self.clone() };
        self.measured_boundary.as_ref().map(|_| without())
    }
}

named_enum! {
    /// The figure to optimize.
    Objective, "objective" {
        /// Median latency of a message.
        Latency = "latency",
        /// Messages per second.
        Throughput = "throughput",
        /// CPU time per message, of both processes.
        Cpu = "cpu",
        /// Lowest integration effort.
        Simplicity = "simplicity",
    }
}

named_enum! {
    /// A required property of the mechanism.
    Need, "need" {
        /// Each message arrives whole, for all sizes.
        Boundaries = "boundaries",
        /// A sender that is too fast is blocked.
        BackPressure = "back-pressure",
        /// Sent messages are kept after both processes have exited.
        Persistence = "persistence",
        /// Open files can be passed with a message.
        FdPassing = "fd-passing",
        /// A process detects the death of the other one.
        PeerDeath = "peer-death",
    }
}

named_enum! {
    /// Whether the processes trust each other.
    Trust, "trust" {
        /// A fault of one process may affect both.
        Mutual = "mutual",
        /// Neither process may be able to damage the other.
        None = "none",
    }
}

named_enum! {
    /// The language of a process.
    Language, "language" {
        /// C.
        C = "c",
        /// C++.
        Cpp = "c++",
        /// Rust.
        Rust = "rust",
        /// Go.
        Go = "go",
        /// Python with its standard library.
        Python = "python",
        /// Java.
        Java = "java",
        /// JavaScript in Node.
        Node = "node",
    }
}

impl Language {
    /// Returns the name in sentences.
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
    /// Share of messages that must be faster, 0 to 1.
    pub quantile: f64,
    /// The time limit in nanoseconds.
    pub limit_ns: u64,
}

/// A service level objective that is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a service level objective: write a percentile (p50, p90, p99 or p99.9) and a time, as in p99<2ms"
)]
pub struct InvalidSlo(String);

/// The percentiles for which figures are kept.
const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

impl Slo {
    /// Returns the name of the percentile.
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

/// The candidates for a workload and the excluded benchmarks: the facts that were known before the measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortlist {
    /// The requested workload.
    pub workload: Workload,
    /// The benchmarks that may be chosen.
    pub candidates: Vec<Candidate>,
    /// The excluded benchmarks, with reasons.
    pub excluded: Vec<ExcludedBenchmark>,
    /// The objects that a process across the boundary was tested to reach on this machine; empty if nothing was tested.
    pub tried: Vec<BoundaryAttempt>,
    /// The placement of the roles.
    pub placement: Placement,
    /// Trials with numbers below this only determine which benchmarks are measured longer.
    pub first_look_trials: u32,
    /// The requested boundaries that were not measured, with the reason of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured_boundaries: Vec<UnmeasuredBoundary>,
}

impl Shortlist {
    /// Returns the benchmark of this mechanism and wait strategy, if it may be chosen.
    pub fn candidate(&self, mechanism: &str, wait: Wait) -> Option<&Candidate> {
        self.candidates.iter().find(|row| row.mechanism == mechanism && row.wait == wait)
    }
}

/// Whether a process across the boundary could access an object of another process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundaryAttempt {
    /// How the object is found across the boundary.
    pub reach: Reach,
    /// The reason why it was not accessible; `None` if it was.
    pub failed: Option<String>,
}

/// A boundary of a workload under which nothing was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmeasuredBoundary {
    /// The boundary.
    pub boundary: Boundary,
    /// The reason.
    pub reason: String,
}

/// A benchmark that may be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Wait strategy of the receiver.
    pub wait: Wait,
    /// The integration work of its users, with weights.
    pub integration_costs: Vec<IntegrationCost>,
    /// The aspects of this workload that its figures do not cover.
    pub caveats: Vec<String>,
    /// The changes of the workload that would exclude it.
    pub disqualified_by: Vec<Disqualifier>,
    /// The largest message in bytes that a user's program may send on that machine; `None` if only memory limits it.
    pub max_size_bytes: Option<usize>,
    /// Whether the measured boundary affects its messages.
    #[serde(default, rename = "affected", skip_serializing_if = "std::ops::Not::not")]
    pub is_affected: bool,
    /// Whether a newer message replaces an older unread one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces_older: bool,
}

/// A part of the integration work of a mechanism's users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrationCost {
    /// Description of the work.
    pub what: String,
    /// Weight: 1 for a line or two, 3 for a substantial task.
    pub weight: u32,
}

/// A change of the workload that would exclude a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disqualifier {
    /// The change, for example `--trust none`.
    pub change: String,
    /// The reason.
    pub reason: String,
}

/// A benchmark that may not be chosen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExcludedBenchmark {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Wait strategy of the receiver; `None` for all strategies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// The reason.
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
    fn boundary_is_a_condition_of_every_case() {
        let case = |boundaries: &[Boundary], measured: Option<Boundary>| {
            let boundaries = boundaries.to_vec();
            let workload = Workload { boundaries, measured_boundary: measured, ..Workload::default() };
            workload.case("pipe", Wait::Block, Placement::OtherCore).conditions.boundary().cloned()
        };
        assert_eq!(case(&[Boundary::None], None), None);
        assert_eq!(case(&[Boundary::User], None), None);
        assert_eq!(case(&[Boundary::User], Some(Boundary::User)), Some(Boundary::User));
        // As in runs of earlier versions.
        assert_eq!(case(&[Boundary::Container], None), Some(Boundary::NetworkNamespace));
        let written = serde_json::to_value(Workload::default()).unwrap();
        assert_eq!(written["boundaries"][0], "process");
        assert_eq!(written.get("measured_boundary"), None);
        assert_eq!(serde_json::from_value::<Workload>(written).unwrap(), Workload::default());
    }
}
