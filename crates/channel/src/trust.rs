//! Whether the process at the other end is believed to follow the protocol, as a type.

use crate::memory::Promise;

/// Whether the process at the other end is believed to follow the protocol: [`Untrusted`] or [`Trusted`].
pub trait Trust: sealed::Sealed + Copy + Send + 'static {}

/// The other process may write anything at any time into what is shared. Messages are copied out before they are used.
#[derive(Debug, Clone, Copy)]
pub struct Untrusted(pub(crate) ());

/// The other process leaves alone what is not its turn to write. Messages can be written and read where they lie.
#[derive(Debug, Clone, Copy)]
pub struct Trusted(pub(crate) Promise);

impl Trust for Untrusted {}
impl Trust for Trusted {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Untrusted {}
    impl Sealed for super::Trusted {}
}
