//! Waiting for what others do.

use anyhow::bail;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time within which a condition must hold.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until the condition holds.
///
/// # Errors
/// Returns an error if the condition does not hold within a minute, or the error of its check.
pub fn until(what: &str, mut is_so: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let began = Instant::now();
    while !is_so()? {
        if began.elapsed() > PATIENCE {
            bail!("timed out after {PATIENCE:?} while waiting for {what}");
        }
        sleep(Duration::from_millis(20));
    }
    Ok(())
}
