//! Writing and reading a stretch of the region one byte at a time, as published benchmark programs do. The compiler does not
//! combine the accesses to wider ones.

use furlong_model::Touch;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes between two updates of a role's progress; a multiple of each step.
pub const STRETCH: usize = 1 << 20;

/// Multiplier with the top byte 0x9e, so that neighbouring bytes have different values.
const BY_OFFSET: u64 = 0x9e37_79b9_7f4a_7c15;

/// Multiplier with an odd top byte, so that a byte has a different value in each of 256 consecutive repetitions. A byte that
/// was not written again is therefore always found.
const BY_REPETITION: u64 = 0x4f << 56;

/// The values of one repetition. The value of a byte depends on its offset, the repetition, and the key of the trial.
#[derive(Debug, Clone, Copy)]
pub struct Values(u64);

impl Values {
    /// Returns the values of one repetition of a trial with this key.
    pub fn new(key: u64, repetition: u32) -> Values {
        Values(key.wrapping_add(BY_REPETITION.wrapping_mul(u64::from(repetition))))
    }

    /// Returns the state from which the value at `offset` and all following values are computed.
    pub fn state(self, offset: usize) -> u64 {
        self.0.wrapping_add(BY_OFFSET.wrapping_mul(offset as u64))
    }
}

const fn value(state: u64) -> u8 {
    (state >> 56) as u8
}

/// Function that writes the bytes of a stretch, the first of which has the value of the state.
pub type Write = fn(&[AtomicU8], u64);

/// Function that reads the bytes of a stretch and compares them.
pub type ReadFunction = fn(&[AtomicU8], u64) -> Result<(), Mismatch>;

/// A byte with an unexpected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset in the stretch.
    pub offset: usize,
    /// Value that was written.
    pub expected: u8,
    /// Value that was read.
    pub found: u8,
}

/// Accesses to a region.
#[derive(Debug, Clone, Copy)]
pub struct Accessor {
    /// Distance in bytes from one accessed byte to the next, and from the flag to the first.
    pub step: usize,
    /// Writes a stretch.
    pub write: Write,
    /// Reads a stretch.
    pub read: ReadFunction,
}

impl Accessor {
    /// Returns the accesses of a case to its region.
    pub fn of(touch: Touch) -> Accessor {
        match touch {
            Touch::Byte => Accessor { step: 1, write: write::<1>, read: read::<1> },
            Touch::Line => Accessor { step: 64, write: write::<64>, read: read::<64> },
        }
    }

    /// Returns how many bytes of a region of `size_bytes` are accessed, without the flag.
    pub fn touched(self, size_bytes: usize) -> usize {
        size_bytes.saturating_sub(1) / self.step
    }
}

fn write<const STEP: usize>(bytes: &[AtomicU8], mut state: u64) {
    let mut offset = 0;
    // The loop checks for the end of the stretch and not the number of bytes, so each access has one bounds check.
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
            // With one access per cache line, bytes in between are not checked.
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
