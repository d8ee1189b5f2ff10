//! The path of one message through the kernel, from the events of both roles and their CPUs.
//!
//! A message begins when a role enters its send call, and ends when the other role enters its send call, because round trips alternate.
//! Its path follows the sender until it hands over: on two CPUs when it wakes the receiver, on one CPU when the receiver runs.
//! From then on, it follows the receiver. So the steps of the path add up to the time of the message.

use furlong_model::{CallResult, MessageEvent, MessageEventKind as Kind, Role};
use serde::Serialize;

/// Part of the path of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Send call until it begins to wake the receiver: entry, checks and the copy into the kernel.
    SendCall,
    /// Time until an interrupt reaches the receiver's CPU.
    Interrupt,
    /// Time until the receiver is runnable.
    WakeUp,
    /// Time until the CPU has left its idle state.
    IdleExit,
    /// Remainder of the send call.
    SendReturn,
    /// Sender outside of calls, between the send call and its next call.
    SenderCode,
    /// Sender's next call until another thread is selected to run on its CPU.
    SenderBlocks,
    /// Time until the scheduler selects the receiver.
    SchedulingDelay,
    /// Context switch.
    Switch,
    /// Remainder of the receiver's call in which it waited: the copy out of the kernel and the return.
    ReceiveReturn,
    /// Receiver that runs, but has not entered its receive call yet.
    BeforeReceive,
    /// Call of the receiver that did not wait.
    ReceiveCall,
    /// Send and receive call on two CPUs in parallel, if the receiver did not wait.
    BothCalls,
    /// Time until the receiver runs again, because its CPU ran another thread after the message had arrived.
    Preempted,
    /// Receiver outside of calls, until it sends.
    ReceiverCode,
}

/// Process that a step belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Actor {
    /// Sender of the message.
    Sender,
    /// Kernel, while it wakes the receiver and lets it run.
    Scheduler,
    /// Receiver of the message.
    Receiver,
}

impl Step {
    /// Returns the name for users.
    pub const fn name(self) -> &'static str {
        match self {
            Step::SendCall => "send call",
            Step::Interrupt => "interrupt",
            Step::WakeUp => "wake-up",
            Step::IdleExit => "idle exit",
            Step::SendReturn => "send returns",
            Step::SenderCode => "sender's code",
            Step::SenderBlocks => "sender blocks",
            Step::SchedulingDelay => "scheduling delay",
            Step::Switch => "switch",
            Step::ReceiveReturn => "receive returns",
            Step::BeforeReceive => "before receive",
            Step::ReceiveCall => "receive call",
            Step::BothCalls => "both calls",
            Step::Preempted => "preempted",
            Step::ReceiverCode => "receiver's code",
        }
    }

    /// Returns the process that the step belongs to.
    pub const fn actor(self) -> Actor {
        match self {
            Step::SendCall | Step::SendReturn | Step::SenderCode | Step::SenderBlocks | Step::BothCalls => {
                Actor::Sender
            }
            Step::ReceiveReturn | Step::BeforeReceive | Step::ReceiveCall | Step::ReceiverCode => {
                Actor::Receiver
            }
            _ => Actor::Scheduler,
        }
    }

    /// Returns whether the cost model counts the step as a wake-up or a context switch, and not as calls and own path.
    pub(crate) const fn is_waiting(self) -> bool {
        matches!(self.actor(), Actor::Scheduler) || matches!(self, Step::SenderBlocks)
    }
}

/// Step of one message. Times are nanoseconds since its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    pub step: Step,
    pub start_ns: u64,
    pub end_ns: u64,
    /// Whether the sender does this while the receiver is woken on another CPU, so that it is not on the path.
    pub is_parallel: bool,
}

/// Round trips of a trial.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RoundTrips {
    /// Intervals of the request and of the reply, of each complete round trip.
    pub complete: Vec<[Vec<Interval>; 2]>,
    /// Number of round trips whose reply, next request or receive calls were not seen.
    pub incomplete: usize,
}

/// Finds the round trips in the events of a trial, which may be in any order.
pub(crate) fn round_trips(mut events: Vec<MessageEvent>) -> RoundTrips {
    events.sort_by_key(|event| event.time_ns);
    let mut found = RoundTrips::default();
    for three in sends(&events).windows(3).filter(|three| three[0].1 == Role::Initiator) {
        let roles = [0, 1, 2].map(|index| three[index].1);
        let message = |index: usize| intervals(&events[three[index].0..=three[index + 1].0], roles[index]);
        let is_round_trip = roles == [Role::Initiator, Role::Responder, Role::Initiator];
        match is_round_trip.then(|| Some([message(0)?, message(1)?])).flatten() {
            Some(messages) => found.complete.push(messages),
            None => found.incomplete += 1,
        }
    }
    found
}

