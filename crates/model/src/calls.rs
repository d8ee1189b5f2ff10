//! The system calls that a mechanism declares, for a comparison with the counted ones.

use serde::{Deserialize, Serialize};

/// The system calls of one message, if no attempt is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls<List = &'static [Call]> {
    /// Calls that send the message.
    pub send: List,
    /// Calls that receive the message.
    pub receive: List,
    /// Calls that wake the waiting role, if they are separate from sending.
    pub ring: List,
    /// Calls that wait for the message, if they are separate from receiving.
    pub wait: List,
}

/// A system call with the kernel's name, and the number of times that one message makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call<Text = &'static str> {
    /// Once per message.
    Once(Text),
    /// At most once: not made if no process sleeps yet, or if the awaited event has already occurred.
    AtMostOnce(Text),
}

/// The number of times that a role may make a system call in one round trip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Minimum.
    pub least: u32,
    /// Maximum; `None` if attempts may be repeated.
    pub most: Option<u32>,
}

impl Calls {
    /// No system calls.
    pub const NONE: Calls = Calls { send: &[], receive: &[], ring: &[], wait: &[] };

    /// Returns calls with these lists to send and to receive, and none to wake or wait.
    pub const fn of(send: &'static [Call], receive: &'static [Call]) -> Calls {
        Calls { send, receive, ..Calls::NONE }
    }

    /// Returns whether a message makes system calls only to wait.
    pub const fn are_for_waiting(&self) -> bool {
        self.send.is_empty() && self.receive.is_empty() && self.ring.is_empty()
    }

    /// Returns an owned copy.
    pub(crate) fn owned(self) -> Calls<Vec<Call<String>>> {
        self.kept(|calls| calls.iter().map(|call| call.kept(str::to_owned)).collect())
    }
}

impl Calls<Vec<Call<String>>> {
    /// Returns a copy that lives as long as this process.
    pub(crate) fn leak(self) -> Calls {
        self.kept(|calls| {
            &*Vec::leak(calls.into_iter().map(|call| call.kept(|name| &*name.leak())).collect())
        })
    }
}

impl<List> Calls<List> {
    /// Converts the lists.
    fn kept<L>(self, list: impl Fn(List) -> L) -> Calls<L> {
        let Calls { send, receive, ring, wait } = self;
        Calls { send: list(send), receive: list(receive), ring: list(ring), wait: list(wait) }
    }
}

impl<Text> Call<Text> {
    /// Converts the name.
    fn kept<T>(self, name_kept: impl FnOnce(Text) -> T) -> Call<T> {
        match self {
            Call::Once(name) => Call::Once(name_kept(name)),
            Call::AtMostOnce(name) => Call::AtMostOnce(name_kept(name)),
        }
    }
}

impl Bounds {
    /// Returns whether `per_round_trip` is within the bounds. The tolerance of 0.01 is for calls that a signal has
    /// interrupted.
    pub fn allow(&self, per_round_trip: f64) -> bool {
        const SLACK: f64 = 0.01;
        per_round_trip >= f64::from(self.least) - SLACK
            && self.most.is_none_or(|most| per_round_trip <= f64::from(most) + SLACK)
    }
}
