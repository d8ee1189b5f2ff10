//! Helpers for the tests of the command: a separate place for each test, a watchdog for every furlong in it, and a
//! check for leftovers.

pub mod experiment;
mod machine;
mod measured;
mod ordinary;
mod place;
mod printed;
mod processes;
pub mod rewritten;
mod snapshot;
mod terminal;
mod turn;
pub mod value;

pub use place::{FinishedCommand, Place, RunningCommand, SSH_TO_HERE};
pub use printed::{Row, SkippedRow, Summary};
pub use processes::{Kind, Process};
pub use snapshot::Snapshot;
pub use terminal::Terminal;
pub use turn::Turn;

use std::time::{Duration, Instant};

/// Repeats `look` until it returns a value; `None` if it does not within `limit`.
pub fn look_for<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(seen) = look() {
            return Some(seen);
        }
        if Instant::now() > end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns whether the test runs as root.
pub fn is_root() -> bool {
    furlong_os::identity::is_administrator()
}

/// Returns whether strace is installed and may trace.
pub fn can_trace(place: &Place) -> bool {
    let traced = place.program("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output();
    traced.is_ok_and(|output| output.status.success())
}

/// Waits with a timeout for a child whose output fits into a pipe.
pub fn wait_for_output(mut child: std::process::Child) -> std::process::Output {
    if look_for(Duration::from_secs(60), || child.try_wait().expect("our own child")).is_none() {
        let _ = child.kill();
        panic!("hung: {:?}", child.wait_with_output());
    }
    child.wait_with_output().expect("a child that has ended")
}
