//! The groups of a fan-in.

use crate::{is_one, one};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU32;

/// Options that only a fan-in has, besides the number of senders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FanInOptions {
    /// Number of groups, among which the senders are divided equally. Groups run in parallel and share no link.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub groups: NonZeroU32,
    /// Number of receivers of a group. Each has a link to all senders of the group, and each message goes to all of them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub receivers: NonZeroU32,
}

impl Default for FanInOptions {
    /// Returns one group with one receiver.
    fn default() -> Self {
        FanInOptions { groups: one(), receivers: one() }
    }
}

impl FanInOptions {
    /// Returns the number of receivers of all groups.
    pub const fn all_receivers(self) -> NonZeroU32 {
        self.groups.saturating_mul(self.receivers)
    }

    /// Returns the options' part of a group's name, and of its title.
    pub(crate) fn in_group(self) -> (String, String) {
        let FanInOptions { groups, receivers } = self;
        let (mut name, mut title) = (String::new(), String::new());
        if !is_one(&groups) {
            (name, title) = (format!("/{groups}-groups"), format!(" in {groups} groups"));
        }
        if !is_one(&receivers) {
            let each = if is_one(&groups) { "" } else { " per group" };
            name += &format!("/{receivers}-receivers");
            title += &format!(", {receivers} receivers{each}");
        }
        (name, title)
    }
}

impl fmt::Display for FanInOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_group().1.replace(',', " to"))
    }
}
