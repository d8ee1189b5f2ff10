//! The other host of a run, as requested.

use crate::arguments::RunOptions;
use anyhow::Context;
use furlong_bench::peer::{NoPeer, Peer, PeerOptions};
use furlong_bench::{ChildProgram, MechanismEntry};
use furlong_console::exit::{CannotHere, Interruption, Usage};
use std::time::Duration;

/// The lease in addition to the longest duration of two trials, for the steps between trials.
const LEAST_LEASE: Duration = Duration::from_secs(20);

/// Connects to the requested host, if any.
///
/// # Errors
/// Returns why the host cannot be used.
pub fn connect(asked: &RunOptions, budget: Duration) -> anyhow::Result<Option<Peer>> {
    let Some(address) = asked.peer.clone() else { return Ok(None) };
    let patience = asked.common.timeout.0;
    let longest_trial = patience + budget + asked.warm_up.map_or(Duration::ZERO, |time| time.0);
    let options = PeerOptions {
        address,
        listen_at: asked.peer_address,
        version: env!("FURLONG_VERSION").to_owned(),
        patience,
        lease: LEAST_LEASE + 2 * longest_trial + asked.precision.longest_pause(),
    };
    let program = ChildProgram::own().context("cannot find furlong's own binary")?;
    let connected = Peer::connect(options, program);
    connected.map(Some).map_err(|why| match why {
        NoPeer::Unreachable(why) => CannotHere(why).into(),
        NoPeer::Interrupted(interrupted) => Interruption::unmeasured(interrupted.signal).into(),
        NoPeer::NoAddress => Usage(
            "--peer: the address on which responders listen is unknown; specify it with --peer-address"
                .to_owned(),
        )
        .into(),
    })
}

/// Returns the rows that are measured between hosts if none is named.
pub fn rows(mechanisms: &[MechanismEntry]) -> Vec<String> {
    let reach = mechanisms.iter().filter(|entry| entry.reaches_other_hosts());
    reach.map(|entry| entry.capabilities.name.to_owned()).collect()
}
