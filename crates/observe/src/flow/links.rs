//! Links: flows with the processes at both ends, and their figures.

use super::amounts::{Amounts, Percentiles};
use super::ends::{FlowId, FlowInfo, OpenEnd};
use super::exchanges::Exchange;
use super::flows::{EndKey, EndTotals, Flows};
use super::means::Means;
use super::waits::WaitStrategy;
use furlong_os::linux::ipc_call::CallDirection;
use furlong_os::linux::system_call;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Messages in one direction.
#[derive(Debug, Clone, Serialize)]
pub struct Link {
    #[serde(skip)]
    #[expect(missing_docs, reason = "the type says everything")]
    pub flow: FlowId,
    #[expect(missing_docs, reason = "the type says everything")]
    pub means: Means,
    /// Name of the object. It may contain any character.
    pub object: String,
    /// Observed processes that send.
    pub senders: Vec<LinkEnd>,
    /// Observed processes that receive.
    pub receivers: Vec<LinkEnd>,
    /// Observed processes whose calls do not show a direction.
    pub users: Vec<LinkEnd>,
    /// Processes that hold the sending end, if no observed process has used it.
    pub other_senders: Vec<Peer>,
    /// Processes that hold the receiving end, if no observed process has used it.
    pub other_receivers: Vec<Peer>,
    /// Number of messages that were sent, or received if no sender was observed.
    pub messages: u64,
    #[expect(missing_docs, reason = "the name says everything")]
    pub messages_per_s: f64,
    /// CPU time of the calls at its observed ends divided by the observed time: 1 is one CPU.
    pub calls_cpu_share: f64,
    /// Bytes per second; `None` if messages have no payload, or calls do not report it.
    pub bytes_per_s: Option<f64>,
    #[expect(missing_docs, reason = "the name says everything")]
    pub size_bytes: Option<Percentiles>,
    #[expect(missing_docs, reason = "the type says everything")]
    pub pattern: TrafficShape,
    /// Times from the beginning of a send to the end of the receive of the response, of each end that was observed.
    pub round_trips: Vec<RoundTrips>,
    /// Process that sends the requests, if the times at both ends differ enough to know it.
    pub requester: Option<i32>,
    /// Times from the beginning of a send to the end of the receive, of links with one sender and one receiver.
    pub transit_ns: Option<Percentiles>,
}

/// Process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say everything")]
pub struct Peer {
    pub pid: i32,
    /// Name of its program, which may contain any character.
    pub command: String,
}

/// Process at an end of a link.
#[derive(Debug, Clone, Serialize)]
pub struct LinkEnd {
    #[serde(flatten)]
    #[expect(missing_docs, reason = "the type says everything")]
    pub peer: Peer,
    #[expect(missing_docs, reason = "the name says everything")]
    pub messages: u64,
    /// Names of the calls that send or receive.
    pub calls: Vec<String>,
    /// Names of the calls that wait for readiness.
    pub readiness_calls: Vec<String>,
    #[expect(missing_docs, reason = "the type says everything")]
    pub wait: Option<WaitStrategy>,
    /// Calls per message, with those that wait for readiness.
    pub calls_per_message: Option<f64>,
    /// Number of times that the thread slept in these calls, per message. Each needs a wake-up and two context switches.
    pub sleeps_per_message: Option<f64>,
    /// Calls that failed because nothing had arrived or no room was left, per message.
    pub failed_attempts_per_message: Option<f64>,
}

/// Pattern of the messages of a link. Its name in JSON is in kebab case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrafficShape {
    /// Messages without responses.
    Unanswered,
    /// Each message is a request or a response.
    RequestsAndResponses,
    /// Unknown, because calls do not show who sends.
    Unknown,
}

/// Times of requests and responses at one end.
#[derive(Debug, Clone, Serialize)]
pub struct RoundTrips {
    #[serde(flatten)]
    #[expect(missing_docs, reason = "the type says everything")]
    pub peer: Peer,
    #[expect(missing_docs, reason = "the name says everything")]
    pub count: u64,
    #[expect(missing_docs, reason = "the name says everything")]
    pub time_ns: Percentiles,
}

/// Flows and the names of processes, from which links are made.
pub struct LinkSource<'a> {
    pub flows: &'a Flows,
    /// Returns the known facts of a flow.
    pub info: &'a dyn Fn(FlowId) -> &'a FlowInfo,
    /// Returns the processes that hold the sending (0) or receiving (1) end of an object.
    pub holders: &'a dyn Fn(OpenEnd, usize) -> Vec<i32>,
    /// Returns the name of a program.
    pub command: &'a dyn Fn(i32) -> String,
    pub seconds: f64,
}

