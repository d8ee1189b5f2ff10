//! The system calls that a mechanism declares, to be compared with those that are counted.

use crate::{Capabilities, Case, Placement, Wait};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The system calls of one message, where no attempt has to be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls<List = &'static [Call]> {
    /// To send it.
    pub send: List,
    /// To receive it.
    pub receive: List,
    /// To wake whoever waits for it, where that is apart from sending.
    pub ring: List,
    /// To wait for it, where that is apart from receiving.
    pub wait: List,
}

/// A system call by the kernel's name, and how often one message makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call<Text = &'static str> {
    /// For every message.
    Once(Text),
    /// Unless it is not necessary: nobody sleeps yet, or what is waited for is there already.
    AtMostOnce(Text),
}

/// How often a role may make a system call in one round trip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// At least so often.
    pub least: u32,
    /// At most so often; `None` where attempts may be repeated.
    pub most: Option<u32>,
}

/// Up to this many bytes a byte stream carries a message in one call: the kernel's PIPE_BUF.
const WHOLE_BYTES: usize = 4096;

impl Calls {
    /// No system call at all.
    pub const NONE: Calls = Calls { send: &[], receive: &[], ring: &[], wait: &[] };

    /// One call to send and one to receive.
    pub const fn of(send: &'static [Call], receive: &'static [Call]) -> Calls {
        Calls { send, receive, ..Calls::NONE }
    }

    /// The same, owned.
    pub(crate) fn owned(self) -> Calls<Vec<Call<String>>> {
        let owned = |calls: &[Call]| {
            let calls = calls.iter().map(|call| match call {
                Call::Once(name) => Call::Once((*name).to_owned()),
                Call::AtMostOnce(name) => Call::AtMostOnce((*name).to_owned()),
            });
            calls.collect()
        };
        Calls {
            send: owned(self.send),
            receive: owned(self.receive),
            ring: owned(self.ring),
            wait: owned(self.wait),
        }
    }
}

impl Bounds {
    /// Whether `per_round_trip` is within; a hundredth is allowed for calls that a signal interrupted.
    pub fn allow(&self, per_round_trip: f64) -> bool {
        const SLACK: f64 = 0.01;
        per_round_trip >= f64::from(self.least) - SLACK
            && self.most.is_none_or(|most| per_round_trip <= f64::from(most) + SLACK)
    }
}

impl Capabilities {
    /// What one process may call in one round trip of this case, by name.
    pub fn declared_in(&self, case: &Case) -> BTreeMap<String, Bounds> {
        let mut declared = self.declared_calls(case.wait, case.size_bytes);
        if case.placement == Placement::OneProcess {
            // It plays both roles.
            for bounds in declared.values_mut() {
                *bounds = Bounds { least: bounds.least * 2, most: bounds.most.map(|most| most * 2) };
            }
        }
        declared
    }

    /// What one role may call in one round trip with messages of `size_bytes`, by name: one message sent and one
    /// received, and the harness's waiting around them.
    pub fn declared_calls(&self, wait: Wait, size_bytes: usize) -> BTreeMap<String, Bounds> {
        let in_parts = !self.boundaries && size_bytes > WHOLE_BYTES;
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
            // Where sending never waits there is nothing to ask about.
            Wait::SelectFirst => add("select", 1, (!in_parts).then_some(2)),
            _ => {}
        }
        declared
    }
}
