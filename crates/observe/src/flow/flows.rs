//! Calls, added up to flows: messages, bytes, waits and wake-ups of each process at each end.

use super::amounts::Amounts;
use super::calls::Call;
use super::ends::{Ends, FindEnds, FlowId};
use super::exchanges::Exchanges;
use super::locks::Locks;
use super::transits::Transits;
use furlong_os::linux::ipc_call::{CallDirection, CallEffect, CallTarget, ConnectionStep, Transfer, effect};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Most messages that are kept for a trace, which is the most that can be replayed.
pub(super) const MOST_KEPT: usize = 1_000_000;

/// End of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndKey {
    pub flow: FlowId,
    pub direction: CallDirection,
    pub pid: i32,
}

/// Calls of a process at one end of a flow.
#[derive(Debug, Clone, Default)]
pub struct EndTotals {
    /// Calls that send or receive.
    pub calls: u64,
    pub messages: u64,
    /// Bytes of the messages whose sizes are known.
    pub bytes: u64,
    /// Sizes of messages in bytes, as far as calls report them.
    pub sizes: Amounts,
    /// Calls that failed because they would have had to wait.
    pub would_block: u64,
    /// Time that threads ran in these calls, and in those that wait for readiness.
    pub ran_ns: u64,
    /// Calls in which the thread left its CPU to wait.
    pub sleeps: u64,
    /// Calls that wait for readiness, made before a call here.
    pub readiness_calls: u64,
    /// Those in which the thread left its CPU to wait.
    pub readiness_sleeps: u64,
    /// Numbers of the calls that send or receive.
    pub call_numbers: BTreeSet<i64>,
    /// Numbers of the calls that wait for readiness.
    pub readiness_numbers: BTreeSet<i64>,
}

/// Message of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptMessage {
    pub time_ns: u64,
    pub end: EndKey,
    pub bytes: u64,
}

/// Calls that wait for readiness, of a thread since its last transfer.
#[derive(Debug, Default)]
struct Readiness {
    calls: u64,
    sleeps: u64,
    ran_ns: u64,
    numbers: BTreeSet<i64>,
    /// Number of `accept`, if the thread has slept in it: the wait for the first message of a connection.
    accept: Option<i64>,
}

/// All flows of the observed processes.
#[derive(Debug, Default)]
pub struct Flows {
    ends: HashMap<EndKey, EndTotals>,
    readiness: HashMap<i32, Readiness>,
    exchanges: Exchanges,
    transits: HashMap<FlowId, Transits>,
    locks: Locks,
    /// Messages for a trace, if one is wanted.
    pub kept: Option<Vec<KeptMessage>>,
    /// Processes that use io_uring, with the number of its calls.
    pub hidden: BTreeMap<i32, u64>,
}

impl Flows {
    /// Creates the state without calls.
    pub fn new(keeps_messages: bool) -> Flows {
        Flows { kept: keeps_messages.then(Vec::new), ..Flows::default() }
    }

    /// Adds a call.
    pub fn add(&mut self, call: &Call, find: &mut impl FindEnds) {
        match effect(call.number, &call.arguments, call.result) {
            None => {}
            Some(CallEffect::Transfers(transfers)) => {
                for transfer in transfers.into_iter().flatten() {
                    self.add_transfer(call, &transfer, find);
                }
            }
            Some(CallEffect::Readiness) => self.add_readiness(call),
            Some(CallEffect::Connects(step)) => {
                if call.has_slept && matches!(step, ConnectionStep::Accepted { .. }) {
                    self.readiness.entry(call.tid).or_default().accept = Some(call.number);
                }
                find.connect(call, step);
            }
            Some(CallEffect::Closes(first, last)) => find.close(call.pid, first, last),
            Some(CallEffect::Replaces) => find.replace(call.pid),
            Some(CallEffect::Hidden) => {
                *self.hidden.entry(call.pid).or_default() += 1;
                // If a transfer by a system call follows, the ring has polled a descriptor.
                if call.has_slept {
                    self.add_readiness(call);
                }
            }
        }
    }

