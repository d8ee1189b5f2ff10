//! Ways to wait and wake that Windows has. `WaitOnAddress` is none: it is for the threads of one process.

mod event;
mod mutex;
mod semaphore;

pub use event::Event;
pub use mutex::Mutex;
pub use semaphore::Semaphore;
