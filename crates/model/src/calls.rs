//! The system calls that a mechanism declares, to be compared with those that are counted.

use serde::{Deserialize, Serialize};

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

impl Calls {
    /// No system call at all.
    pub const NONE: Calls = Calls { send: &[], receive: &[], ring: &[], wait: &[] };

    /// One call to send and one to receive.
    pub const fn of(send: &'static [Call], receive: &'static [Call]) -> Calls {
        Calls { send, receive, ..Calls::NONE }
    }

    /// Whether a message makes no system call but to wait.
    pub const fn are_for_waiting(&self) -> bool {
        self.send.is_empty() && self.receive.is_empty() && self.ring.is_empty()
    }

    /// The same, owned.
    pub(crate) fn owned(self) -> Calls<Vec<Call<String>>> {
        self.kept(|calls| calls.iter().map(|call| call.kept(str::to_owned)).collect())
    }
}

impl Calls<Vec<Call<String>>> {
    /// The same, for as long as this process lives.
    pub(crate) fn leak(self) -> Calls {
        self.kept(|calls| {
            &*Vec::leak(calls.into_iter().map(|call| call.kept(|name| &*name.leak())).collect())
        })
    }
}

impl<List> Calls<List> {
    /// The same, with its lists kept in another way.
    fn kept<L>(self, list: impl Fn(List) -> L) -> Calls<L> {
        let Calls { send, receive, ring, wait } = self;
        Calls { send: list(send), receive: list(receive), ring: list(ring), wait: list(wait) }
    }
}

impl<Text> Call<Text> {
    /// The same, with its name kept in another way.
    fn kept<T>(self, name_kept: impl FnOnce(Text) -> T) -> Call<T> {
        match self {
            Call::Once(name) => Call::Once(name_kept(name)),
            Call::AtMostOnce(name) => Call::AtMostOnce(name_kept(name)),
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
