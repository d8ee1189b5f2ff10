//! By what runs of many hosts are put together.

use serde::Serialize;

/// By what runs are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FleetBy {
    /// By the host: which of them stand out?
    Host,
    /// By the release of the kernel: what did another one change?
    Kernel,
    /// By the label that the user gave.
    Label,
    /// By their turn: runs that were measured alternately (A B A B), which stand in the label.
    Pairs,
}

impl FleetBy {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            FleetBy::Host => "host",
            FleetBy::Kernel => "kernel",
            FleetBy::Label => "label",
            FleetBy::Pairs => "pairs",
        }
    }
}
