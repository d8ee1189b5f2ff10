//! Time that the trace adds to a system call, measured on this process.

use furlong_os::clock;
use furlong_os::identity::{parent_process, thread};
use furlong_os::linux::counter::ActivityTrace;
use furlong_os::linux::system_call;
use std::io;

/// Calls of a batch, and batches. The fastest batch counts, because others were interrupted.
const CALLS: u32 = 1000;
const BATCHES: u32 = 5;

/// Returns the time in nanoseconds by which a traced call takes longer.
///
/// # Errors
/// Returns the errors of [`ActivityTrace`].
pub fn traced_call_ns() -> io::Result<f64> {
    let call = system_call::number("getppid").ok_or(io::ErrorKind::Unsupported)?;
    let mut trace = ActivityTrace::new(&[call])?;
    trace.add_thread(thread())?;
    let untraced_ns = fastest_batch_ns();
    trace.enable()?;
    let traced_ns = fastest_batch_ns();
    trace.disable()?;
    Ok(traced_ns.saturating_sub(untraced_ns) as f64 / f64::from(CALLS))
}

fn fastest_batch_ns() -> u64 {
    let batch = |_| {
        let start_ns = clock::now_ns();
        for _ in 0..CALLS {
            std::hint::black_box(parent_process());
        }
        clock::now_ns() - start_ns
    };
    (0..BATCHES).map(batch).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_os::identity::is_administrator;
    use furlong_testing::skip;

    #[test]
    fn traced_call_takes_longer() {
        if !is_administrator() {
            skip!("needs root");
        }
        let added_ns = traced_call_ns().unwrap();
        assert!((20.0..100e3).contains(&added_ns), "{added_ns}");
    }
}
