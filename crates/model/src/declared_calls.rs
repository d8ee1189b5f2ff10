//! The calls that a role may make in one round trip of a case, from the declaration of its mechanism.

use crate::{ATOMIC_BYTES, Bounds, Call, Capabilities, Case, Placement, Wait};
use std::collections::BTreeMap;

impl Capabilities {
    /// Returns the calls that one process may make in one round trip of this case, by name.
    pub fn declared_in(&self, case: &Case) -> BTreeMap<String, Bounds> {
        if case.pattern().makes_links() {
            // The declaration is about messages, and does not include the creation of links.
            return BTreeMap::new();
        }
        let mut declared = self.declared_calls(case.wait, case.size_bytes);
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
}
