//! The messages of the adapter protocol (`adapters/protocol.md`): one JSON object per line.

use furlong_loops::shared_end::TakenMessages;
use furlong_model::{
    Copies, Fault, Limits, OwnedCapabilities, Pattern, PeerDeath, Phase, Reach, Role, Wait, WhenFull,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The protocol version of this furlong.
pub const PROTOCOL: u32 = 1;

/// A request of furlong.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub(super) enum Request<'a> {
    /// Introduce yourself.
    Hello { protocol: u32 },
    /// Set up this role.
    SetUp {
        role: &'a str,
        pattern: Pattern,
        wait: Wait,
        sizes_bytes: [usize; 2],
        stamps: [String; 2],
        folder: &'a Path,
        name: &'a str,
        #[serde(flatten)]
        several: Option<ResponderPlace>,
    },
    /// Exchange messages.
    Exchange(Exchange),
    /// Send the clock readings of the last exchange.
    Readings,
    /// Exit.
    Finish,
}

/// The number of responders, and the number of one of them, counted from 1.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct ResponderPlace {
    pub(super) responders: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) number: Option<u32>,
}

/// The messages to exchange.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Exchange {
    pub(super) phase: Phase,
    pub(super) messages: u64,
    /// The number of messages per clock reading.
    pub(super) batch: u32,
    pub(super) verify: bool,
    /// The interval at which messages are due, in nanoseconds; `None` in a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interval_ns: Option<u64>,
    /// Whether the file [`SCHEDULE`] has the due time and the size of each message.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) scheduled: bool,
}

impl Exchange {
    /// Returns a request for messages that follow each other and are not checked.
    pub(super) fn unpaced(phase: Phase, messages: u64, batch: u32) -> Exchange {
        Exchange { phase, messages, batch, verify: false, interval_ns: None, scheduled: false }
    }
}

/// Name of the file with the schedule of an exchange, in the directory of the link.
pub(super) const SCHEDULE: &str = "schedule";

/// A reply of a program.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub(super) enum Reply {
    /// The reply to [`Request::Hello`].
    Hello(Hello),
    /// The reply to [`Request::SetUp`].
    Ready(ReadyReply),
    /// The reply to [`Request::Exchange`].
    Exchanged(ExchangeReply),
    /// The reply to [`Request::Readings`].
    Readings { clock_ns: Vec<u64> },
    /// The reply to [`Request::Finish`].
    Finished,
    /// The reply to any request that failed.
    Error { fault: AdapterFault, detail: String },
}

impl Reply {
    /// Returns the name of the reply in the protocol.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Reply::Hello(_) => "hello",
            Reply::Ready(_) => "ready",
            Reply::Exchanged(_) => "exchanged",
            Reply::Readings { .. } => "readings",
            Reply::Finished => "finished",
            Reply::Error { .. } => "error",
        }
    }
}

/// A program's reply to an exchange.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ExchangeReply {
    pub(super) messages: u64,
    pub(super) verified: u64,
    #[serde(flatten)]
    pub(super) idle: IdleInitiator,
    /// Messages that one of several workers has received since its start.
    pub(super) taken: Option<TakenMessages>,
}

/// Statistics of messages that are due at fixed times, in addition to their times.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct IdleInitiator {
    /// The number of messages that were sent later than they were due.
    pub(super) late: u64,
    /// Numbers of late messages, each followed by its delay in nanoseconds; `None` if the program does not report them.
    pub(super) late_by_ns: Option<Vec<u64>>,
    /// The CPU time, in nanoseconds, that the initiator used while it waited for messages to be due.
    pub(super) idle_ns: u64,
    /// The number of sleeps in these waits.
    pub(super) idle_switches: u64,
}

/// The introduction of a program.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Hello {
    pub(super) protocol: u32,
    pub(super) name: String,
    #[serde(default)]
    pub(super) versions: BTreeMap<String, String>,
    pub(super) clock_ns: u64,
    pub(super) shape: Shape,
    pub(super) claims: Claims,
    /// The description of a program whose roles run furlong's own loop.
    #[serde(default)]
    pub(super) furlong: Option<Box<FurlongLoop>>,
}

/// The description of a mechanism that implements furlong's own traits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FurlongLoop {
    /// The version of furlong that the program is built with.
    pub(super) version: String,
    pub(super) capabilities: OwnedCapabilities,
    pub(super) limits: Limits,
}

/// The number of processes that furlong starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// One process per role.
    Pair,
    /// One process, which starts its own peer.
    #[serde(rename = "self")]
    Own,
}

/// A program's claims about its mechanism. Omitted claims have the defaults of the protocol's page.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(super) struct Claims {
    pub(super) summary: String,
    pub(super) waits: Vec<Wait>,
    pub(super) patterns: Vec<Pattern>,
    pub(super) max_size_bytes: Option<usize>,
    pub(super) limited_by: String,
    pub(super) when_full: WhenFull,
    pub(super) copies: Copies,
    pub(super) peer_death: PeerDeath,
    pub(super) reach: Reach,
    pub(super) alone: bool,
    pub(super) rates: bool,
    pub(super) schedules: bool,
}