/// Returns the index of the first event of each message, with its sender. Two in a row of one sender are a message whose answer was
/// not seen.
fn sends(events: &[MessageEvent]) -> Vec<(usize, Role)> {
    let mut calls: [Option<(usize, bool)>; 2] = [None; 2];
    // Sends, and receives or waits, which separate the sends of two messages.
    let mut marks: Vec<(usize, Role, bool)> = Vec::new();
    for (index, event) in events.iter().enumerate() {
        match event.kind {
            Kind::Entered(role) => calls[role.index()] = Some((index, false)),
            Kind::Waking { by: Some(by), role } if by != role => {
                calls[by.index()] = calls[by.index()].map(|(entered, _)| (entered, true));
            }
            Kind::Blocked(role) => marks.push((index, role, false)),
            Kind::Returned(role, result) => {
                let Some((entered, wakes)) = calls[role.index()].take() else { continue };
                match result {
                    CallResult::Received => marks.push((index, role, false)),
                    CallResult::Other if !wakes => {}
                    CallResult::Sent | CallResult::Other => marks.push((entered, role, true)),
                }
            }
            _ => {}
        }
    }
    marks.sort_by_key(|(index, ..)| *index);
    let mut sends: Vec<(usize, Role)> = Vec::new();
    let mut has_waited = [true; 2];
    for (index, role, is_send) in marks {
        // Several calls may send one message.
        let is_first = sends.last().is_none_or(|(_, last)| *last != role) || has_waited[role.index()];
        if is_send && is_first {
            sends.push((index, role));
        }
        has_waited[role.index()] = !is_send;
    }
    sends
}

/// Returns the intervals of a message, whose first event is the entry of its send call and whose last event is the entry of the receiver's
/// send call. `None` if the receiver's call is missing.
fn intervals(events: &[MessageEvent], sender: Role) -> Option<Vec<Interval>> {
    let receiver = sender.peer();
    let is_wake_up =
        |event: &MessageEvent| matches!(event.kind, Kind::Waking { role, .. } if role == receiver);
    let waking = events.iter().position(is_wake_up);
    let returned =
        events.iter().rposition(|event| matches!(event.kind, Kind::Returned(role, _) if role == receiver))?;
    let resumed = events[..returned].iter().rposition(|event| event.kind == Kind::SwitchedIn(receiver));
    let Some(resumed) = resumed.filter(|at| waking.is_none_or(|waking| waking < *at)) else {
        return Some(awake(events, sender, returned));
    };
    let on_two_cpus = events[0].cpu != events[resumed].cpu;
    let handover = waking.filter(|_| on_two_cpus).unwrap_or(resumed);
    let is_on_path = |at: usize| {
        let is_between = at < resumed && waking.is_some_and(|waking| waking < at);
        match events[at].kind {
            Kind::Entered(role) | Kind::Returned(role, _) if role == sender => at < handover,
            Kind::Entered(_) | Kind::Returned(..) => at > resumed,
            Kind::Waking { .. } => Some(at) == waking,
            Kind::Woken(role) | Kind::Selected(role) => role == receiver && at < resumed,
            Kind::IdleExit | Kind::Interrupt => {
                is_between && on_two_cpus && events[at].cpu == events[resumed].cpu
            }
            Kind::SwitchedIn(role) => role == receiver && at >= resumed,
            Kind::Blocked(_) => false,
        }
    };
    let path: Vec<_> = (0..events.len()).filter(|at| is_on_path(*at)).map(|at| events[at]).collect();
    let mut found = steps(&path, sender, events[0].time_ns, false);
    if let Some(waking) = waking.filter(|_| on_two_cpus) {
        let is_of_sender = |event: &&MessageEvent| matches!(event.kind, Kind::Entered(role) | Kind::Returned(role, _) | Kind::Blocked(role) if role == sender);
        let own = events[waking + 1..].iter().filter(is_of_sender);
        let lane: Vec<_> = std::iter::once(&events[waking]).chain(own).copied().collect();
        found.extend(steps(&lane, sender, events[0].time_ns, true));
    }
    Some(found)
}

/// Returns the intervals of a message whose receiver did not wait, from its last call, which has returned.
fn awake(events: &[MessageEvent], sender: Role, returned: usize) -> Vec<Interval> {
    let entered = events[..returned].iter().rposition(|event| event.kind == Kind::Entered(sender.peer()));
    let path = [Some(0), entered, Some(returned), Some(events.len() - 1)];
    let path: Vec<_> = path.into_iter().flatten().map(|at| events[at]).collect();
    let mut found = steps(&path, sender, events[0].time_ns, false);
    found[0].step = if entered.is_some() { Step::SendCall } else { Step::BothCalls };
    found
}

