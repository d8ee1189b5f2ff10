//! A case: one value of each axis. Some combinations are rejected.

use crate::pattern::refusals;
use crate::requested_condition::boundary::BOUNDARY;
use crate::{
    Access, Arrival, Boundary, Capabilities, Exchange, Family, FanInOptions, FanOutOptions, Limits, Links,
    Party, Pattern, PatternCase, Placement, Request, RequestedCondition, RequestedConditions, Role, SizeMix,
    Start, Subsystem, Unavailable, Wait, format_bytes, is_one, one,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;

/// One value of each axis: the parameters of a single benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "WrittenCase", into = "WrittenCase")]
pub struct Case {
    /// The mechanism's name.
    pub mechanism: String,
    /// How both roles wait.
    pub wait: Wait,
    /// The exchange of messages between the roles.
    pub exchange: Exchange,
    /// Bytes in each message; for a request, in each response.
    pub size_bytes: usize,
    /// The placement of the roles.
    pub placement: Placement,
    /// The pace of the initiator's messages.
    pub arrival: Arrival,
    /// Requested bytes of the buffer between the roles; `None` for the default size.
    pub buffer_bytes: Option<usize>,
    /// The subsystem of the responder's program; `None` for furlong's own program. Only Windows has subsystems.
    pub subsystem: Option<Subsystem>,
    /// How the bytes of its messages are accessed.
    pub access: Access,
    /// The requested conditions of both roles.
    pub conditions: RequestedConditions,
}

/// Figure by which benchmarks are ordered and compared. All benchmarks of a group have the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidingFigure {
    /// Median time of the exchanges of a trial.
    Median,
    /// Mean time of these exchanges: quotas and neighbours pause a few of them, which hardly changes the median.
    Mean,
    /// Throughput of a trial: messages follow each other one way as fast as they are received.
    Throughput,
}

/// The form of a case in records: the options of all patterns are fields of one object.
#[derive(Serialize, Deserialize)]
struct WrittenCase {
    mechanism: String,
    wait: Wait,
    pattern: Pattern,
    size_bytes: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Request>,
    placement: Placement,
    #[serde(default, skip_serializing_if = "Arrival::is_closed_loop")]
    arrival: Arrival,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    buffer_bytes: Option<usize>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    window: NonZeroU32,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    parties: NonZeroU32,
    #[serde(flatten)]
    fan_out: FanOutOptions,
    #[serde(flatten)]
    fan_in: FanInOptions,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subsystem: Option<Subsystem>,
    #[serde(default, skip_serializing_if = "Access::is_copy")]
    access: Access,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boundary: Option<Boundary>,
    #[serde(default, skip_serializing_if = "RequestedConditions::is_empty")]
    conditions: RequestedConditions,
}

/// The most parties or receivers of a case, because every reader of a record lists them.
const MOST_PARTIES: u32 = 1 << 16;

impl TryFrom<WrittenCase> for Case {
    type Error = String;

    fn try_from(written: WrittenCase) -> Result<Case, String> {
        let (parties, fan_in) = (written.parties.get(), written.fan_in);
        if parties.max(fan_in.all_receivers().get()) > MOST_PARTIES {
            return Err(format!("a case has at most {MOST_PARTIES} parties and receivers"));
        }
        if !parties.is_multiple_of(fan_in.groups.get()) {
            return Err(format!("{parties} parties cannot be divided into {} groups", fan_in.groups));
        }
        let is_impossible = match written.arrival {
            Arrival::OnOff { on_ns: 0, .. } => true,
            arrival => arrival.interval_ns() == Some(0),
        };
        if is_impossible {
            return Err("messages need an interval of 1 ns or more".to_owned());
        }
        Ok(Case {
            mechanism: written.mechanism,
            wait: written.wait,
            exchange: Exchange::of(written.pattern)
                .with_request(written.request)
                .with_window(written.window)
                .with_parties(written.parties)
                .with_fan_out(written.fan_out)
                .with_fan_in(written.fan_in),
            size_bytes: written.size_bytes,
            placement: written.placement,
            arrival: written.arrival,
            buffer_bytes: written.buffer_bytes,
            subsystem: written.subsystem,
            access: written.access,
            conditions: match written.boundary {
                Some(boundary) => written.conditions.with(RequestedCondition::Boundary(boundary)),
                None => written.conditions,
            },
        })
    }
}

