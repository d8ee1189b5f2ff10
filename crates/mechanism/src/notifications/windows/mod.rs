//! Notifications of Windows.

pub(crate) mod event;
pub(crate) mod semaphore;
mod taking;
