//! The calls that a role may make in one round trip of a case, from the declaration of its mechanism.

use crate::{ATOMIC_BYTES, Bounds, Call, Capabilities, Case, Placement, Role, SocketOption, Wait};
use std::collections::BTreeMap;

impl Capabilities {
    /// Returns the calls that one process may make in one round trip of this case, by name.
    pub fn declared_in(&self, case: &Case) -> BTreeMap<String, Bounds> {
        let pattern = case.pattern();
        // The declaration is about messages, and does not include the creation of links. In a stream, a sender may wait for room,
        // which only calls that carry several messages include.
        let is_undeclared = pattern.is_one_way() && !self.calls_carry_several();
        if pattern.makes_links() || is_undeclared {
            return BTreeMap::new();
        }
        let mut declared = self.declared_calls(case.wait, case.size_bytes);
        self.add_calls_of_link(case, &mut declared);
        if case.conditions.batch().is_some() {
            self.replace_by_batch_calls(&mut declared);
        }
        if case.arrival.pause_ns() > 0 && case.wait.sleeps_in_the_end() {
            // The initiator sleeps until a message is due, and reads its CPU time before and after that.
            declared.insert("clock_nanosleep".to_owned(), Bounds { least: 0, most: Some(1) });
            declared.insert("clock_gettime".to_owned(), Bounds { least: 0, most: Some(2) });
        }
        if pattern.is_one_way() {
            // A role only sends or only receives.
            declared.values_mut().for_each(|bounds| bounds.least = 0);
        }
        if case.placement == Placement::OneProcess {
            // One process has both roles.
            for bounds in declared.values_mut() {
                *bounds = Bounds { least: bounds.least * 2, most: bounds.most.map(|most| most * 2) };
            }
        }
        declared
    }

    /// Returns the calls that one role may make in one round trip with messages of `size_bytes`, by name. They are
    /// those of one sent and one received message, and the waits of the harness around them.
    pub fn declared_calls(&self, wait: Wait, size_bytes: usize) -> BTreeMap<String, Bounds> {
        let in_parts = !self.boundaries && size_bytes > ATOMIC_BYTES;
        let tries_again = wait.needs_non_blocking() && wait != Wait::SelectFirst;
        let mut declared: BTreeMap<String, Bounds> = BTreeMap::new();
        let mut add = |name: &str, least: u32, most: Option<u32>| {
            let bounds = declared.entry(name.to_owned()).or_insert(Bounds { least: 0, most: Some(0) });
            bounds.least += least;
            bounds.most = bounds.most.zip(most).map(|(before, more)| before + more);
        };
        for (calls, open) in [
            (self.calls.send, in_parts || tries_again),
            (self.calls.receive, in_parts || tries_again),
            (self.calls.ring, tries_again),
            (self.calls.wait, tries_again),
        ] {
            for call in calls {
                let most = (!open).then_some(1);
                match call {
                    Call::Once(name) => add(name, 1, most),
                    Call::AtMostOnce(name) => add(name, 0, most),
                }
            }
        }
        match wait {
            Wait::Yield => add("sched_yield", 0, None),
            Wait::Select => add("select", 0, None),
            Wait::Poll => add("poll", 0, None),
            Wait::Epoll => add("epoll_wait", 0, None),
            Wait::IoUring => add("io_uring_enter", 0, None),
            // A send that never blocks needs no select.
            Wait::SelectFirst => add("select", 1, (!in_parts).then_some(2)),
            _ => {}
        }
        declared
    }

    /// Returns whether there are system calls that carry several messages.
    fn calls_carry_several(&self) -> bool {
        !self.calls.are_for_waiting() && self.batch_call(Role::Initiator).is_some()
    }

    /// Replaces the calls of a single message by those of several, which a role makes at most once per message.
    fn replace_by_batch_calls(&self, declared: &mut BTreeMap<String, Bounds>) {
        for (calls, role) in [(self.calls.send, Role::Initiator), (self.calls.receive, Role::Responder)] {
            for Call::Once(name) | Call::AtMostOnce(name) in calls {
                let bounds = declared.remove(*name).unwrap_or_default();
                declared.insert(self.batch_call(role).unwrap_or(name).to_owned(), bounds);
            }
        }
    }

