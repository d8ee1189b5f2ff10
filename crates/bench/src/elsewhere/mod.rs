//! What only Linux has, on other systems: each says why it is missing there.

pub mod boundary;
pub mod count;
pub(crate) mod own_programs;
pub mod two_networks;
