//! Properties by which runs of many hosts are grouped.

use serde::Serialize;

/// Property by which runs are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FleetBy {
    /// Host, to find outliers.
    Host,
    /// Release of the kernel, to find the effect of an update.
    Kernel,
    /// Label that the user gave.
    Label,
    /// Label, for runs that were measured alternately (A B A B).
    Pairs,
}

impl FleetBy {
    /// Returns the name in records.
    pub const fn name(self) -> &'static str {
        match self {
            FleetBy::Host => "host",
            FleetBy::Kernel => "kernel",
            FleetBy::Label => "label",
            FleetBy::Pairs => "pairs",
        }
    }
}
