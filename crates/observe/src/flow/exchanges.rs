//! Requests and responses: a process sends, and then receives from the same peer.

use super::amounts::Amounts;
use super::ends::{Ends, FlowId};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Most requests of each kind without a response.
const MOST: usize = 1 << 16;

/// Flow of the requests of a process, and flow of the responses to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exchange {
    pub pid: i32,
    pub sent: FlowId,
    pub received: FlowId,
}

/// Exchanges of all processes.
#[derive(Debug, Default)]
pub struct Exchanges {
    found: BTreeMap<Exchange, Amounts>,
    /// Time of the first send since the last receive, of connections.
    of_connections: HashMap<(i32, FlowId), u64>,
    /// Connections that also carry the responses to their requests.
    answered: HashSet<(i32, FlowId)>,
    /// Flow and time of such a send, of threads: they may receive the response through another object.
    of_threads: HashMap<i32, (FlowId, u64)>,
}

impl Exchanges {
    /// Adds a send that began at this time.
    pub fn send(&mut self, pid: i32, tid: i32, flow: FlowId, ends: Ends, entered_ns: u64) {
        if ends.is_connection() {
            self.of_connections.entry((pid, flow)).or_insert(entered_ns);
        }
        let first = self.of_threads.entry(tid).or_insert((flow, entered_ns));
        if first.0 != flow {
            *first = (flow, entered_ns);
        }
    }

    /// Adds a receive that returned at this time. It may be the response to a send through the same connection, or to the last send of
    /// the thread.
    pub fn receive(&mut self, pid: i32, tid: i32, flow: FlowId, ends: Ends, returned_ns: u64) {
        let out = ends.out.filter(|_| ends.is_connection());
        let own = out.and_then(|out| Some((out, self.of_connections.remove(&(pid, out))?)));
        let last = self.of_threads.remove(&tid).filter(|(sent, _)| !self.answered.contains(&(pid, *sent)));
        if let Some((out, _)) = own
            && self.answered.insert((pid, out))
        {
            self.found.retain(|found, _| (found.pid, found.sent) != (pid, out) || found.received == flow);
        }
        if let Some((sent, entered_ns)) = own.or(last).filter(|(sent, _)| *sent != flow) {
            let exchange = Exchange { pid, sent, received: flow };
            self.found.entry(exchange).or_default().add(returned_ns.saturating_sub(entered_ns));
        }
    }

    /// Forgets sends without responses, because events were lost.
    pub fn forget(&mut self) {
        self.of_connections.clear();
        self.of_threads.clear();
    }

    /// Forgets the times, and the sends of other flows than the kept ones. The others may still find their responses.
    pub fn begin_interval(&mut self, kept: &HashSet<FlowId>) {
        self.found.clear();
        self.of_connections.retain(|(_, flow), _| kept.contains(flow));
        self.answered.retain(|(_, flow)| kept.contains(flow));
        self.of_threads.retain(|_, (flow, _)| kept.contains(flow));
        if self.of_connections.len().max(self.of_threads.len()) > MOST {
            self.forget();
        }
    }

    /// Returns the times from send to receive of each process and pair of flows, in nanoseconds.
    pub fn found(&self) -> &BTreeMap<Exchange, Amounts> {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: FlowId = FlowId(0);
    const B: FlowId = FlowId(1);
    const C: FlowId = FlowId(2);

    fn found(exchanges: &Exchanges) -> Vec<(i32, FlowId, FlowId, u64, u64)> {
        let times = |(exchange, times): (&Exchange, &Amounts)| {
            let median = times.percentiles().unwrap().p50;
            (exchange.pid, exchange.sent, exchange.received, times.count(), median)
        };
        exchanges.found().iter().map(times).collect()
    }

    #[test]
    fn connection_has_exchanges_even_if_requests_have_parts() {
        let mut exchanges = Exchanges::default();
        let ends = Ends { out: Some(A), into: Some(B) };
        for round in 0..10 {
            // Another connection of the same thread is served in between.
            let other = Ends { out: Some(C), into: Some(FlowId(3)) };
            exchanges.send(7, 7, A, ends, round * 100);
            exchanges.send(7, 7, A, ends, round * 100 + 1);
            exchanges.receive(7, 7, FlowId(3), other, round * 100 + 5);
            exchanges.receive(7, 7, B, ends, round * 100 + 20);
            exchanges.receive(7, 7, B, ends, round * 100 + 21);
        }
        assert_eq!(found(&exchanges), [(7, A, B, 10, 20)]);
    }

    #[test]
    fn response_may_come_through_another_socket() {
        let mut exchanges = Exchanges::default();
        let [to, back] =
            [(A, C), (FlowId(3), B)].map(|(out, into)| Ends { out: Some(out), into: Some(into) });
        for round in 0..10 {
            exchanges.send(7, 7, A, to, round * 100);
            exchanges.receive(7, 7, B, back, round * 100 + 30);
        }
        assert_eq!(found(&exchanges), [(7, A, B, 10, 30)]);
        exchanges.send(7, 7, A, to, 2000);
        exchanges.begin_interval(&HashSet::from([B]));
        exchanges.receive(7, 7, B, back, 2030);
        assert_eq!(found(&exchanges), []);
    }

    #[test]
    fn two_pipes_have_exchanges_of_one_thread() {
        let mut exchanges = Exchanges::default();
        let [out, into] = [A, B].map(|flow| Ends { out: Some(flow), into: Some(flow) });
        for round in 0..10 {
            exchanges.send(7, 7, A, out, round * 100);
            exchanges.receive(7, 7, B, into, round * 100 + 30);
            exchanges.receive(7, 8, B, into, round * 100 + 40);
        }
        assert_eq!(found(&exchanges), [(7, A, B, 10, 30)]);
    }
}