    fn add_readiness(&mut self, call: &Call) {
        let readiness = self.readiness.entry(call.tid).or_default();
        readiness.calls += 1;
        readiness.sleeps += u64::from(call.has_slept);
        readiness.ran_ns += call.ran_ns;
        readiness.numbers.insert(call.number);
    }

    fn add_transfer(&mut self, call: &Call, transfer: &Transfer, find: &mut impl FindEnds) {
        // Readiness calls before the use of another object, such as a timer, do not belong to the next message.
        let readiness = self.readiness.remove(&call.tid).unwrap_or_default();
        let Some(ends) = find.find(call.pid, transfer.target) else { return };
        if let CallTarget::Flock(_) | CallTarget::FcntlLock(_) = transfer.target {
            return self.add_lock(call, transfer, ends);
        }
        let direction = transfer.direction;
        let flow = if direction == CallDirection::Send { ends.out } else { ends.into };
        let Some(flow) = flow else { return };
        let key = EndKey { flow, direction, pid: call.pid };
        self.ends.entry(key).or_default().add(call, transfer, &readiness);
        if transfer.messages > 0 {
            self.add_message(call, transfer, key, ends);
        }
    }

    /// Adds a call that locks or unlocks a file: a message if the thread has waited for a lock.
    fn add_lock(&mut self, call: &Call, transfer: &Transfer, ends: Ends) {
        let (Some(file), Some(flow)) = (ends.out, ends.into) else { return };
        let is_wait = call.has_slept && call.result == 0 && transfer.direction != CallDirection::Send;
        let end = if is_wait {
            self.add_lock_end(call, transfer, CallDirection::Receive, flow, 1);
            self.locks.wait(file, flow, call).map(|release| (flow, release))
        } else if transfer.direction != CallDirection::Receive {
            self.locks.release(file, call).map(|flow| (flow, *call))
        } else {
            if transfer.would_block {
                self.add_lock_end(call, transfer, CallDirection::Receive, flow, 0);
            }
            None
        };
        if let Some((flow, release)) = end {
            self.add_lock_end(&release, transfer, CallDirection::Send, flow, 1);
        }
    }

    fn add_lock_end(
        &mut self,
        call: &Call,
        of: &Transfer,
        direction: CallDirection,
        flow: FlowId,
        messages: u64,
    ) {
        let (transfer, key) =
            (Transfer { direction, messages, ..*of }, EndKey { flow, direction, pid: call.pid });
        self.ends.entry(key).or_default().add(call, &transfer, &Readiness::default());
        if messages > 0 {
            self.add_message(call, &transfer, key, Ends::for_object(flow));
        }
    }

    fn add_message(&mut self, call: &Call, transfer: &Transfer, key: EndKey, ends: Ends) {
        // The bytes that are written to a watched file are not those that its watcher reads.
        let bytes = transfer.bytes.filter(|_| !ends.is_notification());
        let amount = bytes.unwrap_or(transfer.messages);
        let (pid, tid, flow) = (call.pid, call.tid, key.flow);
        let transits = self.transits.entry(flow).or_default();
        match key.direction {
            CallDirection::Send => {
                transits.send(amount, call.entered_ns);
                self.exchanges.send(pid, tid, flow, ends, call.entered_ns);
            }
            CallDirection::Receive => {
                transits.receive(amount, call.returned_ns);
                self.exchanges.receive(pid, tid, flow, ends, call.returned_ns);
            }
            CallDirection::Unseen => {}
        }
        if let (Some(kept), Some(bytes)) = (&mut self.kept, bytes)
            && bytes > 0
            && kept.len() < MOST_KEPT
        {
            let is_send = key.direction == CallDirection::Send;
            let time_ns = if is_send { call.entered_ns } else { call.returned_ns };
            kept.push(KeptMessage { time_ns, end: key, bytes });
        }
    }