impl From<Case> for WrittenCase {
    fn from(case: Case) -> WrittenCase {
        let (boundary, conditions) = match case.conditions.split(&BOUNDARY) {
            Some((RequestedCondition::Boundary(boundary), others)) => (Some(boundary), others),
            _ => (None, case.conditions),
        };
        WrittenCase {
            mechanism: case.mechanism,
            wait: case.wait,
            pattern: case.exchange.pattern(),
            size_bytes: case.size_bytes,
            request: case.exchange.request().cloned(),
            placement: case.placement,
            arrival: case.arrival,
            buffer_bytes: case.buffer_bytes,
            window: case.exchange.window(),
            parties: case.exchange.parties(),
            fan_out: case.exchange.fan_out(),
            fan_in: case.exchange.fan_in(),
            subsystem: case.subsystem,
            access: case.access,
            boundary,
            conditions,
        }
    }
}

/// Returns the name of a benchmark: `mechanism/wait`.
pub fn row_name(mechanism: &str, wait: Wait) -> String {
    format!("{mechanism}/{wait}")
}

/// Returns the mechanism of a benchmark's name, which is the whole name if it has no wait strategy.
pub fn mechanism_of(row: &str) -> &str {
    row.rsplit_once('/').map_or(row, |(mechanism, _)| mechanism)
}

/// Returns the name of a benchmark whose responder is a program of this subsystem.
pub fn row_of_subsystem(mechanism: &str, wait: Wait, subsystem: Option<Subsystem>) -> String {
    let row = row_name(mechanism, wait);
    subsystem.map_or_else(|| row.clone(), |subsystem| format!("{row} ({subsystem})"))
}

/// Default capacity of a pipe in bytes.
const PIPE_BYTES: usize = 64 << 10;

impl Case {
    /// Returns round trips of messages of `size_bytes` in a closed loop.
    pub fn round_trip(
        mechanism: impl Into<String>,
        wait: Wait,
        size_bytes: usize,
        placement: Placement,
    ) -> Case {
        Case {
            mechanism: mechanism.into(),
            wait,
            exchange: Exchange::of(Pattern::default()),
            size_bytes,
            placement,
            arrival: Arrival::ClosedLoop,
            buffer_bytes: None,
            subsystem: None,
            access: Access::Copy,
            conditions: RequestedConditions::default(),
        }
    }

    /// Returns the case with another exchange.
    #[must_use]
    pub fn with(self, exchange: Exchange) -> Case {
        Case { exchange, ..self }
    }

    /// Returns the case with another pattern, the same numbers of messages in flight and of parties, and requests of one byte.
    #[must_use]
    pub fn with_pattern(self, pattern: Pattern) -> Case {
        let exchange = Exchange::of(pattern).with_window(self.window()).with_parties(self.parties());
        self.with(exchange)
    }

    /// Returns the case with this number of messages in flight, if the pattern allows several.
    #[must_use]
    pub fn with_window(self, window: NonZeroU32) -> Case {
        let exchange = self.exchange.clone().with_window(window);
        self.with(exchange)
    }

    /// Returns the case with this number of parties, which [`Pattern::several`] names.
    #[must_use]
    pub fn with_parties(self, number: NonZeroU32) -> Case {
        let exchange = self.exchange.clone().with_parties(number);
        self.with(exchange)
    }

    /// Returns the pattern.
    pub const fn pattern(&self) -> Pattern {
        self.exchange.pattern()
    }

    /// Returns the number of messages in flight.
    pub const fn window(&self) -> NonZeroU32 {
        self.exchange.window()
    }

    /// Returns the number of parties, which [`Pattern::several`] names.
    pub const fn parties(&self) -> NonZeroU32 {
        self.exchange.parties()
    }

    /// Returns all parties in the order in which CPUs are assigned: pair after pair, or senders and then receivers.
    pub fn all_parties(&self) -> Vec<Party> {
        let several = self.parties().get();
        let number = |role: Role, number: u32| (0..number).map(move |index| Party::of(role, index, number));
        let all = |role| number(role, several);
        let pair = |index| Role::ALL.map(|role| Party::of(role, index, several));
        match self.pattern().facts().repeated {
            [] => Role::ALL.map(Party::from).to_vec(),
            [Role::Responder] => [Role::Initiator.into()].into_iter().chain(all(Role::Responder)).collect(),
            [Role::Initiator] => {
                let receivers = self.exchange.fan_in().all_receivers().get();
                all(Role::Initiator).chain(number(Role::Responder, receivers)).collect()
            }
            _ => (0..several).flat_map(pair).collect(),
        }
    }

    /// Returns the case with one party: one receiver or one pair, for example. A sender of a group keeps its receivers.
    pub fn for_one_pair(&self) -> Case {
        let fan_in = FanInOptions { groups: one(), ..self.exchange.fan_in() };
        let alone = self.exchange.clone().with_parties(one()).with_fan_out(FanOutOptions::default());
        self.clone().with(alone.with_fan_in(fan_in))
    }

    /// Returns the number of links that carry messages in parallel: one if the parties share an end or the receiver
    /// waits for several links, one per receiver in groups, and otherwise one per party.
    pub fn links(&self) -> NonZeroU32 {
        match self.pattern().facts().links {
            Links::Shared => self.exchange.fan_in().all_receivers(),
            Links::Watched => one(),
            Links::PerParty | Links::PerMessage => self.parties(),
        }
    }

