//! A case as the refusals of patterns see it. They do not depend on cases, which depend on patterns.

use crate::{Capabilities, FanInOptions, Placement, Start, Wait};
use std::num::NonZeroU32;

/// The parts of a case that decide whether a mechanism can carry a pattern.
#[derive(Debug, Clone, Copy)]
pub struct PatternCase<'a> {
    /// The name of the mechanism.
    pub mechanism: &'a str,
    /// The capabilities of the mechanism.
    pub capabilities: &'a Capabilities,
    /// The wait strategy.
    pub wait: Wait,
    /// The placement.
    pub placement: Placement,
    /// Bytes of a message.
    pub size_bytes: usize,
    /// Bytes of a request, if the pattern has requests.
    pub request_bytes: Option<usize>,
    /// The number of parties, whose noun depends on the pattern.
    pub parties: NonZeroU32,
    /// The groups of a fan-in.
    pub fan_in: FanInOptions,
}

impl PatternCase<'_> {
    /// Returns whether one process has both ends.
    pub fn is_one_process(&self) -> bool {
        self.capabilities.start == Start::Alone || self.placement == Placement::OneProcess
    }
}
