//! Reader of the stored histogram of one trial, which treats it as untrusted data.
//!
//! A record may come from an untrusted source. The histogram crate would allocate the memory that a header requests, and
//! visit every bucket up to the highest value, although most are empty. This module therefore has its own reader. The
//! format is documented in
//! <https://github.com/HdrHistogram/HdrHistogram/blob/master/src/main/java/org/HdrHistogram/AbstractHistogram.java> and in
//! ZigZagEncoding.java in the same directory.

mod writer;

use base64::{Engine, engine::general_purpose::STANDARD};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};
use std::sync::Arc;
pub use writer::{HistogramRange, HistogramRecorder, encode};

/// Maximum size of the base64 text of one histogram, in bytes. A typical one has a few thousand.
const MAX_TEXT_BYTES: usize = 2 << 20;
/// Maximum size of an inflated histogram, in bytes: 54 times 1,024 counts of 9 bytes are half a MiB.
const MAX_INFLATED_BYTES: usize = 4 << 20;
/// Maximum number of significant digits.
const MAX_DIGITS: u32 = 4;
/// Largest trackable value, in nanoseconds: 146 years, and no sum of two can overflow.
const MAX_VALUE_NS: u64 = 1 << 62;
/// Maximum number of samples. A larger count is not exact as a float.
const MAX_SAMPLES: u64 = 1 << 53;

const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
const COOKIE: u32 = 0x1c84_9313;
/// Size of the header in bytes: cookie, payload length, offset, digits, lowest value, highest value, ratio.
const HEADER_BYTES: usize = 40;

/// Error of a stored histogram that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its histogram cannot be read: {0}")]
pub struct HistogramError(String);

impl HistogramError {
    fn new(reason: impl ToString) -> Self {
        HistogramError(reason.to_string())
    }
}

/// Times of one trial's samples, as values with counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Middle of each bucket in nanoseconds, ascending, and its count above zero. Copies share them.
    buckets: Arc<[(f64, u64)]>,
    samples: u64,
    max_ns: f64,
}

impl Distribution {
    /// Decodes `Measurement::histogram`: HdrHistogram V2 with deflate, in base64. It requires at least one sample.
    pub fn decode(text: &str) -> Result<Self, HistogramError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(HistogramError::new(format_args!("it is longer than {MAX_TEXT_BYTES} bytes")));
        }
        let bytes = STANDARD.decode(text).map_err(HistogramError::new)?;
        let inflated = inflate(&bytes)?;
        Self::from_counts(&inflated)
    }

    fn from_counts(inflated: &[u8]) -> Result<Self, HistogramError> {
        let (layout, mut counts) = header(inflated)?;
        let (mut buckets, mut samples, mut max_ns, mut index) = (Vec::new(), 0_u64, 0, 0_u64);
        while !counts.is_empty() {
            let count = number(&mut counts).ok_or_else(|| HistogramError::new("a count is cut short"))?;
            // A negative number is a number of empty buckets.
            let more = count.min(-1).unsigned_abs() - 1;
            let last = index.checked_add(more).ok_or_else(impossible)?;
            let (lowest, width) = layout.bucket(last).ok_or_else(impossible)?;
            if count > 0 {
                buckets.push(((lowest + width / 2) as f64, count as u64));
                samples = samples.saturating_add(count as u64);
                max_ns = lowest + width - 1;
            }
            index = last + 1;
        }
        if samples == 0 || samples > MAX_SAMPLES {
            return Err(HistogramError::new(format_args!("it holds {samples} samples")));
        }
        Ok(Distribution { buckets: buckets.into(), samples, max_ns: max_ns as f64 })
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Returns the middle of each bucket in nanoseconds, ascending, with its count above zero.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.buckets.iter().copied()
    }

    /// Returns the middle of each bucket in nanoseconds, ascending, with its share of the samples.
    pub fn shares(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.buckets.iter().map(|&(value, count)| (value, count as f64 / self.samples as f64))
    }

    /// Returns the smallest time, in nanoseconds, that at least half of the samples do not exceed.
    pub fn median_ns(&self) -> f64 {
        self.quantile_ns(0.5)
    }

    /// Returns the smallest time, in nanoseconds, that this share of the samples does not exceed.
    pub fn quantile_ns(&self, share: f64) -> f64 {
        let wanted = (self.samples as f64 * share).ceil() as u64;
        let mut below = 0;
        let found = self.buckets.iter().find(|(_, count)| {
            below += count;
            below >= wanted
        });
        found.map_or(self.max_ns, |(value, _)| *value)
    }

    /// Returns the shortest sample, in nanoseconds.
    pub fn min_ns(&self) -> f64 {
        self.buckets.first().map_or(self.max_ns, |(value, _)| *value)
    }

    /// Returns the mean in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.shares().map(|(value, share)| value * share).sum()
    }

    /// Returns the variance in square nanoseconds.
    pub fn variance_ns2(&self) -> f64 {
        let mean = self.mean_ns();
        self.shares().map(|(value, share)| (value - mean).powi(2) * share).sum()
    }

    /// Returns the longest sample, in nanoseconds.
    pub fn max_ns(&self) -> f64 {
        self.max_ns
    }
}