    /// Adds the calls that the requested conditions of the link cause.
    fn add_calls_of_link(&self, case: &Case, declared: &mut BTreeMap<String, Bounds>) {
        let has_two_writes = case.conditions.has_two_writes();
        let has = |option: SocketOption| case.conditions.socket_options().contains(&option);
        let in_parts = !self.boundaries && case.size_bytes > ATOMIC_BYTES;
        let is_open = in_parts || case.wait.needs_non_blocking();
        let mut add = |name: &str, least: u32, most: Option<u32>| {
            let bounds = declared.entry(name.to_owned()).or_insert(Bounds { least: 0, most: Some(0) });
            bounds.least += least;
            bounds.most = bounds.most.zip(most.filter(|_| !is_open)).map(|(before, more)| before + more);
        };
        if has_two_writes {
            for (calls, least) in [(self.calls.send, 1), (self.calls.receive, 0)] {
                for Call::Once(name) | Call::AtMostOnce(name) in calls {
                    add(name, least, Some(1));
                }
            }
        }
        if has_two_writes && case.wait == Wait::SelectFirst {
            // The body may arrive after the header was read.
            add("select", 0, None);
        }
        if has(SocketOption::QuickAck) {
            // After each read, of which two writes may need two.
            add("setsockopt", 1, Some(1 + u32::from(has_two_writes)));
        }
        if has(SocketOption::Cork) {
            add("setsockopt", 2, Some(2));
        }
        if has(SocketOption::ZeroCopy) {
            // Several completions may be collected at once.
            add("recvmsg", 0, None);
            add("poll", 0, None);
            let writes = declared.remove("write");
            declared.extend(writes.map(|bounds| ("sendto".to_owned(), bounds)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requested_condition::sockets::tests::STREAM;
    use crate::{Arrival, ConditionKind, RequestedConditions};

    /// Returns the declared calls of a stream under conditions, as `name least-most`.
    fn declared(values: &[(&str, &str)]) -> Vec<String> {
        let axis = |(name, value): &(&str, &str)| {
            let kind = ConditionKind::find(name).unwrap();
            vec![kind.read(value).unwrap()]
        };
        let axes: Vec<_> = values.iter().map(axis).collect();
        let conditions = RequestedConditions::combinations(&axes, &STREAM).remove(0);
        let case = Case { conditions, ..Case::round_trip("tcp", Wait::Block, 128, Placement::SameCore) };
        let line = |(name, Bounds { least, most }): (String, Bounds)| format!("{name} {least}-{most:?}");
        STREAM.declared_in(&case).into_iter().map(line).collect()
    }

    #[test]
    fn conditions_of_the_link_add_their_calls() {
        assert_eq!(declared(&[]), ["read 1-Some(1)", "write 1-Some(1)"]);
        assert_eq!(declared(&[("writes", "2")]), ["read 1-Some(2)", "write 2-Some(2)"]);
        let options = [("socket-options", "quickack+cork"), ("writes", "2")];
        assert_eq!(declared(&options), ["read 1-Some(2)", "setsockopt 3-Some(4)", "write 2-Some(2)"]);
        let zero_copy = ["poll 0-None", "read 1-Some(1)", "recvmsg 0-None", "sendto 1-Some(1)"];
        assert_eq!(declared(&[("socket-options", "zerocopy")]), zero_copy);
    }

    #[test]
    fn sleep_until_a_message_is_due_is_declared() {
        let with = |arrival| {
            let case = Case { arrival, ..Case::round_trip("tcp", Wait::Block, 128, Placement::SameCore) };
            STREAM.declared_in(&case).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(with(Arrival::ClosedLoop), ["read", "write"]);
        for arrival in [Arrival::Interval(1_000_000), Arrival::ThinkTime(1_000_000)] {
            assert_eq!(with(arrival), ["clock_gettime", "clock_nanosleep", "read", "write"]);
        }
    }

    #[test]
    fn role_of_a_stream_makes_the_calls_of_one_direction() {
        let declared = |capabilities: Capabilities, batch: u16| {
            let batch = std::num::NonZeroU16::new(batch).unwrap();
            let conditions = crate::RequestedCondition::Batch(batch).into();
            let case = Case::round_trip("any", Wait::Block, 128, Placement::SameCore);
            let case = Case { conditions, ..case.with_pattern(crate::Pattern::OneWay) };
            let line =
                |(name, bounds): (String, Bounds)| format!("{name} {}-{:?}", bounds.least, bounds.most);
            capabilities.declared_in(&case).into_iter().map(line).collect::<Vec<_>>()
        };
        let calls = crate::Calls::of(&[Call::Once("sendto")], &[Call::Once("recvfrom")]);
        let datagram = Capabilities { boundaries: true, calls, ..STREAM };
        assert_eq!(declared(STREAM, 1), ["read 0-Some(1)", "write 0-Some(1)"]);
        assert_eq!(declared(datagram, 1), ["recvfrom 0-Some(1)", "sendto 0-Some(1)"]);
        assert_eq!(declared(datagram, 64), ["recvmmsg 0-Some(1)", "sendmmsg 0-Some(1)"]);
        let memory = Capabilities { family: crate::Family::Memory, ..Capabilities::DEFAULT };
        assert!(declared(memory, 1).is_empty());
    }
}
