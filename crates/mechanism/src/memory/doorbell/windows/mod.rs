//! Ways to wait and wake that Windows has. `WaitOnAddress` is none: it is for the threads of one process.

mod event;
mod semaphore;

pub use event::Event;
pub use semaphore::Semaphore;