fn steps(path: &[MessageEvent], sender: Role, start_ns: u64, is_parallel: bool) -> Vec<Interval> {
    let (mut has_woken, mut runs) = (is_parallel, false);
    let interval = |pair: &[MessageEvent]| {
        let mut step = step(pair[0].kind, pair[1].kind, sender, has_woken);
        if step == Step::Switch && std::mem::replace(&mut runs, true) {
            step = Step::Preempted;
        }
        has_woken |= matches!(pair[1].kind, Kind::Waking { .. });
        let [start_ns, end_ns] = [pair[0].time_ns, pair[1].time_ns].map(|time_ns| time_ns - start_ns);
        Interval { step, start_ns, end_ns, is_parallel }
    };
    let mut found: Vec<_> = path.windows(2).map(interval).collect();
    if let Some(last) = found.last_mut().filter(|last| last.step == Step::BeforeReceive) {
        last.step = Step::ReceiverCode;
    }
    found
}

/// Returns the step between two events that follow each other on the path.
fn step(before: Kind, after: Kind, sender: Role, has_woken: bool) -> Step {
    let is_in_call = |role| matches!(before, Kind::Entered(caller) if caller == role);
    match after {
        Kind::Waking { .. } => Step::SendCall,
        Kind::Interrupt => Step::Interrupt,
        Kind::Woken(_) => Step::WakeUp,
        Kind::IdleExit => Step::IdleExit,
        Kind::Blocked(_) => Step::SenderBlocks,
        Kind::Selected(_) if is_in_call(sender) && has_woken => Step::SenderBlocks,
        Kind::Selected(_) => Step::SchedulingDelay,
        Kind::SwitchedIn(_) => Step::Switch,
        Kind::Entered(role) if role == sender => Step::SenderCode,
        Kind::Entered(_) => Step::BeforeReceive,
        Kind::Returned(role, _) if role != sender && is_in_call(role) => Step::ReceiveCall,
        Kind::Returned(role, _) if role != sender => Step::ReceiveReturn,
        Kind::Returned(..) if has_woken => Step::SendReturn,
        Kind::Returned(..) => Step::SendCall,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use Role::{Initiator, Responder};

    /// Returns the events of a round trip of two messages of 1,600 ns. Both roles wait.
    pub(crate) fn round_trip(start_ns: u64, cpus: [usize; 2], sent: CallResult) -> Vec<MessageEvent> {
        let mut events = Vec::new();
        for (start_ns, sender) in [(start_ns, Initiator), (start_ns + 1_600, Responder)] {
            let receiver = sender.peer();
            let [own, far] = [cpus[sender.index()], cpus[receiver.index()]];
            let waking = Kind::Waking { by: Some(sender), role: receiver };
            let times = if own == far { [500, 600, 1_050] } else { [850, 900, 950] };
            let mut add =
                |time_ns, cpu, kind| events.push(MessageEvent { time_ns: start_ns + time_ns, cpu, kind });
            add(0, own, Kind::Entered(sender));
            add(300, own, waking);
            if own != far {
                add(400, far, Kind::Interrupt);
                add(750, far, Kind::IdleExit);
            }
            add(450, far, Kind::Woken(receiver));
            add(times[0], own, Kind::Returned(sender, sent));
            add(times[1], own, Kind::Entered(sender));
            add(times[2], own, Kind::Blocked(sender));
            add(1_000, far, Kind::Selected(receiver));
            add(1_200, far, Kind::SwitchedIn(receiver));
            add(1_500, far, Kind::Returned(receiver, CallResult::Received));
        }
        events
    }

    /// Returns the events of this number of round trips, and the beginning of another one.
    fn several(count: u64, cpus: [usize; 2], sent: CallResult) -> Vec<MessageEvent> {
        let mut events: Vec<_> =
            (0..count).flat_map(|number| round_trip(number * 3_200, cpus, sent)).collect();
        let end = MessageEvent { time_ns: count * 3_200, cpu: cpus[0], kind: Kind::Entered(Initiator) };
        let returned = Kind::Returned(Initiator, CallResult::Sent);
        events.extend([end, MessageEvent { time_ns: end.time_ns + 1, kind: returned, ..end }]);
        events
    }

    fn path(message: &[Interval]) -> Vec<(Step, u64)> {
        let on_path = message.iter().filter(|interval| !interval.is_parallel);
        on_path.map(|interval| (interval.step, interval.end_ns - interval.start_ns)).collect()
    }

    #[test]
    fn path_across_two_cpus_follows_the_receiver_from_the_wake_up() {
        let found = round_trips(several(3, [0, 1], CallResult::Sent));
        assert_eq!((found.complete.len(), found.incomplete), (3, 0));
        let expected = [
            (Step::SendCall, 300),
            (Step::Interrupt, 100),
            (Step::WakeUp, 50),
            (Step::IdleExit, 300),
            (Step::SchedulingDelay, 250),
            (Step::Switch, 200),
            (Step::ReceiveReturn, 300),
            (Step::ReceiverCode, 100),
        ];
        for message in found.complete.iter().flatten() {
            assert_eq!(path(message), expected);
            let parallel: Vec<_> = message.iter().filter(|interval| interval.is_parallel).collect();
            let steps = parallel.iter().map(|interval| (interval.step, interval.start_ns, interval.end_ns));
            let expected =
                [(Step::SendReturn, 300, 850), (Step::SenderCode, 850, 900), (Step::SenderBlocks, 900, 950)];
            assert_eq!(steps.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn path_on_one_cpu_follows_the_sender_until_the_switch() {
        let found = round_trips(several(2, [0, 0], CallResult::Sent));
        assert_eq!((found.complete.len(), found.incomplete), (2, 0));
        let expected = [
            (Step::SendCall, 300),
            (Step::WakeUp, 150),
            (Step::SendReturn, 50),
            (Step::SenderCode, 100),
            (Step::SenderBlocks, 400),
            (Step::Switch, 200),
            (Step::ReceiveReturn, 300),
            (Step::ReceiverCode, 100),
        ];
        assert!(found.complete.iter().flatten().all(|message| path(message) == expected), "{found:?}");
        assert!(found.complete.iter().flatten().flatten().all(|interval| !interval.is_parallel));
    }

    #[test]
    fn order_of_events_is_irrelevant_and_the_wake_up_identifies_a_send() {
        let expected = round_trips(several(3, [0, 1], CallResult::Sent));
        let mut events = several(3, [0, 1], CallResult::Other);
        events.reverse();
        assert_eq!(round_trips(events), expected);
    }

    #[test]
    fn receiver_that_does_not_wait_has_no_switch() {
        let at = |time_ns, kind| MessageEvent { time_ns, cpu: 0, kind };
        let sends = [
            at(0, Kind::Entered(Initiator)),
            at(50, Kind::Returned(Responder, CallResult::Other)),
            at(60, Kind::Entered(Responder)),
            at(400, Kind::Returned(Initiator, CallResult::Sent)),
            at(450, Kind::Returned(Responder, CallResult::Received)),
            at(500, Kind::Entered(Responder)),
        ];
        let path_of = |events: &[MessageEvent]| path(&intervals(events, Initiator).unwrap());
        let rest = [(Step::ReceiveCall, 390), (Step::ReceiverCode, 50)];
        assert_eq!(path_of(&sends), [&[(Step::SendCall, 60)], &rest[..]].concat());
        let within: Vec<_> = sends.into_iter().filter(|event| ![50, 60].contains(&event.time_ns)).collect();
        assert_eq!(path_of(&within), [(Step::BothCalls, 450), (Step::ReceiverCode, 50)]);
    }

    #[test]
    fn receiver_that_is_preempted_after_its_call_has_a_step_for_it() {
        let mut events = round_trip(0, [0, 0], CallResult::Sent);
        events.truncate(9);
        let at = |time_ns, kind| MessageEvent { time_ns, cpu: 0, kind };
        let more = [at(1_700, Kind::Selected(Initiator)), at(3_000, Kind::SwitchedIn(Responder))];
        events.extend(more.into_iter().chain([at(3_100, Kind::Entered(Responder))]));
        let end = path(&intervals(&events, Initiator).unwrap()).split_off(6);
        assert_eq!(end, [(Step::ReceiveReturn, 300), (Step::Preempted, 1_500), (Step::ReceiverCode, 100)]);
    }

    #[test]
    fn round_trips_with_lost_events_are_left_out_and_counted() {
        // The buffer of the responder's CPU was full for one round trip, and at the end.
        let is_lost = |event: &MessageEvent| event.cpu == 1 && (3_200..6_400).contains(&event.time_ns);
        let events: Vec<_> =
            several(4, [0, 1], CallResult::Sent).into_iter().filter(|event| !is_lost(event)).collect();
        let found = round_trips(events);
        assert_eq!((found.complete.len(), found.incomplete), (3, 1));
        assert!(
            found.complete.iter().flatten().all(|message| path(message)
                .iter()
                .map(|(_, ns)| ns)
                .sum::<u64>()
                == 1_600)
        );
        assert_eq!(round_trips(Vec::new()), RoundTrips::default());
    }
}
