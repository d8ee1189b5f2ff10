//! The look of a benchmark, which is the same in all charts of all runs.

use furlong_model::Wait;

/// Number of different looks of mechanisms: six colours, each with four dash patterns.
pub const MECHANISMS: usize = 24;

/// Initial value of the hash. It was chosen so that the mechanisms that programs commonly use have 17 different looks,
/// and the six most common ones have six different colours.
const BEGINNING: u32 = 59_322;

/// Look of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Colour, mark and dash of this number.
    Bright(usize),
    /// Colour and mark of this number, with a dashed line and hollow marks, for a series that others are compared with.
    Hollow(usize),
    /// Colour of this number, with a different mark and dash for each variant.
    Variant(usize, usize),
    /// Look of a series whose points have individual looks; its marks are filled or hollow.
    Sample {
        /// Number of the mark that all its points have; `None` if each point keeps its individual mark.
        mark: Option<usize>,
        /// Whether marks are outlines.
        hollow: bool,
    },
    /// Background look.
    Muted,
}

/// Returns the look of a benchmark (`mechanism/wait`): the number depends on the name of the mechanism alone, the
/// variant on the wait strategy. There are more mechanisms than looks, so two mechanisms that rarely appear together
/// may share a number; their marks and names differ.
pub fn look_of(row: &str) -> Look {
    let (mechanism, wait) = row.rsplit_once('/').unwrap_or((row, ""));
    Look::Variant(number(mechanism), variant(wait))
}

/// Returns the look of a point that is compared with others of its mechanism. It does not depend on the wait strategy.
pub fn hollow_look_of(row: &str) -> Look {
    let (mechanism, _) = row.rsplit_once('/').unwrap_or((row, ""));
    Look::Hollow(number(mechanism))
}

/// Hashes a name with FNV-1a.
fn number(mechanism: &str) -> usize {
    let hash =
        mechanism.bytes().fold(BEGINNING, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    // The lower bits of the hash are similar for names that differ in one letter, so the higher bits are used.
    ((u64::from(hash) * MECHANISMS as u64) >> 32) as usize
}

fn variant(wait: &str) -> usize {
    Wait::ALL.iter().position(|known| known.name() == wait).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Mechanisms of the quick set, the most common ones first.
    const COMMON: [&str; 17] = [
        "pipe",
        "unix-stream",
        "socketpair",
        "tcp",
        "posix-mq",
        "posix-shm",
        "fifo",
        "unix-seqpacket",
        "unix-dgram",
        "udp",
        "sysv-mq",
        "memfd-shm",
        "sysv-shm",
        "file-shm",
        "anon-shm",
        "eventfd",
        "process-vm",
    ];

    #[test]
    fn common_mechanisms_look_different() {
        let numbers: BTreeSet<usize> = COMMON.map(number).into();
        assert_eq!(numbers.len(), COMMON.len(), "{:?}", COMMON.map(number));
        let colours: BTreeSet<usize> = COMMON[..6].iter().map(|name| number(name) % 6).collect();
        assert_eq!(colours.len(), 6, "{:?}", COMMON.map(number));
    }

    #[test]
    fn a_mechanism_has_one_number_however_it_waits() {
        let [block, spin] = ["pipe/block", "pipe/spin"].map(look_of);
        let (Look::Variant(one, 0), Look::Variant(other, 1)) = (block, spin) else {
            panic!("{block:?} {spin:?}")
        };
        assert_eq!(one, other);
        assert_eq!(hollow_look_of("pipe/spin"), Look::Hollow(one));
        // An unknown wait strategy has a look too.
        assert_eq!(look_of("an-adapter"), look_of("an-adapter/own-wait"));
    }
}
