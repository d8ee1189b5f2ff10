//! Which look a row has: the same in all charts, of all runs.

use furlong_model::Wait;

/// As many mechanisms look different: the colours there are, each with every dash.
pub const MECHANISMS: usize = 24;

/// Where the hash begins. With this one the mechanisms that programs commonly use all look different, and the most common of
/// them have colours of their own.
const BEGINNING: u32 = 59_322;

/// How a series looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The colour, mark and dash of this number.
    Bright(usize),
    /// As the number before, with a dashed line and a hollow mark: what is compared with.
    Hollow(usize),
    /// The colour of this number, with another mark and dash for each variant.
    Variant(usize, usize),
    /// A sample for points that have looks of their own, filled or hollow.
    Sample {
        /// The number of the mark that they have in common, whatever their looks say; their own marks if not given.
        mark: Option<usize>,
        /// Whether marks are outlines.
        hollow: bool,
    },
    /// In the background.
    Muted,
}

/// The look of a row (`mechanism/wait`): a number by the mechanism's name alone, and a variant by the wait. There are more
/// mechanisms than looks, so two that are rarely met side by side may share one; marks and names tell them apart.
pub fn look_of(row: &str) -> Look {
    let (mechanism, wait) = row.rsplit_once('/').unwrap_or((row, ""));
    Look::Variant(number(mechanism), variant(wait))
}

/// The same as a point that is compared with others of its mechanism: whatever the wait.
pub fn hollow_look_of(row: &str) -> Look {
    let (mechanism, _) = row.rsplit_once('/').unwrap_or((row, ""));
    Look::Hollow(number(mechanism))
}

/// FNV-1a.
fn number(mechanism: &str) -> usize {
    let hash =
        mechanism.bytes().fold(BEGINNING, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    // The higher bits: the lower ones of names that differ in a letter are alike.
    ((u64::from(hash) * MECHANISMS as u64) >> 32) as usize
}

fn variant(wait: &str) -> usize {
    Wait::ALL.iter().position(|known| known.name() == wait).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Those of the quick set, the most common ones first.
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
        // What nobody knows has a look too.
        assert_eq!(look_of("an-adapter"), look_of("an-adapter/own-wait"));
    }
}
