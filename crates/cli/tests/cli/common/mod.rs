//! What the tests of the command share: a place of its own for each, a watchdog over every furlong in it, and a
//! look around for what was left.

pub mod experiment;
mod machine;
mod ordinary;
mod place;
mod printed;
mod processes;
pub mod rewritten;
mod snapshot;
mod terminal;
mod turn;
pub mod value;

pub use place::{Finished, Place, Running, SSH_TO_HERE};
pub use printed::{Row, Skipped, Summary};
pub use processes::Kind;
pub use snapshot::Snapshot;
pub use terminal::Terminal;
pub use turn::Turn;

use std::time::{Duration, Instant};

/// Looks until there is something to see; `None` if there was nothing within `limit`.
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

/// Whether the test runs as root. If not, says that `what` is skipped.
pub fn is_root_or_skips(what: &str) -> bool {
    let root = furlong_os::identity::is_administrator();
    if !root {
        eprintln!("{what}: skipped, because only root may mount");
    }
    root
}

/// Waits for a child that writes little, with a watchdog.
pub fn wait_for_output(mut child: std::process::Child) -> std::process::Output {
    if look_for(Duration::from_secs(60), || child.try_wait().expect("our own child")).is_none() {
        let _ = child.kill();
        panic!("hung: {:?}", child.wait_with_output());
    }
    child.wait_with_output().expect("a child that has ended")
}