    /// Returns the bytes of the messages that each role sends with this mechanism, the initiator's first.
    pub fn sizes_bytes(&self) -> [usize; 2] {
        match self.exchange.request() {
            _ if self.pattern().is_one_way() => [self.size_bytes, 1],
            Some(Request { size_bytes, by: None }) => [*size_bytes, self.size_bytes],
            Some(Request { by: Some(_), .. }) => [1, self.size_bytes],
            None => [self.size_bytes; 2],
        }
    }

    /// Returns the figure by which the benchmark is ordered and compared.
    pub fn deciding_figure(&self) -> DecidingFigure {
        match () {
            () if self.pattern().is_stream() && self.arrival.is_closed_loop() => DecidingFigure::Throughput,
            () if self.conditions.vary_cpu_time() => DecidingFigure::Mean,
            () => DecidingFigure::Median,
        }
    }

    /// Returns the mean bytes of a message; for a request, of a response.
    pub fn mean_bytes(&self) -> f64 {
        let of_one_size = || self.conditions.size_mix().map_or(self.size_bytes as f64, SizeMix::mean_bytes);
        self.conditions.replay().map_or_else(of_one_size, |replay| replay.mean_bytes as f64)
    }

    /// Returns whether receivers of a mechanism with these capabilities may lose messages in this case, and count them.
    pub fn may_lose(&self, capabilities: &Capabilities) -> bool {
        self.pattern().may_lose(capabilities)
    }

    /// Returns the parts of the case that decide whether a mechanism with these capabilities can carry its pattern.
    fn pattern_case<'a>(&'a self, capabilities: &'a Capabilities) -> PatternCase<'a> {
        PatternCase {
            mechanism: &self.mechanism,
            capabilities,
            wait: self.wait,
            placement: self.placement,
            size_bytes: self.size_bytes,
            request_bytes: self.exchange.request().map(|request| request.size_bytes),
            parties: self.parties(),
            fan_in: self.exchange.fan_in(),
        }
    }

    /// Returns why several messages cannot be in flight in this case, regardless of the link's depth, if they cannot.
    fn refuse_several(&self, capabilities: &Capabilities) -> Option<Unavailable> {
        if self.pattern_case(capabilities).is_one_process() && !is_one(&self.window()) {
            let reason = "--window needs two processes";
            return Some(Unavailable::new(reason, "leave --window out, or ask for another place"));
        }
        let is_open_loop = !is_one(&self.window()) && self.arrival.interval_ns().is_some();
        if is_open_loop && !capabilities.can_try_to_receive(self.wait) {
            let reason = format!(
                "--window with --rate asks for responses while messages become due, but {}/{} only waits for them",
                self.mechanism, self.wait
            );
            return Some(Unavailable::new(
                reason,
                "leave --window out, or ask for spin or poll if it has them",
            ));
        }
        refusals::window(self.window(), self.arrival)
    }

