//! Waiting for what others do.

use anyhow::bail;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long something may take to be seen.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something is so.
///
/// # Errors
/// It has not come in a minute, or what kept it from being seen.
pub fn until(what: &str, mut is_so: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let began = Instant::now();
    while !is_so()? {
        if began.elapsed() > PATIENCE {
            bail!("{what} did not come within {PATIENCE:?}");
        }
        sleep(Duration::from_millis(20));
    }
    Ok(())
}
