//! The CPUs on which the roles run.

use crate::name::InvalidName;
use crate::topology::RelatedPair;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The CPUs on which the roles run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Placement {
    /// Two physical cores, one for all initiators and one for all responders.
    OtherCore,
    /// All on one CPU.
    SameCore,
    /// Both ends in one process: nothing waits and no process is woken, so only the mechanism's calls are measured.
    OneProcess,
    /// Not pinned: the scheduler chooses the CPUs, as for most programs.
    Free,
    /// All parties in turn over all CPUs, each core once before any core twice.
    Spread,
    /// Both roles of a pair on one CPU, and the pairs over all CPUs.
    Packed,
    /// Each role on a separate host, not pinned.
    OtherHost,
    /// Two CPUs with a relation, one for all initiators and one for all responders.
    Related(RelatedPair),
    /// Initiators on the first CPU, responders on the second, by the kernel's numbers.
    Explicit(usize, usize),
    /// All parties in turn over these CPUs.
    List(ProcessorList),
}

/// Three or more CPUs, by the kernel's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessorList {
    numbers: [u16; ProcessorList::MOST],
    count: u8,
}

impl ProcessorList {
    /// Maximum length of a list.
    pub const MOST: usize = 64;

    fn of(numbers: &[u16]) -> Option<ProcessorList> {
        let mut all = [0; Self::MOST];
        all.get_mut(..numbers.len())?.copy_from_slice(numbers);
        Some(ProcessorList { numbers: all, count: numbers.len() as u8 })
    }

    /// Returns the numbers in the order in which they are assigned to parties.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.numbers[..self.count as usize].iter().map(|number| usize::from(*number))
    }
}

impl Placement {
    /// Returns whether the roles of each pair have separate CPUs; `None` if the scheduler decides.
    pub fn has_two_processors(self) -> Option<bool> {
        match self {
            Placement::OtherCore | Placement::Related(_) | Placement::Spread => Some(true),
            Placement::SameCore | Placement::OneProcess | Placement::Packed => Some(false),
            Placement::Free | Placement::OtherHost => None,
            Placement::Explicit(initiator, responder) => Some(initiator != responder),
            Placement::List(list) => {
                let numbers: Vec<_> = list.numbers().collect();
                Some(numbers.chunks(2).all(|pair| pair[0] != *pair.last().unwrap_or(&numbers[0])))
            }
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::OtherCore => f.pad("other-core"),
            Placement::SameCore => f.pad("same-core"),
            Placement::OneProcess => f.pad("one-process"),
            Placement::Free => f.pad("free"),
            Placement::Spread => f.pad("spread"),
            Placement::Packed => f.pad("packed"),
            Placement::OtherHost => f.pad("host"),
            Placement::Related(pair) => f.pad(pair.name()),
            Placement::Explicit(initiator, responder) => f.pad(&format!("{initiator}:{responder}")),
            Placement::List(list) => {
                let numbers: Vec<_> = list.numbers().map(|number| number.to_string()).collect();
                f.pad(&numbers.join(":"))
            }
        }
    }
}

impl FromStr for Placement {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let invalid = || {
            // A user requests another host with its name (--peer).
            let known = ["other-core", "same-core", "one-process", "free", "spread", "packed"];
            let related = RelatedPair::ALL.map(RelatedPair::name);
            let numbers = "A:B (two processor numbers, as 0:1, or more)";
            InvalidName::new("placement", text, known.into_iter().chain(related).chain([numbers]))
        };
        if let Ok(pair) = text.parse() {
            return Ok(Placement::Related(pair));
        }
        match text {
            "other-core" => Ok(Placement::OtherCore),
            "same-core" => Ok(Placement::SameCore),
            "one-process" => Ok(Placement::OneProcess),
            "free" => Ok(Placement::Free),
            "spread" => Ok(Placement::Spread),
            "packed" => Ok(Placement::Packed),
            "host" => Ok(Placement::OtherHost),
            _ => {
                let numbers: Vec<u16> =
                    text.split(':').map(str::parse).collect::<Result<_, _>>().map_err(|_| invalid())?;
                match numbers[..] {
                    [] | [_] => Err(invalid()),
                    [initiator, responder] => Ok(Placement::Explicit(initiator.into(), responder.into())),
                    _ => ProcessorList::of(&numbers).map(Placement::List).ok_or_else(invalid),
                }
            }
        }
    }
}

impl Serialize for Placement {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Placement {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_read_back_as_written() {
        for text in [
            "other-core",
            "same-core",
            "one-process",
            "free",
            "spread",
            "packed",
            "host",
            "smt",
            "l3",
            "node",
            "far",
            "0:1",
            "13:7",
            "0:1:0:3",
        ] {
            assert_eq!(text.parse::<Placement>().unwrap().to_string(), text);
        }
        let too_many = ["1"; ProcessorList::MOST + 1].join(":");
        for text in ["", "0", "0:", ":1", "a:b", "0:1:", "0::1", "-1:0", "0:70000", "SMT", &too_many] {
            assert!(text.parse::<Placement>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_list_gives_pairs_two_processors_or_one() {
        let two = |text: &str| text.parse::<Placement>().unwrap().has_two_processors();
        assert_eq!(
            [two("0:1:2:3"), two("0:0:1:1"), two("1:1"), two("smt"), two("free"), two("host")],
            [Some(true), Some(false), Some(false), Some(true), None, None]
        );
    }
}
