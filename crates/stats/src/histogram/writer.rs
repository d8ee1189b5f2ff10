//! Writes a histogram as [`super::Distribution`] reads it. The histogram crate would bring a parser along for that, which takes
//! longer to compile than this crate.

use super::{COMPRESSED_COOKIE, COOKIE, HEADER_BYTES, Layout};
use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::ZlibEncoder};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What a histogram tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistogramRange {
    /// The lowest value that is told from zero, in nanoseconds.
    pub lowest: u64,
    /// The highest value that is told from higher ones, in nanoseconds.
    pub highest: u64,
    /// Significant digits.
    pub digits: u32,
}

/// Values, each with how many there are, as a histogram: HdrHistogram V2 with deflate, in base64. The highest bucket takes what
/// is above it.
///
/// # Errors
/// A range that [`super::Distribution`] would refuse.
pub fn encode(range: HistogramRange, counts: impl Iterator<Item = (u64, u64)>) -> io::Result<String> {
    let HistogramRange { lowest, highest, digits } = range;
    let layout = Layout::of(lowest, highest, digits).ok_or(io::ErrorKind::InvalidInput)?;
    let mut by_bucket: BTreeMap<u64, u64> = BTreeMap::new();
    for (value, count) in counts {
        *by_bucket.entry(layout.index(value.min(layout.end - 1))).or_default() += count;
    }
    let (mut payload, mut next) = (Vec::new(), 0);
    for (index, count) in by_bucket {
        match index - next {
            0 => {}
            1 => put(&mut payload, 0),
            // A negative number is that of empty buckets.
            empty => put(&mut payload, -(empty as i64)),
        }
        put(&mut payload, count as i64);
        next = index + 1;
    }
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
    [COOKIE, payload.len() as u32, 0, digits].iter().for_each(|word| bytes.extend(word.to_be_bytes()));
    [lowest, highest, 1.0_f64.to_bits()].iter().for_each(|long| bytes.extend(long.to_be_bytes()));
    bytes.extend(payload);
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&bytes)?;
    let packed = packer.finish()?;
    let frame = [COMPRESSED_COOKIE, packed.len() as u32].map(u32::to_be_bytes);
    Ok(STANDARD.encode([frame.as_flattened(), &packed].concat()))
}

/// Appends a number, as [`super::number`] takes it off.
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
        fn it_writes_what_the_crate_writes(
            samples in proptest::collection::vec((0_u32..50, any::<u64>(), 1_u64..1 << 40), 1..200),
            digits in 0_u8..5, lowest in 1_u64..5000,
        ) {
            let highest = 1_000_000_000_000;
            let mut histogram = Histogram::<u64>::new_with_bounds(lowest, highest, digits).unwrap();
            for (bits, value, count) in samples {
                histogram.saturating_record_n(value % (1 << bits), count);
            }
            let mut packed = Vec::new();
            V2DeflateSerializer::new().serialize(&histogram, &mut packed).unwrap();
            let counts = histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()));
            let range = HistogramRange { lowest, highest, digits: digits.into() };
            prop_assert_eq!(encode(range, counts).unwrap(), STANDARD.encode(packed));
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
