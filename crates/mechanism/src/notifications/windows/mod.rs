//! Notifications that Windows has.

pub(crate) mod event;
pub(crate) mod semaphore;
mod taking;
