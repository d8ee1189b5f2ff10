//! An end whose other process is trusted or not, and the memory that C borrows from it.

use crate::errors::{INVALID, LENT, Result};
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::NonNull;

/// An end that is trusted or not.
pub(crate) enum End<Untrusted, Trusted> {
    Untrusted(Untrusted),
    Trusted(Trusted),
}

/// Evaluates an expression for either kind of end.
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

/// An end, and a loan or a message `L` that C has borrowed from it.
///
/// The end is in a separate allocation, so that a reference to this struct does not alias the end while C borrows from
/// it.
pub(crate) struct Lender<E, L> {
    lent: Option<L>,
    end: NonNull<E>,
    /// The descriptor of the end, which cannot be read while C borrows from the end.
    descriptor: RawFd,
}

impl<E: AsRawFd, L> Lender<E, L> {
    pub(crate) fn new(end: E) -> Lender<E, L> {
        let descriptor = end.as_raw_fd();
        Lender { lent: None, end: NonNull::from(Box::leak(Box::new(end))), descriptor }
    }
}

impl<E: 'static, L> Lender<E, L> {
    /// Returns the end, or `LENT` if C borrows from it.
    pub(crate) fn free(&mut self) -> Result<&mut E> {
        if self.lent.is_some() {
            return Err(LENT);
        }
        // SAFETY: leaked by `new`, borrowed by no loan or message, and by no other reference to self.
        Ok(unsafe { self.end.as_mut() })
    }

    /// Stores what `borrow` returns until [`take`](Self::take) is called.
    pub(crate) fn lend(&mut self, borrow: impl FnOnce(&'static mut E) -> Result<L>) -> Result<&mut L> {
        self.free()?;
        // SAFETY: as in `free`. The end lives until self is dropped, which first drops the borrowed value. Until then
        // no caller gets the end.
        let end = unsafe { self.end.as_mut() };
        Ok(self.lent.insert(borrow(end)?))
    }

    /// Returns the borrowed value. The caller must drop it before the next call.
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
        // SAFETY: leaked by `new`, and no longer borrowed.
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

    /// Needs miri, which reports an access through an invalidated reference.
    #[test]
    fn lent_memory_stays_valid_during_other_calls() {
        let handle = Box::into_raw(Box::new(Lender::new(Bytes(vec![1, 2, 3]))));
        // SAFETY: each reference ends before the next one, as in calls from C.
        let call = || unsafe { &mut *handle };
        let address = call().lend(|end| Ok(&mut end.0[..])).unwrap().as_mut_ptr();
        assert!(call().free().is_err() && call().lend(|end| Ok(&mut end.0[..])).is_err());
        assert_eq!(call().descriptor(), 7);
        // SAFETY: the memory is borrowed until `take`.
        unsafe { *address.add(1) = 9 };
        assert_eq!(call().take().unwrap(), [1, 9, 3]);
        assert!(call().take().is_err());
        assert_eq!(call().free().unwrap().0, [1, 9, 3]);
        // SAFETY: created by `Box::into_raw`.
        drop(unsafe { Box::from_raw(handle) });
    }
}