    /// Forgets everything that waits for a later event, because events were lost.
    pub fn forget(&mut self) {
        self.readiness.clear();
        self.exchanges.forget();
        self.transits.values_mut().for_each(Transits::forget);
        self.locks.forget();
    }

    /// Returns the flows with calls in this interval.
    pub fn used(&self) -> HashSet<FlowId> {
        self.ends.keys().map(|key| key.flow).collect()
    }

    /// Begins an interval without calls, and forgets all flows but the kept ones. Their sends and receives may still find their
    /// counterparts.
    pub fn begin_interval(&mut self, kept: &HashSet<FlowId>) {
        self.ends.clear();
        self.hidden.clear();
        self.readiness.clear();
        self.locks.forget();
        self.exchanges.begin_interval(kept);
        self.transits.retain(|flow, transits| transits.begin_interval() && kept.contains(flow));
    }

    /// Returns the ends of all flows in a fixed order.
    pub fn ends(&self) -> BTreeMap<EndKey, &EndTotals> {
        self.ends.iter().map(|(key, totals)| (*key, totals)).collect()
    }

    /// Returns the exchanges of all processes.
    pub fn exchanges(&self) -> &Exchanges {
        &self.exchanges
    }

    /// Returns the times from send to receive of a flow.
    pub fn transits(&self, flow: FlowId) -> Option<&Amounts> {
        self.transits.get(&flow).map(Transits::times)
    }
}