/// Removes the outer frame (cookie, length) and inflates the rest, up to [`MAX_INFLATED_BYTES`].
fn inflate(bytes: &[u8]) -> Result<Vec<u8>, HistogramError> {
    let (frame, packed) = bytes.split_at_checked(8).ok_or_else(|| HistogramError::new("it is cut short"))?;
    if frame[..4] != COMPRESSED_COOKIE.to_be_bytes() {
        return Err(HistogramError::new("it is not an HdrHistogram V2 with deflate"));
    }
    decompress_to_vec_zlib_with_limit(packed, MAX_INFLATED_BYTES).map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => {
            HistogramError::new(format_args!("it inflates to more than {MAX_INFLATED_BYTES} bytes"))
        }
        _ => HistogramError::new(error),
    })
}

/// Layout of the buckets. Each of the first `2 << half_bits` buckets is one unit wide. Afterwards the width doubles after
/// every `1 << half_bits` buckets.
#[derive(Debug, Clone)]
struct Layout {
    /// Binary logarithm of a unit, in nanoseconds.
    unit_bits: u32,
    half_bits: u32,
    /// Power of two that all values are below.
    end: u64,
}

impl Layout {
    /// Returns the layout for values in this range; `None` beyond the range that furlong writes.
    fn of(lowest: u64, highest: u64, digits: u32) -> Option<Self> {
        if digits > MAX_DIGITS || highest > MAX_VALUE_NS || !(1..=highest / 2).contains(&lowest) {
            return None;
        }
        // Number of unit-wide buckets that distinguish twice the values of the digits, rounded up to a power of two.
        let half_bits = (2 * 10_u64.pow(digits)).next_power_of_two().ilog2() - 1;
        let unit_bits = lowest.ilog2();
        if unit_bits + half_bits > 61 {
            return None;
        }
        // The remaining buckets contain values above the highest.
        let end = (highest + 1).next_power_of_two().max(2 << (unit_bits + half_bits));
        Some(Layout { unit_bits, half_bits, end })
    }

    /// Returns the bucket of a value.
    #[inline]
    fn index(&self, value: u64) -> u64 {
        let units = value >> self.unit_bits;
        let doubled = units.max(1).ilog2().saturating_sub(self.half_bits);
        (u64::from(doubled) << self.half_bits) + (units >> doubled)
    }

    /// Returns the lowest value and the width of a bucket; `None` after the last bucket.
    fn bucket(&self, index: u64) -> Option<(u64, u64)> {
        let doubled = (index >> self.half_bits).saturating_sub(1);
        let within = index - (doubled << self.half_bits);
        let width_bits = self.unit_bits.checked_add(u32::try_from(doubled).ok()?)?;
        let width = 1_u64.checked_shl(width_bits)?;
        let lowest = within.checked_mul(width)?;
        (lowest < self.end).then_some((lowest, width))
    }
}

/// Removes the header and checks that furlong writes such headers. Returns the layout and the counts.
fn header(inflated: &[u8]) -> Result<(Layout, &[u8]), HistogramError> {
    let (header, payload) = inflated
        .split_at_checked(HEADER_BYTES)
        .ok_or_else(|| HistogramError::new("its header is cut short"))?;
    let word = |at: usize| u32::from_be_bytes(std::array::from_fn(|byte| header[at + byte]));
    let long = |at: usize| u64::from_be_bytes(std::array::from_fn(|byte| header[at + byte]));
    let (cookie, payload_bytes, offset, digits) = (word(0), word(4), word(8), word(12));
    let (lowest, highest) = (long(16), long(24));
    if cookie != COOKIE || offset != 0 {
        return Err(HistogramError::new("it is not an HdrHistogram V2"));
    }
    let counts = payload
        .get(..payload_bytes as usize)
        .ok_or_else(|| HistogramError::new("its counts are cut short"))?;
    let layout = Layout::of(lowest, highest, digits).ok_or_else(|| {
        HistogramError::new(format_args!("it claims {digits} digits for values from {lowest} to {highest}"))
    })?;
    Ok((layout, counts))
}

/// Removes the next number: seven bits in each byte, the lowest first, and eight in a ninth. The sign is the lowest bit.
fn number(bytes: &mut &[u8]) -> Option<i64> {
    let mut packed = 0;
    for place in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = if place < 8 { byte & 0x7f } else { *byte };
        packed |= u64::from(bits) << (7 * place);
        if *byte < 0x80 {
            break;
        }
    }
    Some((packed >> 1) as i64 ^ -((packed & 1) as i64))
}