impl Default for Claims {
    fn default() -> Self {
        Claims {
            summary: String::new(),
            waits: vec![Wait::Block],
            patterns: Pattern::OVER_ONE_LINK.to_vec(),
            max_size_bytes: None,
            limited_by: String::new(),
            when_full: WhenFull::Waits,
            copies: Copies::Two,
            peer_death: PeerDeath::Noticed,
            reach: Reach::FileSystem,
            alone: false,
            rates: false,
            schedules: false,
        }
    }
}

/// The confirmed set-up, and the processes that take part.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ReadyReply {
    pub(super) effective: EffectiveSetup,
    #[serde(default)]
    pub(super) processes: Vec<NamedProcess>,
}

/// The set-up that a program confirms.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct EffectiveSetup {
    pub(super) pattern: Pattern,
    pub(super) wait: Wait,
    pub(super) sizes_bytes: [usize; 2],
    /// The values in effect, by name.
    #[serde(flatten)]
    pub(super) numbers: BTreeMap<String, u64>,
}

/// A process that furlong has not started.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct NamedProcess {
    pub(super) pid: i32,
    pub(super) role: Part,
    #[serde(default)]
    pub(super) name: String,
}

/// The part that a process has in a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Part {
    /// The initiator.
    Initiator,
    /// The responder.
    Responder,
    /// A server of the mechanism.
    Other,
}

impl Part {
    /// Returns the role, if the process has one.
    pub(super) fn role(self) -> Option<Role> {
        match self {
            Part::Initiator => Some(Role::Initiator),
            Part::Responder => Some(Role::Responder),
            Part::Other => None,
        }
    }
}

/// A fault that a program reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AdapterFault {
    Lost,
    Repeated,
    Reordered,
    Truncated,
    Flipped,
    /// The request is not possible on this machine, which is not a failure.
    Unsupported,
    #[serde(other)]
    Error,
}

impl AdapterFault {
    /// Returns furlong's name for the fault; `None` if it is not a failure.
    pub(super) fn fault(self) -> Option<Fault> {
        Some(match self {
            AdapterFault::Lost => Fault::Lost,
            AdapterFault::Repeated => Fault::Repeated,
            AdapterFault::Reordered => Fault::Reordered,
            AdapterFault::Truncated => Fault::Truncated,
            AdapterFault::Flipped => Fault::Flipped,
            AdapterFault::Error => Fault::Error,
            AdapterFault::Unsupported => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the examples of the protocol's page: each block of JSON, with its lines joined.
    fn examples() -> Vec<String> {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../adapters/protocol.md");
        let page = std::fs::read_to_string(page).unwrap();
        let blocks = page.split("```json\n").skip(1);
        blocks.map(|block| block.split("```").next().unwrap().replace('\n', " ")).collect()
    }

    #[test]
    fn every_reply_of_the_page_is_understood() {
        let requests = ["hello", "set-up", "exchange", "readings", "finish"];
        let mut replies = Vec::new();
        for example in examples() {
            let value: serde_json::Value = serde_json::from_str(&example).unwrap();
            let op = value["op"].as_str().unwrap();
            match serde_json::from_str::<Reply>(&example) {
                // A request and a reply with the same name have different fields.
                Err(_) if requests.contains(&op) => {}
                Err(error) => panic!("{example}: {error}"),
                Ok(reply) => replies.push(reply.name()),
            }
        }
        assert_eq!(
            replies,
            ["hello", "ready", "exchanged", "exchanged", "exchanged", "readings", "finished", "error"]
        );
    }

    #[test]
    fn every_request_is_as_on_the_page() {
        let folder = Path::new("/tmp/furlong-5e…/0");
        let stamps = ["1f0c…", "88ab…"].map(str::to_owned);
        let exchange = Exchange::unpaced(Phase::Timed, 20000, 1);
        let requests = [
            Request::Hello { protocol: PROTOCOL },
            Request::SetUp {
                role: "initiator",
                pattern: Pattern::RoundTrip,
                wait: Wait::Block,
                sizes_bytes: [128, 128],
                stamps,
                folder,
                name: "furlong-5e…-0",
                several: None,
            },
            Request::SetUp {
                role: "responder",
                pattern: Pattern::FanOut,
                wait: Wait::Block,
                sizes_bytes: [128, 1],
                stamps: ["1f0c…", "88ab…"].map(str::to_owned),
                folder,
                name: "furlong-5e…-0",
                several: Some(ResponderPlace { responders: 4, number: Some(2) }),
            },
            Request::Exchange(exchange),
            Request::Exchange(Exchange { messages: 401, interval_ns: Some(100_000), ..exchange }),
            Request::Readings,
            Request::Finish,
        ];
        let known: Vec<serde_json::Value> =
            examples().iter().map(|example| serde_json::from_str(example).unwrap()).collect();
        for request in requests {
            let request = serde_json::to_value(request).unwrap();
            assert!(known.contains(&request), "{request} is not on the page");
        }
    }

    #[test]
    fn claims_have_the_defaults_of_the_page() {
        let claims: Claims = serde_json::from_str(r#"{"summary":"x"}"#).unwrap();
        assert_eq!(claims.waits, [Wait::Block]);
        assert_eq!(claims.patterns, Pattern::OVER_ONE_LINK);
        assert!(!claims.alone && !claims.rates && claims.max_size_bytes.is_none());
    }
}