impl LinkSource<'_> {
    /// Returns all links, those with the most messages first.
    pub fn links(&self) -> Vec<Link> {
        let index = FlowIndex::new(self.flows);
        let mut links: Vec<_> = index.ends.keys().map(|flow| self.link(*flow, &index)).collect();
        links.sort_by_key(|link| std::cmp::Reverse(link.messages));
        links
    }

    fn link(&self, flow: FlowId, index: &FlowIndex<'_>) -> Link {
        let info = (self.info)(flow);
        let of = |direction| {
            let found = index.ends(flow).iter().filter(move |(key, _)| key.direction == direction);
            found.map(|(key, totals)| (key.pid, *totals)).collect::<Vec<_>>()
        };
        let [sent, received, unseen] =
            [CallDirection::Send, CallDirection::Receive, CallDirection::Unseen].map(of);
        let has_sent = sent.iter().any(|(_, totals)| totals.messages > 0);
        let counted = if has_sent { &sent } else { &received };
        let counted = if counted.is_empty() { &unseen } else { counted };
        let sum =
            |figure: fn(&EndTotals) -> u64| counted.iter().map(|(_, totals)| figure(totals)).sum::<u64>();
        let messages = sum(|totals| totals.messages);
        let ran_ns: u64 = index.ends(flow).iter().map(|(_, totals)| totals.ran_ns).sum();
        let mut sizes = Amounts::default();
        counted.iter().for_each(|(_, totals)| sizes.merge(&totals.sizes));
        let (pattern, round_trips) = match self.exchanges(flow, index) {
            found if !found.is_empty() => (TrafficShape::RequestsAndResponses, found),
            none if sent.is_empty() && received.is_empty() => (TrafficShape::Unknown, none),
            none => (TrafficShape::Unanswered, none),
        };
        let is_pair = sent.len() == 1 && received.len() == 1;
        let transits = self.flows.transits(flow).filter(|_| is_pair);
        let reports = |found: &[(i32, &EndTotals)]| {
            found.iter().map(|(pid, totals)| self.end(*pid, totals)).collect::<Vec<_>>()
        };
        let others = |at: usize, is_observed: bool| {
            let pids = if is_observed { Vec::new() } else { self.holders(flow, at) };
            pids.into_iter().map(|pid| self.peer(pid)).collect::<Vec<_>>()
        };
        Link {
            flow,
            means: info.means,
            object: info.name.clone(),
            other_senders: others(0, !sent.is_empty()),
            other_receivers: others(1, !received.is_empty()),
            senders: reports(&sent),
            receivers: reports(&received),
            users: reports(&unseen),
            messages,
            messages_per_s: messages as f64 / self.seconds,
            calls_cpu_share: ran_ns as f64 / 1e9 / self.seconds,
            bytes_per_s: (sizes.count() > 0).then(|| sum(|totals| totals.bytes) as f64 / self.seconds),
            size_bytes: sizes.percentiles(),
            pattern,
            requester: requester(&round_trips),
            round_trips,
            transit_ns: transits.and_then(Amounts::percentiles),
        }
    }

    /// Returns the exchanges that a flow is a part of, if they are most of its messages.
    fn exchanges(&self, flow: FlowId, index: &FlowIndex<'_>) -> Vec<RoundTrips> {
        let is_most = |exchange: &Exchange, count: u64| {
            let ends = [(exchange.sent, CallDirection::Send), (exchange.received, CallDirection::Receive)];
            let [sent, received] = ends.map(|(flow, direction)| {
                let key = EndKey { flow, direction, pid: exchange.pid };
                let end = index.ends(flow).iter().find(|(other, _)| *other == key);
                end.map_or(0, |(_, totals)| totals.messages)
            });
            10 * count >= 8 * sent.min(received).saturating_sub(1) && 4 * count >= sent.max(received)
        };
        let found = index.exchanges.get(&flow).into_iter().flatten();
        let found = found.filter(|(exchange, times)| is_most(exchange, times.count()));
        let found = found.filter(|(exchange, _)| self.has_peer(exchange, index));
        let round_trips = |(exchange, times): &(Exchange, &Amounts)| {
            let time_ns = times.percentiles()?;
            Some(RoundTrips { peer: self.peer(exchange.pid), count: times.count(), time_ns })
        };
        found.filter_map(round_trips).collect()
    }

    /// Returns the processes that can send (0) or receive (1).
    fn holders(&self, flow: FlowId, at: usize) -> Vec<i32> {
        let info = (self.info)(flow);
        let holders = || info.open[at].map(|end| (self.holders)(end, at));
        info.peers[at].map(|pid| vec![pid]).or_else(holders).unwrap_or_default()
    }

    /// Returns whether the receivers of the requests may send the responses. A process in the middle of a pipeline also sends and then
    /// receives.
    fn has_peer(&self, exchange: &Exchange, index: &FlowIndex<'_>) -> bool {
        let ends = [(exchange.sent, 1), (exchange.received, 0)].map(|(flow, at)| {
            let direction = [CallDirection::Send, CallDirection::Receive][at];
            let observed = index.ends(flow).iter().filter(|(key, _)| key.direction == direction);
            match observed.map(|(key, _)| key.pid).collect::<Vec<_>>() {
                none if none.is_empty() => self.holders(flow, at),
                observed => observed,
            }
        });
        ends.iter().any(Vec::is_empty) || ends[0].iter().any(|pid| ends[1].contains(pid))
    }

    fn peer(&self, pid: i32) -> Peer {
        Peer { pid, command: (self.command)(pid) }
    }

    fn end(&self, pid: i32, totals: &EndTotals) -> LinkEnd {
        let names = |numbers: &BTreeSet<i64>| {
            let names: BTreeSet<_> = numbers.iter().map(|number| system_call::name(*number)).collect();
            names.into_iter().collect::<Vec<_>>()
        };
        let per_message = |count: u64| (totals.messages > 0).then(|| count as f64 / totals.messages as f64);
        LinkEnd {
            peer: self.peer(pid),
            messages: totals.messages,
            calls: names(&totals.call_numbers),
            readiness_calls: names(&totals.readiness_numbers),
            wait: WaitStrategy::find(totals),
            calls_per_message: per_message(totals.calls + totals.readiness_calls),
            sleeps_per_message: per_message(totals.sleeps + totals.readiness_sleeps),
            failed_attempts_per_message: per_message(totals.would_block),
        }
    }
}

