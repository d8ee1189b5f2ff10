//! Doorbells of Windows. `WaitOnAddress` is not one, because it works only between threads of one process.

mod event;
mod mutex;
mod semaphore;

pub use event::Event;
pub use mutex::Mutex;
pub use semaphore::Semaphore;
