//! Damages text like a fuzzer: invalid or misplaced values, and lines or bytes that are missing, repeated or foreign. The
//! same seed damages the same text in the same way.

use fastrand::Rng;
use std::ops::Range;

/// Values that replace another value.
const VALUES: [&str; 28] = [
    "-1",
    "0",
    "1",
    "0.5",
    "1e308",
    "-1e308",
    "1e-308",
    "1e999",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "null",
    "true",
    "NaN",
    "inf",
    "[]",
    "{}",
    "\"\"",
    "\"../../../../etc/passwd\"",
    "\"\\u001b[2J\\u202e\\u0000\"",
    "\"<script>|`%n%s\"",
    "\"furlong-\"",
    "\"\u{1f4a5}\"",
];

/// Pieces that are inserted at any place.
const PIECES: [&str; 8] = ["\"", "{", "}", "[", "]", "\\", "\n", "="];

/// Maximum size of repeated lines, in bytes.
const MOST_REPEATED: usize = 1 << 20;

/// Returns the text with one to three damages.
pub fn damaged(text: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Rng::with_seed(seed);
    let mut bytes = text.to_vec();
    for _ in 0..=random.usize(..3) {
        damage(&mut bytes, &mut random);
    }
    bytes
}

fn damage(bytes: &mut Vec<u8>, random: &mut Rng) {
    let at = random.usize(..bytes.len().max(1));
    match random.usize(..16) {
        // Most of these texts still parse, so that they test the checks of the values.
        0..7 => {
            let values = values(bytes);
            let place = if values.is_empty() { at..at } else { values[random.usize(..values.len())].clone() };
            let value = match random.usize(..10) {
                0 => format!("\"{}\"", "a".repeat(1 << 17)).into_bytes(),
                1 => "[".repeat(100_000).into_bytes(),
                // A value from the same text has a valid type in the wrong place.
                2..4 if !values.is_empty() => bytes[values[random.usize(..values.len())].clone()].to_vec(),
                _ => random.choice(VALUES).unwrap_or_default().as_bytes().to_vec(),
            };
            bytes.splice(place, value);
        }
        7..11 => {
            let mut lines: Vec<Vec<u8>> =
                bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let (one, other) = (random.usize(..lines.len().max(1)), random.usize(..lines.len().max(1)));
            match random.usize(..4) {
                _ if lines.is_empty() => {}
                0 => drop(lines.remove(one)),
                1 => lines.swap(one, other),
                2 => lines.insert(other, lines[one].clone()),
                _ => {
                    let times = 500.min(MOST_REPEATED / lines[one].len().max(1));
                    let repeated = vec![lines[one].clone(); times];
                    drop(lines.splice(one..one, repeated));
                }
            }
            *bytes = lines.concat();
        }
        11 => bytes.truncate(at),
        12 => drop(bytes.drain(at..(at + 1 + random.usize(..40)).min(bytes.len()).max(at))),
        13 if !bytes.is_empty() => bytes[at] ^= 1 << random.usize(..8),
        14 => drop(bytes.splice(at..at, [0xff, 0xfe, 0x00, 0x1b])),
        _ => drop(bytes.splice(at..at, random.choice(PIECES).unwrap_or_default().bytes())),
    }
}

/// Returns the places of numbers and quoted texts.
fn values(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest[0] {
            b'"' => rest[1..].iter().position(|byte| *byte == b'"').map_or(1, |end| end + 2),
            b'-' | b'0'..=b'9' => rest
                .iter()
                .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'_'))
                .count(),
            _ => {
                at += 1;
                continue;
            }
        };
        found.push(at..at + length);
        at += length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"{\"a\":[1,-2.5e3],\"b\":\"text\"}\nsize = \"4MiB\"\n";

    #[test]
    fn values_are_numbers_and_texts() {
        let found: Vec<&[u8]> = values(TEXT).into_iter().map(|range| &TEXT[range]).collect();
        let expected: [&[u8]; 6] = [b"\"a\"", b"1", b"-2.5e3", b"\"b\"", b"\"text\"", b"\"4MiB\""];
        assert_eq!(found, expected);
    }

    #[test]
    fn each_seed_damages_in_its_own_way_and_always_the_same() {
        let all: Vec<Vec<u8>> = (0..300).map(|seed| damaged(TEXT, seed)).collect();
        assert_eq!(all, (0..300).map(|seed| damaged(TEXT, seed)).collect::<Vec<_>>());
        let mut apart = all.clone();
        apart.sort();
        apart.dedup();
        assert!(apart.len() > 200, "{}", apart.len());
        assert!(all.iter().filter(|bytes| *bytes == TEXT).count() < 20);
        // An empty text must not cause a panic.
        assert!(
            (0..300).all(|seed| damaged(TEXT, seed).len() < 5 << 20 && damaged(b"", seed).len() < 5 << 20)
        );
    }
}
