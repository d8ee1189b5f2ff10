//! The value of `--arrival`, and the options of a replayed trace.

use super::shared::WORKLOAD;
use clap::Args;
use furlong_model::{ArrivalProcess, InvalidQuantity};
use std::path::PathBuf;
use std::str::FromStr;

/// A value of `--arrival`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedArrival {
    /// Times that vary a rate.
    Process(ArrivalProcess),
    /// Times and sizes of the trace in this file.
    Trace(PathBuf),
}

impl FromStr for AskedArrival {
    type Err = InvalidQuantity;

    fn from_str(text: &str) -> Result<AskedArrival, InvalidQuantity> {
        match text.strip_prefix("trace:").filter(|file| !file.is_empty()) {
            Some(file) => Ok(AskedArrival::Trace(file.into())),
            None => text.parse().map(AskedArrival::Process),
        }
    }
}

/// Options of a replayed trace.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = WORKLOAD)]
pub struct TraceReplayOptions {
    /// Link of a trace, such as 'client->server' [default: the only one]
    #[arg(long, value_name = "LINK")]
    pub link: Option<String>,
    /// Speed of --arrival trace:FILE, such as 2x or 0.5x [default: 1x]
    #[arg(long, value_name = "SPEED", allow_hyphen_values = true)]
    pub speed: Option<ReplaySpeed>,
}

/// Speed of a replay, from 0.001x to 1000x, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplaySpeed(pub u32);

impl FromStr for ReplaySpeed {
    type Err = String;

    fn from_str(text: &str) -> Result<ReplaySpeed, String> {
        let number = text.strip_suffix('x').filter(|number| number.starts_with(|c: char| c.is_ascii_digit()));
        let speed =
            number.and_then(|number| number.parse().ok()).filter(|speed| (0.001..=1e3).contains(speed));
        let invalid = || format!("'{text}' is not a valid speed: write 2x or 0.5x, from 0.001x to 1000x");
        speed.map(|speed: f64| ReplaySpeed((speed * 1e3).round() as u32)).ok_or_else(invalid)
    }
}
