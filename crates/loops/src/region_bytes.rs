//! Writing and reading a stretch of the region one byte at a time, as the published programs do: the compiler makes no
//! wide accesses of it.

use furlong_model::Touch;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes between two notes of how far a role has come. A multiple of each step.
pub const STRETCH: usize = 1 << 20;

/// Odd, so that the values of neighbours differ in all their bits.
const BY_OFFSET: u64 = 0x9e37_79b9_7f4a_7c15;

/// Odd in the byte that is used: in 256 repetitions that follow each other no two give a byte the same value, so that
/// one which was not written again is always found.
const BY_REPETITION: u64 = 0x4f << 56;

/// The values of one repetition: a byte's is made of its offset, the repetition, and the trial's key.
#[derive(Debug, Clone, Copy)]
pub struct Values(u64);

impl Values {
    /// Those of one repetition of a trial with this key.
    pub fn new(key: u64, repetition: u32) -> Values {
        Values(key.wrapping_add(BY_REPETITION.wrapping_mul(u64::from(repetition))))
    }

    /// From which the value at `offset` and all behind it follow.
    pub fn state(self, offset: usize) -> u64 {
        self.0.wrapping_add(BY_OFFSET.wrapping_mul(offset as u64))
    }
}

const fn value(state: u64) -> u8 {
    (state >> 56) as u8
}

/// Writes the bytes of a stretch, whose first one has the value of the state.
pub type Write = fn(&[AtomicU8], u64);

/// Reads and compares them.
pub type Read = fn(&[AtomicU8], u64) -> Result<(), Mismatch>;

/// A byte that is not what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the stretch.
    pub offset: usize,
    /// What was written.
    pub expected: u8,
    /// What was read.
    pub found: u8,
}

/// How a region is touched.
#[derive(Debug, Clone, Copy)]
pub struct Accessor {
    /// From one byte that is touched to the next; the first lies so far behind the flag.
    pub step: usize,
    /// Writes a stretch.
    pub write: Write,
    /// Reads a stretch.
    pub read: Read,
}

impl Accessor {
    /// The way in which a case touches its region.
    pub fn of(touch: Touch) -> Accessor {
        match touch {
            Touch::Byte => Accessor { step: 1, write: write::<1>, read: read::<1> },
            Touch::Line => Accessor { step: 64, write: write::<64>, read: read::<64> },
        }
    }

    /// How many bytes of a region of `size_bytes` are touched beside the flag.
    pub fn touched(self, size_bytes: usize) -> usize {
        size_bytes.saturating_sub(1) / self.step
    }
}

fn write<const STEP: usize>(bytes: &[AtomicU8], mut state: u64) {
    let mut offset = 0;
    // The end of the stretch is looked for and not the number of bytes: so no access is checked twice.
    while let Some(byte) = bytes.get(offset) {
        byte.store(value(state), Ordering::Relaxed);
        state = state.wrapping_add(BY_OFFSET.wrapping_mul(STEP as u64));
        offset += STEP;
    }
}

fn read<const STEP: usize>(bytes: &[AtomicU8], mut state: u64) -> Result<(), Mismatch> {
    let mut offset = 0;
    while let Some(byte) = bytes.get(offset) {
        let (expected, found) = (value(state), byte.load(Ordering::Relaxed));
        if expected != found {
            return Err(Mismatch { offset, expected, found });
        }
        state = state.wrapping_add(BY_OFFSET.wrapping_mul(STEP as u64));
        offset += STEP;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(len: usize) -> Vec<AtomicU8> {
        (0..len).map(|_| AtomicU8::new(0)).collect()
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        for touch in [Touch::Byte, Touch::Line] {
            let (accessor, bytes) = (Accessor::of(touch), memory(1000));
            let state = Values::new(7, 3).state(0);
            (accessor.write)(&bytes, state);
            assert_eq!((accessor.read)(&bytes, state), Ok(()));
            bytes[128].fetch_xor(4, Ordering::Relaxed);
            assert_eq!((accessor.read)(&bytes, state).unwrap_err().offset, 128);
            // What the line does not touch it does not see.
            bytes[128].fetch_xor(4, Ordering::Relaxed);
            bytes[129].fetch_xor(4, Ordering::Relaxed);
            assert_eq!((accessor.read)(&bytes, state).is_ok(), touch == Touch::Line);
        }
    }

    #[test]
    fn a_byte_of_an_earlier_repetition_is_always_found() {
        for repetition in 0..512 {
            for earlier in u32::saturating_sub(repetition, 255)..repetition {
                for offset in [1, 64, 99_999] {
                    let at = |repetition| value(Values::new(5, repetition).state(offset));
                    assert_ne!(at(repetition), at(earlier));
                }
            }
        }
    }

    #[test]
    fn the_flag_is_not_handed_over() {
        let touched = |touch, size| Accessor::of(touch).touched(size);
        assert_eq!([0, 1, 2, 100].map(|size| touched(Touch::Byte, size)), [0, 0, 1, 99]);
        assert_eq!([1, 64, 65, 128, 129].map(|size| touched(Touch::Line, size)), [0, 0, 1, 1, 2]);
    }
}
