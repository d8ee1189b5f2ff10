//! The two ends of an exchange, the parties at each end, and the phases of a trial.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize, de::Error};
use std::fmt;

named_enum! {
    /// The end of a process in an exchange.
    Role {
        /// Sends first and holds the clock.
        Initiator = "initiator",
        /// Answers the initiator.
        Responder = "responder",
    }
}

impl Role {
    /// Returns the other end.
    #[inline]
    pub const fn peer(self) -> Role {
        match self {
            Role::Initiator => Role::Responder,
            Role::Responder => Role::Initiator,
        }
    }

    /// Returns 0 for the initiator and 1 for the responder.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A process of an exchange: its end and its number at that end. In records `responder 3`, or `responder` if it is the
/// only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Party {
    /// The end.
    pub role: Role,
    /// Number from 1 if there are several parties at this end; 0 for the only one.
    pub number: u32,
}

impl Party {
    /// The two parties of a single pair, the initiator first.
    pub const PAIR: [Party; 2] = [Party::of(Role::Initiator, 0, 1), Party::of(Role::Responder, 0, 1)];

    /// Returns the party with this index, from 0, of `several` parties at this end.
    pub const fn of(role: Role, index: u32, several: u32) -> Party {
        Party { role, number: if several > 1 { index + 1 } else { 0 } }
    }

    /// Returns its index among the parties at its end, from 0.
    pub const fn index(self) -> usize {
        self.number.saturating_sub(1) as usize
    }
}

impl From<Role> for Party {
    /// Returns the only party at an end.
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
        role.zip(number.ok()).map(|(role, number)| Party { role, number }).ok_or_else(|| {
            D::Error::custom(format!(
                "'{text}' is not a party: write initiator or responder, with a number if there are several, as in \
                 responder 3"
            ))
        })
    }
}

named_enum! {
    /// The phases of a trial, in order.
    Phase {
        /// The supervisor creates the link.
        Create = "create",
        /// The processes start, pin themselves and open their ends.
        Open = "open",
        /// Every byte of every message is checked, and nothing is timed.
        Verify = "verify",
        /// The measured loop runs until its pace is steady. Its times are discarded.
        WarmUp = "warm-up",
        /// The measured loop.
        Timed = "timed",
        /// The processes report and exit.
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