/// Ends and exchanges by flow, because there may be many short connections.
struct FlowIndex<'a> {
    ends: BTreeMap<FlowId, Vec<(EndKey, &'a EndTotals)>>,
    exchanges: BTreeMap<FlowId, Vec<(Exchange, &'a Amounts)>>,
}

impl<'a> FlowIndex<'a> {
    fn new(flows: &'a Flows) -> FlowIndex<'a> {
        let mut index = FlowIndex { ends: BTreeMap::new(), exchanges: BTreeMap::new() };
        for (key, totals) in flows.ends() {
            index.ends.entry(key.flow).or_default().push((key, totals));
        }
        for (exchange, times) in flows.exchanges().found() {
            for flow in [exchange.sent, exchange.received] {
                index.exchanges.entry(flow).or_default().push((*exchange, times));
            }
        }
        index
    }

    fn ends(&self, flow: FlowId) -> &[(EndKey, &'a EndTotals)] {
        self.ends.get(&flow).map_or(&[], Vec::as_slice)
    }
}

/// Returns the process with the shorter times: it waits for responses, while its peer also waits for the next request.
fn requester(round_trips: &[RoundTrips]) -> Option<i32> {
    match round_trips {
        [one, other] => {
            let [first, second] = [one, other].map(|end| end.time_ns.p50 as f64);
            let shorter = if first < second { one } else { other };
            (first.max(second) > 1.2 * first.min(second)).then_some(shorter.peer.pid)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::calls::Call;
    use crate::flow::ends::{Ends, FindEnds};
    use furlong_os::linux::ipc_call::{CallTarget, ConnectionStep};

    /// Descriptor 1 of process 7 and descriptor 2 of process 8 are the ends of a socket, and 3 and 4 are pipes.
    struct Socket;

    impl FindEnds for Socket {
        fn find(&mut self, _pid: i32, target: CallTarget) -> Option<Ends> {
            let [one, other] = [0, 1].map(FlowId);
            match target {
                CallTarget::Descriptor(1) => Some(Ends { out: Some(one), into: Some(other) }),
                CallTarget::Descriptor(2) => Some(Ends { out: Some(other), into: Some(one) }),
                CallTarget::Descriptor(number @ (3 | 4)) => Some(Ends::for_object(FlowId(number as u32))),
                _ => None,
            }
        }

        fn connect(&mut self, _call: &Call, _step: ConnectionStep) {}

        fn close(&mut self, _pid: i32, _first: i32, _last: i32) {}

        fn replace(&mut self, _pid: i32) {}
    }

    fn links(flows: &Flows) -> Vec<Link> {
        let info = FlowInfo {
            means: Means::Unix,
            name: "socket".to_owned(),
            peers: [None; 2],
            open: [None, Some(OpenEnd::Socket(5))],
        };
        let command = |pid| format!("program {pid}");
        LinkSource { flows, info: &|_| &info, holders: &|_, _| vec![9], command: &command, seconds: 2.0 }
            .links()
    }

    /// Adds a call of 10 ns, in which the thread sleeps if it reads.
    fn add(flows: &mut Flows, name: &str, pid: i32, fd: u64, result: i64, entered_ns: u64) {
        let (number, arguments) = (system_call::number(name).unwrap(), [fd, 0, 0, 0, 0, 0]);
        let (returned_ns, ran_ns, has_slept) = (entered_ns + 10, 10, name == "read");
        flows.add(
            &Call { pid, tid: pid, number, arguments, result, entered_ns, returned_ns, ran_ns, has_slept },
            &mut Socket,
        );
    }

    #[test]
    fn requests_have_a_requester_and_rates() {
        let mut flows = Flows::default();
        for round in 1..=100 {
            let at_ns = round * 10_000;
            add(&mut flows, "write", 7, 1, 64, at_ns);
            add(&mut flows, "read", 8, 2, 64, at_ns + 20);
            add(&mut flows, "write", 8, 2, 1000, at_ns + 50);
            add(&mut flows, "read", 7, 1, 1000, at_ns + 80);
        }
        let links = links(&flows);
        let [request, response] = &links[..] else { panic!("{links:#?}") };
        assert_eq!((request.messages, request.messages_per_s), (100, 50.0));
        assert_eq!(request.calls_cpu_share, 200.0 * 10e-9 / 2.0);
        assert_eq!((request.bytes_per_s, response.bytes_per_s), (Some(3200.0), Some(50_000.0)));
        for link in [request, response] {
            assert_eq!(link.pattern, TrafficShape::RequestsAndResponses);
            assert_eq!((link.requester, link.round_trips.len()), (Some(7), 2));
        }
        assert_eq!(request.transit_ns.unwrap().p50, 30);
        let [sender] = &request.senders[..] else { panic!() };
        assert_eq!(
            (sender.peer.command.as_str(), sender.wait),
            ("program 7", Some(WaitStrategy::NeverWaits))
        );
        let [receiver] = &request.receivers[..] else { panic!() };
        assert_eq!((receiver.wait, receiver.sleeps_per_message), (Some(WaitStrategy::Blocks), Some(1.0)));
        assert_eq!(receiver.calls, ["read"]);
    }

    #[test]
    fn middle_of_a_pipeline_sends_no_requests() {
        let mut flows = Flows::default();
        for round in 1..=100 {
            add(&mut flows, "read", 8, 3, 64, round * 1000);
            add(&mut flows, "write", 8, 4, 64, round * 1000 + 100);
            add(&mut flows, "write", 7, 3, 64, round * 1000 + 200);
            add(&mut flows, "read", 10, 4, 64, round * 1000 + 300);
        }
        let links = links(&flows);
        assert!(links.iter().all(|link| link.pattern == TrafficShape::Unanswered), "{links:#?}");
    }

    #[test]
    fn rare_acknowledgements_are_no_responses() {
        let mut flows = Flows::default();
        for number in 1..=100 {
            add(&mut flows, "write", 7, 1, 64, number * 100);
            if number % 20 == 0 {
                add(&mut flows, "write", 8, 2, 1, number * 100 + 20);
                add(&mut flows, "read", 7, 1, 1, number * 100 + 40);
            }
        }
        let links = links(&flows);
        assert!(links.iter().all(|link| link.pattern == TrafficShape::Unanswered), "{links:#?}");
        // Nothing of the process 8 was received, so process 7 alone is at an end of this link.
        assert!(links[0].receivers.is_empty() && links[0].transit_ns.is_none());
        assert_eq!(links[0].other_receivers, [Peer { pid: 9, command: "program 9".to_owned() }]);
    }
}