fn impossible() -> HistogramError {
    HistogramError::new("it holds an impossible count")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::encode;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    use miniz_oxide::deflate::compress_to_vec_zlib;
    use proptest::prelude::*;

    /// Returns a frame around any inflated bytes, like a malicious writer.
    fn frame(inflated: &[u8]) -> String {
        let packed = compress_to_vec_zlib(inflated, 6);
        let mut bytes = COMPRESSED_COOKIE.to_be_bytes().to_vec();
        bytes.extend((packed.len() as u32).to_be_bytes());
        bytes.extend(packed);
        STANDARD.encode(bytes)
    }

    /// Returns a V2 header with these claims, followed by `payload`.
    fn claims(payload_bytes: u32, digits: u32, lowest: u64, highest: u64, payload: &[u8]) -> String {
        let mut bytes = 0x1c84_9313_u32.to_be_bytes().to_vec();
        bytes.extend(payload_bytes.to_be_bytes());
        bytes.extend(0_u32.to_be_bytes());
        bytes.extend(digits.to_be_bytes());
        bytes.extend(lowest.to_be_bytes());
        bytes.extend(highest.to_be_bytes());
        bytes.extend(1.0_f64.to_be_bytes());
        bytes.extend(payload);
        frame(&bytes)
    }

    #[test]
    fn reads_what_the_serializer_wrote() {
        let read = Distribution::decode(&encode([100, 100, 200, 400])).unwrap();
        assert_eq!((read.median_ns(), read.mean_ns(), read.max_ns()), (100.0, 200.0, 400.0));
        assert_eq!(read.variance_ns2(), 15_000.0);
        assert_eq!(read.shares().collect::<Vec<_>>(), [(100.0, 0.5), (200.0, 0.25), (400.0, 0.25)]);
    }

    #[test]
    fn hostile_histograms_are_refused_with_a_reason() {
        let bomb = frame(&vec![0; 64 << 20]);
        let minimum = [0xff; 9];
        let huge = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        for (text, reason) in [
            (String::new(), "cut short"),
            ("not base64!".into(), "Invalid"),
            (STANDARD.encode([0; 64]), "not an HdrHistogram"),
            (encode([]), "0 samples"),
            (bomb, "inflates to more than"),
            (claims(u32::MAX, 3, 1, 1_000_000, &[]), "counts are cut short"),
            (claims(0, 5, 1, MAX_VALUE_NS, &[]), "5 digits"),
            (claims(0, 3, 0, 1000, &[]), "from 0"),
            (claims(0, 3, 900, 1000, &[]), "from 900"),
            (claims(0, 3, 1, u64::MAX, &[]), "to 18446744073709551615"),
            (claims(9, 3, 1, 1000, &minimum), "impossible count"),
            (claims(10, 3, 1, 1000, &[&[2][..], &minimum].concat()), "impossible count"),
            (claims(10, 3, 1, 1000, &[&minimum[..], &[2]].concat()), "impossible count"),
            (claims(27, 3, 1, 1000, &huge.repeat(3)), "samples"),
            ("A".repeat(MAX_TEXT_BYTES + 4), "longer than"),
        ] {
            let error = Distribution::decode(&text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error} should say {reason}");
        }
    }

    proptest! {
        #[test]
        fn it_is_read_as_the_crate_reads_it(
            bits in proptest::collection::vec((0_u32..50, any::<u64>()), 1..200), digits in 1_u8..5, lowest in 1_u64..5000,
        ) {
            let highest = 1_000_000_000_000;
            let mut written = Histogram::<u64>::new_with_bounds(lowest, highest, digits).unwrap();
            for (bits, value) in bits {
                written.saturating_record(value % (1 << bits));
            }
            let mut packed = Vec::new();
            V2DeflateSerializer::new().serialize(&written, &mut packed).unwrap();
            let read = Distribution::decode(&STANDARD.encode(packed)).unwrap();
            let middle = |value| written.median_equivalent(value) as f64;
            let steps: Vec<_> =
                written.iter_recorded().map(|step| (middle(step.value_iterated_to()), step.count_at_value())).collect();
            prop_assert_eq!(read.buckets().collect::<Vec<_>>(), steps);
            // For zeros alone the crate returns zero, and otherwise the highest value equivalent to the largest one.
            let largest = written.highest_equivalent(written.max());
            prop_assert_eq!((read.samples(), read.max_ns()), (written.len(), largest as f64));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Distribution::decode(&frame(&bytes));
            let _ = Distribution::decode(&STANDARD.encode(&bytes));
        }

        #[test]
        fn no_payload_makes_it_panic(
            digits in 0_u32..6, highest in any::<u64>(),
            payload in proptest::collection::vec(prop_oneof![any::<u8>(), Just(0xff)], 0..64),
        ) {
            if let Ok(read) = Distribution::decode(&claims(payload.len() as u32, digits, 1, highest, &payload)) {
                prop_assert!(read.median_ns() <= read.max_ns() && read.mean_ns().is_finite());
            }
        }
    }
}