impl EndTotals {
    fn add(&mut self, call: &Call, transfer: &Transfer, readiness: &Readiness) {
        self.calls += 1;
        self.messages += transfer.messages;
        if let Some(bytes) = transfer.bytes {
            self.bytes += bytes;
            self.sizes.add(bytes);
        }
        self.ran_ns += call.ran_ns + readiness.ran_ns;
        self.would_block += u64::from(transfer.would_block);
        self.sleeps += u64::from(call.has_slept || readiness.accept.is_some());
        self.call_numbers.extend(readiness.accept);
        self.readiness_calls += readiness.calls;
        self.readiness_sleeps += readiness.sleeps;
        self.call_numbers.insert(call.number);
        self.readiness_numbers.extend(&readiness.numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_os::linux::system_call;

    /// Descriptors 1 and 2 of all processes are a pipe, 3 and 4 are the ends of a socket, 5 of process 7 is a file that process 8
    /// watches, and others are no objects. Flow 3 is the locks of all files, and 10 and above are the waits of processes.
    #[derive(Default)]
    struct FixedEnds(Vec<(i32, i32)>);

    impl FindEnds for FixedEnds {
        fn find(&mut self, pid: i32, target: CallTarget) -> Option<Ends> {
            let [pipe, one, other] = [0, 1, 2].map(FlowId);
            match target {
                CallTarget::Flock(_) => {
                    Some(Ends { out: Some(FlowId(3)), into: Some(FlowId(10 + pid as u32)) })
                }
                CallTarget::Descriptor(5) if pid == 7 => Some(Ends { out: Some(pipe), into: None }),
                CallTarget::Descriptor(5) => Some(Ends { out: None, into: Some(pipe) }),
                CallTarget::Descriptor(1 | 2) => Some(Ends::for_object(pipe)),
                CallTarget::Descriptor(3) => Some(Ends { out: Some(one), into: Some(other) }),
                CallTarget::Descriptor(4) => Some(Ends { out: Some(other), into: Some(one) }),
                _ => None,
            }
        }

        fn connect(&mut self, _call: &Call, _step: ConnectionStep) {}

        fn close(&mut self, pid: i32, first: i32, _last: i32) {
            self.0.push((pid, first));
        }

        fn replace(&mut self, _pid: i32) {}
    }

    fn call(name: &str, pid: i32, fd: u64, result: i64, at_ns: u64) -> Call {
        let number = system_call::number(name).unwrap();
        let arguments = [fd, 0, 4096, 0, 0, 0];
        let (entered_ns, returned_ns) = (at_ns, at_ns + 10);
        let (ran_ns, has_slept) = (10, false);
        Call { pid, tid: pid, number, arguments, result, entered_ns, returned_ns, ran_ns, has_slept }
    }

    #[test]
    fn pipe_is_one_flow_with_waits_of_both_ends() {
        let (mut flows, mut find) = (Flows::new(true), FixedEnds::default());
        for round in 0..10 {
            let at_ns = round * 1000;
            flows.add(&call("write", 7, 1, 64, at_ns), &mut find);
            flows.add(&Call { has_slept: true, ..call("read", 8, 2, 64, at_ns + 20) }, &mut find);
            flows.add(&call("write", 7, 99, 64, at_ns + 30), &mut find);
        }
        flows.add(&call("close", 7, 1, 0, 20_000), &mut find);
        let ends = flows.ends();
        let end = |direction, pid| ends[&EndKey { flow: FlowId(0), direction, pid }];
        let (sender, receiver) = (end(CallDirection::Send, 7), end(CallDirection::Receive, 8));
        assert_eq!((sender.messages, sender.bytes, sender.calls, sender.sleeps), (10, 640, 10, 0));
        assert_eq!((receiver.messages, receiver.sleeps), (10, 10));
        assert_eq!((sender.ran_ns, sender.sizes.percentiles().unwrap().p99), (100, 64));
        assert_eq!((ends.len(), find.0.as_slice()), (2, &[(7, 1)][..]));
        assert_eq!(flows.transits(FlowId(0)).unwrap().percentiles().unwrap().max, 30);
        assert!(flows.exchanges().found().is_empty());
        assert_eq!(flows.kept.unwrap().len(), 20);
    }

    #[test]
    fn socket_has_two_flows_and_exchanges_at_both_ends() {
        let (mut flows, mut find) = (Flows::default(), FixedEnds::default());
        for round in 0..10 {
            let at_ns = round * 1000;
            flows.add(&call("sendto", 7, 3, 10, at_ns), &mut find);
            flows.add(&call("poll", 8, 0, 1, at_ns + 15), &mut find);
            flows.add(&call("recvfrom", 8, 4, -11, at_ns + 18), &mut find);
            flows.add(&call("recvfrom", 8, 4, 10, at_ns + 20), &mut find);
            flows.add(&call("sendto", 8, 4, 500, at_ns + 40), &mut find);
            flows.add(&call("recvfrom", 7, 3, 500, at_ns + 60), &mut find);
        }
        let ends = flows.ends();
        assert_eq!(ends.len(), 4);
        let served = ends[&EndKey { flow: FlowId(1), direction: CallDirection::Receive, pid: 8 }];
        assert_eq!(
            (served.calls, served.messages, served.would_block, served.readiness_calls),
            (20, 10, 10, 10)
        );
        let found = flows.exchanges().found();
        let median = |pid, sent, received| {
            let exchange =
                crate::flow::exchanges::Exchange { pid, sent: FlowId(sent), received: FlowId(received) };
            found.get(&exchange).map(|times| (times.count(), times.percentiles().unwrap().p50))
        };
        assert_eq!(median(7, 1, 2), Some((10, 70)));
        // The server waits for the next request. Times above 255 are rounded.
        assert_eq!(median(8, 2, 1).map(|(count, _)| count), Some(9));
    }

    #[test]
    fn interval_has_the_messages_that_arrive_in_it() {
        let (mut flows, mut find) = (Flows::default(), FixedEnds::default());
        flows.add(&call("write", 7, 1, 64, 0), &mut find);
        let kept = flows.used();
        flows.begin_interval(&kept);
        assert!(flows.ends().is_empty());
        flows.add(&call("read", 8, 2, 64, 50), &mut find);
        assert_eq!(flows.transits(FlowId(0)).unwrap().percentiles().unwrap().max, 60);
        flows.begin_interval(&kept);
        assert!(flows.transits(FlowId(0)).is_none());
        flows.add(&call("write", 7, 1, 64, 100), &mut find);
        flows.begin_interval(&HashSet::new());
        assert!(flows.transits.is_empty());
    }

    #[test]
    fn ring_that_polls_is_awaited() {
        let (mut flows, mut find) = (Flows::default(), FixedEnds::default());
        for round in 0..10 {
            flows.add(&call("read", 7, 2, -11, round * 100), &mut find);
            let awaited = call("io_uring_enter", 7, 5, 1, round * 100 + 20);
            flows.add(&Call { has_slept: true, ..awaited }, &mut find);
            flows.add(&call("read", 7, 2, 8, round * 100 + 40), &mut find);
        }
        let wait = super::super::waits::WaitStrategy::find(flows.ends().values().next().unwrap());
        assert_eq!(wait, Some(super::super::waits::WaitStrategy::AwaitsReadiness));
        assert_eq!(flows.hidden[&7], 10);
    }

    #[test]
    fn waits_for_a_lock_are_messages_of_the_process_that_releases_it() {
        let (mut flows, mut find) = (Flows::default(), FixedEnds::default());
        let flock = |pid, command, at_ns| {
            let lock = call("flock", pid, 4, 0, at_ns);
            Call { arguments: [4, command, 0, 0, 0, 0], ..lock }
        };
        for round in 1..=10 {
            let at_ns = round * 1000;
            flows.add(&flock(7, 2, at_ns), &mut find);
            flows.add(&flock(7, 8, at_ns + 100), &mut find);
            let wait = flock(8, 2, at_ns + 10);
            flows.add(&Call { has_slept: true, returned_ns: at_ns + 130, ..wait }, &mut find);
            flows.add(&flock(8, 8, at_ns + 140), &mut find);
        }
        let ends: Vec<_> = flows.ends().into_iter().map(|(key, end)| (key, end.messages)).collect();
        let flow = FlowId(18);
        let end = |direction, pid| (EndKey { flow, direction, pid }, 10);
        assert_eq!(ends, [end(CallDirection::Send, 7), end(CallDirection::Receive, 8)]);
        assert_eq!(flows.transits(flow).unwrap().percentiles().unwrap().max, 30);
    }

    #[test]
    fn event_of_a_watched_file_is_one_message() {
        let (mut flows, mut find) = (Flows::new(true), FixedEnds::default());
        for round in 0..10 {
            flows.add(&call("pwrite64", 7, 5, 1, round * 100), &mut find);
            flows.add(&call("read", 8, 5, 16, round * 100 + 20), &mut find);
        }
        assert_eq!(flows.transits(FlowId(0)).unwrap().percentiles().unwrap().max, 30);
        assert!(flows.kept.unwrap().is_empty());
    }

    #[test]
    fn readiness_before_another_object_is_dropped() {
        let (mut flows, mut find) = (Flows::default(), FixedEnds::default());
        flows.add(&call("poll", 7, 0, 1, 0), &mut find);
        flows.add(&call("read", 7, 99, 8, 10), &mut find);
        flows.add(&call("read", 7, 2, 8, 20), &mut find);
        assert_eq!(flows.ends().values().next().unwrap().readiness_calls, 0);
        // A sleep in accept is one for the message that follows.
        flows.add(&Call { has_slept: true, ..call("accept4", 7, 6, 2, 30) }, &mut find);
        flows.add(&call("read", 7, 2, 8, 40), &mut find);
        let ends = flows.ends();
        let end = ends.values().next().unwrap();
        assert_eq!((end.sleeps, end.call_numbers.len(), end.readiness_calls), (1, 2, 0));
    }
}
