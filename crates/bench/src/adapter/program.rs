//! The reply to hello for programs whose roles run furlong's own loop. Such programs are built with this crate.

use super::protocol::{FurlongLoop, PROTOCOL};
use furlong_model::{Capabilities, Limits, Unavailable};
use furlong_os::clock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};

/// Replies to hello for a mechanism, with the versions of its parts, until furlong sends no more requests.
///
/// # Errors
/// Returns an error if furlong has not started this program as an adapter, or has exited.
pub fn say_hello(
    capabilities: &Capabilities,
    here: &Result<Limits, Unavailable>,
    versions: &BTreeMap<String, String>,
) -> io::Result<()> {
    let path = |variable: &str| {
        std::env::var_os(variable).ok_or_else(|| {
            let what = format!(
                "{variable} is not set: this is an adapter, which furlong starts (furlong run --adapter)"
            );
            io::Error::new(io::ErrorKind::NotFound, what)
        })
    };
    let requests = BufReader::new(File::open(path("FURLONG_READ")?)?);
    let mut replies = OpenOptions::new().write(true).open(path("FURLONG_WRITE")?)?;
    for line in requests.lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let reply = match (request["op"].as_str(), here) {
            (Some("hello"), Err(why)) => {
                json!({ "op": "error", "fault": "unsupported", "detail": why.reason })
            }
            (Some("hello"), Ok(limits)) => {
                let furlong = FurlongLoop {
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    capabilities: capabilities.owned(),
                    limits: limits.clone(),
                };
                json!({
                    "op": "hello", "protocol": PROTOCOL, "name": capabilities.name, "versions": versions,
                    "clock_ns": clock::now_ns(), "shape": "pair", "claims": { "summary": capabilities.summary },
                    "furlong": furlong,
                })
            }
            _ => {
                json!({ "op": "error", "fault": "error", "detail": "its roles are started by furlong's own means" })
            }
        };
        replies.write_all(format!("{reply}\n").as_bytes())?;
    }
    Ok(())
}
