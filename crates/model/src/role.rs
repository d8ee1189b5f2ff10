//! The two ends of an exchange, the parties at each, and the stages that they pass through.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize, de::Error};
use std::fmt;

named_enum! {
    /// Which end of the exchange a process is.
    Role {
        /// Sends first and holds the clock.
        Initiator = "initiator",
        /// Answers.
        Responder = "responder",
    }
}

impl Role {
    /// The other end.
    #[inline]
    pub const fn peer(self) -> Role {
        match self {
            Role::Initiator => Role::Responder,
            Role::Responder => Role::Initiator,
        }
    }

    /// 0 for the initiator, 1 for the responder.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A process of an exchange: its end, and which of those at that end it is. Written as `responder 3`, or `responder` where
/// it is the only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Party {
    /// Which end.
    pub role: Role,
    /// From 1 on where there are several at this end; 0 for the only one.
    pub number: u32,
}

impl Party {
    /// The two of a pair alone, the initiator first.
    pub const PAIR: [Party; 2] = [Party::of(Role::Initiator, 0, 1), Party::of(Role::Responder, 0, 1)];

    /// The one with this index, from 0 on, of `several` at this end.
    pub const fn of(role: Role, index: u32, several: u32) -> Party {
        Party { role, number: if several > 1 { index + 1 } else { 0 } }
    }

    /// Its place among those at its end, from 0 on.
    pub const fn index(self) -> usize {
        self.number.saturating_sub(1) as usize
    }
}

impl From<Role> for Party {
    /// The only one at an end.
    fn from(role: Role) -> Party {
        Party { role, number: 0 }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => self.role.fmt(f),
            number => f.pad(&format!("{} {number}", self.role)),
        }
    }
}

impl Serialize for Party {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Party {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (role, number) = text.split_once(' ').unwrap_or((&text, "0"));
        let role = Role::ALL.into_iter().find(|one| one.name() == role);
        let number = number.parse();
        role.zip(number.ok())
            .map(|(role, number)| Party { role, number })
            .ok_or_else(|| D::Error::custom(format!("'{text}' is no party: it is written as in responder 3")))
    }
}

named_enum! {
    /// The stages of a trial, in their order.
    Phase {
        /// The supervisor makes the link.
        Create = "create",
        /// The processes start, pin themselves and open their ends.
        Open = "open",
        /// Every byte of every message is checked; nothing is timed.
        Verify = "verify",
        /// The measured loop runs until its pace is steady; its times are thrown away.
        WarmUp = "warm-up",
        /// The measured loop.
        Timed = "timed",
        /// The processes report and leave.
        Finish = "finish",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parties_read_back_as_written() {
        for (party, written) in [
            (Party::from(Role::Responder), "\"responder\""),
            (Party::of(Role::Responder, 2, 4), "\"responder 3\""),
            (Party::of(Role::Initiator, 0, 1), "\"initiator\""),
        ] {
            assert_eq!(serde_json::to_string(&party).unwrap(), written);
            assert_eq!(serde_json::from_str::<Party>(written).unwrap(), party);
        }
        for text in ["\"\"", "\"observer\"", "\"responder x\"", "\"responder -1\"", "3"] {
            assert!(serde_json::from_str::<Party>(text).is_err(), "{text}");
        }
    }
}
