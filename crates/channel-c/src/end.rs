//! An end whose other process is trusted or not, and the memory that C borrows from it.

use crate::errors::{INVALID, LENT, Result};
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::NonNull;

/// Either of both.
pub(crate) enum End<Untrusted, Trusted> {
    Untrusted(Untrusted),
    Trusted(Trusted),
}

/// Does the same with either end.
macro_rules! on {
    ($either:expr, $end:ident => $action:expr) => {
        match $either {
            End::Untrusted($end) => $action,
            End::Trusted($end) => $action,
        }
    };
}

pub(crate) use on;

impl<Untrusted: AsRawFd, Trusted: AsRawFd> AsRawFd for End<Untrusted, Trusted> {
    fn as_raw_fd(&self) -> RawFd {
        on!(self, end => end.as_raw_fd())
    }
}

/// An end, and a loan or a message `L` that borrows from it while C has it.
///
/// The end is in a separate allocation, so that a reference to this does not touch it while it is borrowed.
pub(crate) struct Lender<E, L> {
    lent: Option<L>,
    end: NonNull<E>,
    /// Of the end, which cannot be asked while it is borrowed.
    descriptor: RawFd,
}

impl<E: AsRawFd, L> Lender<E, L> {
    pub(crate) fn new(end: E) -> Lender<E, L> {
        let descriptor = end.as_raw_fd();
        Lender { lent: None, end: NonNull::from(Box::leak(Box::new(end))), descriptor }
    }
}

impl<E: 'static, L> Lender<E, L> {
    /// The end, of which nothing is lent.
    pub(crate) fn free(&mut self) -> Result<&mut E> {
        if self.lent.is_some() {
            return Err(LENT);
        }
        // SAFETY: leaked by `new`, and borrowed by nothing but `lent`, which is none, and by this reference to self.
        Ok(unsafe { self.end.as_mut() })
    }

    /// Keeps what `borrow` takes from the end until [`take`](Self::take).
    pub(crate) fn lend(&mut self, borrow: impl FnOnce(&'static mut E) -> Result<L>) -> Result<&mut L> {
        self.free()?;
        // SAFETY: as in `free`. The end lives until self is dropped, which drops what was lent before; no caller gets the
        // end while `lent` is some.
        let end = unsafe { self.end.as_mut() };
        Ok(self.lent.insert(borrow(end)?))
    }

    /// What was lent, to be given back before the next call.
    pub(crate) fn take(&mut self) -> Result<L> {
        self.lent.take().ok_or(INVALID)
    }

    pub(crate) fn descriptor(&self) -> RawFd {
        self.descriptor
    }
}

impl<E, L> Drop for Lender<E, L> {
    fn drop(&mut self) {
        self.lent = None;
        // SAFETY: leaked by `new`, and borrowed by nothing any more.
        drop(unsafe { Box::from_raw(self.end.as_ptr()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes(Vec<u8>);

    impl AsRawFd for Bytes {
        fn as_raw_fd(&self) -> RawFd {
            7
        }
    }

    /// For miri, to which an access through a reference that another one has replaced is an error.
    #[test]
    fn lent_memory_stays_valid_during_other_calls() {
        let handle = Box::into_raw(Box::new(Lender::new(Bytes(vec![1, 2, 3]))));
        // SAFETY: each reference ends before the next one, as those of calls from C do.
        let call = || unsafe { &mut *handle };
        let address = call().lend(|end| Ok(&mut end.0[..])).unwrap().as_mut_ptr();
        assert!(call().free().is_err() && call().lend(|end| Ok(&mut end.0[..])).is_err());
        assert_eq!(call().descriptor(), 7);
        // SAFETY: lent.
        unsafe { *address.add(1) = 9 };
        assert_eq!(call().take().unwrap(), [1, 9, 3]);
        assert!(call().take().is_err());
        assert_eq!(call().free().unwrap().0, [1, 9, 3]);
        // SAFETY: made by `Box::into_raw`.
        drop(unsafe { Box::from_raw(handle) });
    }
}
