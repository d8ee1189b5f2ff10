//! Records a histogram and writes it in the format that [`super::Distribution`] reads. The histogram crate would add a
//! parser for writing, which takes longer to compile than this crate.

use super::{COMPRESSED_COOKIE, COOKIE, HEADER_BYTES, Layout};
use base64::{Engine, engine::general_purpose::STANDARD};
use miniz_oxide::deflate::compress_to_vec_zlib;
use std::io;

/// Default compression level of zlib.
const COMPRESSION: u8 = 6;

/// Range and resolution of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistogramRange {
    /// Lowest value that is distinct from zero, in nanoseconds.
    pub lowest: u64,
    /// Highest value that the histogram distinguishes from larger values, in nanoseconds.
    pub highest: u64,
    /// Significant digits.
    pub digits: u32,
}

/// Counts of values by bucket.
#[derive(Debug, Clone)]
pub struct HistogramRecorder {
    range: HistogramRange,
    layout: Layout,
    counts: Vec<u64>,
}

impl HistogramRecorder {
    /// Creates an empty histogram and allocates all its memory.
    ///
    /// # Errors
    /// Returns `InvalidInput` for a range that [`super::Distribution`] would reject.
    pub fn new(range: HistogramRange) -> io::Result<Self> {
        let layout = Layout::of(range.lowest, range.highest, range.digits);
        let layout = layout.ok_or(io::ErrorKind::InvalidInput)?;
        let buckets = layout.index(layout.end - 1) + 1;
        Ok(HistogramRecorder { range, layout, counts: vec![0; buckets as usize] })
    }

    /// Counts a value. A value after the last bucket counts as the highest of the range.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_several(value, 1);
    }

    #[inline]
    fn record_several(&mut self, value: u64, count: u64) {
        let value = if value < self.layout.end { value } else { self.range.highest };
        self.counts[self.layout.index(value) as usize] += count;
    }

    /// Returns whether no value was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }

    /// Encodes the counts: HdrHistogram V2 with deflate, in base64.
    pub fn encode(&self) -> String {
        let (mut payload, mut empty) = (Vec::new(), 0);
        for &count in &self.counts {
            if count == 0 {
                empty += 1;
                continue;
            }
            match empty {
                0 => {}
                1 => put(&mut payload, 0),
                // A negative number is a number of empty buckets.
                _ => put(&mut payload, -empty),
            }
            put(&mut payload, count as i64);
            empty = 0;
        }
        framed(self.range, &payload)
    }
}

/// Encodes values with their counts in the format of [`HistogramRecorder`].
///
/// # Errors
/// Returns `InvalidInput` for a range that [`super::Distribution`] would reject.
pub fn encode(range: HistogramRange, counts: impl Iterator<Item = (u64, u64)>) -> io::Result<String> {
    let mut recorder = HistogramRecorder::new(range)?;
    counts.for_each(|(value, count)| recorder.record_several(value, count));
    Ok(recorder.encode())
}

/// Adds the header to encoded counts, compresses both and encodes the result as base64.
fn framed(HistogramRange { lowest, highest, digits }: HistogramRange, payload: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
    [COOKIE, payload.len() as u32, 0, digits].iter().for_each(|word| bytes.extend(word.to_be_bytes()));
    [lowest, highest, 1.0_f64.to_bits()].iter().for_each(|long| bytes.extend(long.to_be_bytes()));
    bytes.extend(payload);
    let packed = compress_to_vec_zlib(&bytes, COMPRESSION);
    let frame = [COMPRESSED_COOKIE, packed.len() as u32].map(u32::to_be_bytes);
    STANDARD.encode([frame.as_flattened(), &packed].concat())
}

/// Appends a number in the format that [`super::number`] reads.
fn put(bytes: &mut Vec<u8>, number: i64) {
    let mut packed = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if packed < 0x80 {
            break;
        }
        bytes.push(packed as u8 | 0x80);
        packed >>= 7;
    }
    bytes.push(packed as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn recorder_and_crate_write_the_same_bytes(
            samples in proptest::collection::vec((0_u32..50, any::<u64>(), 1_u64..1 << 40), 1..200),
            digits in 0_u8..5, lowest in 1_u64..5000, highest in 10_000_u64..1 << 42,
        ) {
            let mut histogram = Histogram::<u64>::new_with_bounds(lowest, highest, digits).unwrap();
            let range = HistogramRange { lowest, highest, digits: digits.into() };
            let mut recorder = HistogramRecorder::new(range).unwrap();
            for (bits, value, count) in samples {
                let value = value % (1 << bits);
                histogram.saturating_record_n(value, count);
                histogram.saturating_record(value);
                recorder.record_several(value, count);
                recorder.record(value);
            }
            let mut packed = Vec::new();
            V2DeflateSerializer::new().serialize(&histogram, &mut packed).unwrap();
            let counts = histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()));
            prop_assert_eq!(&encode(range, counts).unwrap(), &STANDARD.encode(&packed));
            prop_assert_eq!(recorder.encode(), STANDARD.encode(packed));
        }

        #[test]
        fn numbers_are_read_as_they_were_written(number in any::<i64>(), bits in 0_u32..64) {
            let mut bytes = Vec::new();
            put(&mut bytes, number >> bits);
            let mut rest = &bytes[..];
            prop_assert_eq!((super::super::number(&mut rest), rest.len()), (Some(number >> bits), 0));
        }
    }

    #[test]
    fn a_range_that_cannot_be_read_is_not_written() {
        let range = HistogramRange { lowest: 0, highest: 1000, digits: 3 };
        assert!(encode(range, std::iter::empty()).is_err());
    }
}