    /// Returns why a mechanism with these capabilities and limits cannot run this case, if it cannot.
    pub fn refusal(&self, capabilities: &Capabilities, limits: &Limits) -> Option<Unavailable> {
        if !capabilities.waits.contains(&self.wait) {
            let waits: Vec<_> = capabilities.waits.iter().map(|wait| wait.name()).collect();
            return Some(Unavailable::new(
                format!("{} does not support the wait strategy {}", self.mechanism, self.wait),
                format!("use one of its wait strategies: {}", waits.join(", ")),
            ));
        }
        if capabilities.fixed_size_bytes.is_none() && self.size_bytes == 0 {
            return Some(Unavailable::new(
                "a message of 0 bytes carries nothing that could be verified",
                "ask for 1 byte or more, or for a notification row such as eventfd",
            ));
        }
        let pattern = self.pattern();
        let refusal = (pattern.facts().refuse)(pattern, &self.pattern_case(capabilities))
            .or_else(|| pattern.reject(self.arrival.option().as_slice()));
        if let Some(refusal) = refusal {
            return Some(refusal);
        }
        if pattern.shares_an_end() && capabilities.notifies_only() && self.arrival.interval_ns().is_some() {
            let reason =
                format!("notifications of {} have no number, so none has a due time", self.mechanism);
            return Some(Unavailable::new(
                reason,
                "leave --rate out, or ask for a mechanism that carries data",
            ));
        }
        if let Some(refusal) = self.refuse_between_hosts(capabilities) {
            return Some(refusal);
        }
        if let Some(refusal) = self.refuse_boundary(capabilities).or_else(|| self.refuse_trace()) {
            return Some(refusal);
        }
        if let Some(refusal) = self.refuse_conditions(capabilities) {
            return Some(refusal);
        }
        if let Some(refusal) = refusals::traffic(&self.pattern_case(capabilities), pattern, &self.conditions)
        {
            return Some(refusal);
        }
        if let Some(refusal) = self.refuse_several(capabilities) {
            return Some(refusal);
        }
        if let Some(refusal) = self.refuse_access(capabilities, limits).or_else(|| self.refuse_batch()) {
            return Some(refusal);
        }
        if capabilities.start == Start::Alone && self.placement == Placement::OneProcess {
            return Some(Unavailable::new(
                format!("{} has one end", self.mechanism),
                "measure it with --place same-core",
            ));
        }
        // With a connection per message, messages are separate, but each is carried as a stream.
        let is_stream = !capabilities.boundaries || capabilities.family == Family::Socket;
        let waits_for_room = is_stream && !capabilities.waits.iter().any(|wait| wait.needs_non_blocking());
        if self.placement == Placement::OneProcess && waits_for_room && self.size_bytes > PIPE_BYTES {
            return Some(Unavailable::new(
                format!(
                    "{} would wait for the other end to make room, but there is only one process",
                    self.mechanism
                ),
                format!("ask for up to {}", format_bytes(PIPE_BYTES)),
            ));
        }
        let max = limits.max_size_bytes?;
        let largest = self.sizes_bytes().into_iter().max().unwrap_or_default();
        (largest > max).then(|| {
            Unavailable::new(
                format!(
                    "{}{} is more than the {} that {} takes here: {}",
                    format_bytes(largest),
                    self.largest_line(),
                    format_bytes(max),
                    self.mechanism,
                    limits.limited_by,
                ),
                limits.remedy.clone(),
            )
        })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case {
            mechanism,
            wait,
            exchange,
            size_bytes,
            placement,
            arrival,
            buffer_bytes,
            subsystem,
            access,
            conditions,
        } = self;
        let (pattern, window, parties) = (exchange.pattern(), exchange.window(), exchange.parties());
        write!(f, "{mechanism}/{wait} {} {placement}", format_bytes(*size_bytes))?;
        if !pattern.is_default() {
            write!(f, " {pattern}")?;
        }
        if let Some(Request { size_bytes, by }) = exchange.request() {
            write!(f, " {}", format_bytes(*size_bytes))?;
            by.as_ref().map_or(Ok(()), |by| write!(f, " by {by}"))?;
        }
        if !arrival.is_closed_loop() {
            write!(f, " {arrival}")?;
        }
        buffer_bytes.map_or(Ok(()), |bytes| write!(f, " buffer {}", format_bytes(bytes)))?;
        if !access.is_copy() {
            write!(f, " {}", access.words())?;
        }
        if !is_one(&window) {
            write!(f, " window {window}")?;
        }
        subsystem.map_or(Ok(()), |subsystem| write!(f, " {subsystem} subsystem"))?;
        if !is_one(&parties) {
            write!(f, " {parties} {}", pattern.several())?;
        }
        write!(f, "{}{}", exchange.fan_out(), exchange.fan_in())?;
        conditions.iter().try_for_each(|condition| write!(f, " {condition}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the case with two groups of two senders and three receivers, with `change` in its text.
    fn read(change: [&str; 2]) -> Result<Case, serde_json::Error> {
        let number = |number| NonZeroU32::new(number).unwrap();
        let options = FanInOptions { groups: number(2), receivers: number(3) };
        let exchange = Exchange::of(Pattern::FanIn).with_parties(number(4)).with_fan_in(options);
        let case = Case::round_trip("pipe", Wait::Block, 8, Placement::Free).with(exchange);
        let written = serde_json::to_string(&case).unwrap();
        assert!(written.contains(change[0]), "{written}");
        serde_json::from_str(&written.replace(change[0], change[1]))
    }

    #[test]
    fn groups_read_back_as_written() {
        let case = read(["", ""]).unwrap();
        assert_eq!(
            (case.all_parties().len(), case.links().get(), case.exchange.parties_per_group()),
            (10, 6, 2)
        );
        assert_eq!(
            case.to_string(),
            "pipe/block 8B free fan-in 4 senders in 2 groups to 3 receivers per group"
        );
        assert_eq!(case.for_one_pair().all_parties().len(), 4);
    }

    #[test]
    fn numbers_of_parties_that_no_machine_has_are_rejected() {
        for (change, told) in [
            (["\"parties\":4", "\"parties\":4000000000"], "at most 65536"),
            (["\"receivers\":3", "\"receivers\":4000000000"], "at most 65536"),
            (["\"groups\":2", "\"groups\":3"], "cannot be divided into 3 groups"),
        ] {
            let why = read(change).unwrap_err().to_string();
            assert!(why.contains(told), "{why}");
        }
    }
}
