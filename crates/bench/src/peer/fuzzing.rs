//! Entry points of the fuzzer (`fuzz/`): lines between two hosts, in both directions.

use super::protocol::{Reply, Request};
use crate::control::{Report, RoleResult};
use crate::started_program::take_line;
use furlong_model::{Machine, Pattern};
use serde::{Serialize, de::DeserializeOwned};

/// Parts of a run that come from replies of the other host.
#[derive(Debug, Default)]
pub struct ReplyParts {
    /// Descriptions of the machine.
    pub machines: Vec<Machine>,
    /// Figures of a trial of each pattern, reported by one role or by all roles.
    pub trials:
        Vec<(furlong_loops::recorder::Timing, Vec<furlong_model::Part>, Vec<furlong_model::RoleTally>)>,
}

/// Reads the lines of the other host, as this host does.
pub fn replies(lines: &[u8]) -> ReplyParts {
    let (mut replied, mut results) = (ReplyParts::default(), Vec::<RoleResult>::new());
    for reply in all::<Reply>(lines) {
        match reply {
            Reply::Hello { machine, .. } => replied.machines.push(*machine),
            Reply::Said { report } => {
                if let Report::Done(result) = *report {
                    results.push(result);
                }
            }
            _ => {}
        }
    }
    // More results take longer and reach no new code.
    results.truncate(6);
    for pattern in Pattern::ALL {
        if let Ok(figures) = crate::trial::TrialFigures::of(pattern, results.clone()) {
            replied.trials.push((figures.timing, figures.parts, figures.roles));
        }
    }
    replied
}

/// Reads lines as the other host does.
pub fn requests(lines: &[u8]) {
    drop(all::<Request>(lines));
}

/// Returns the messages of all lines. Checks that each is equal after it is written and read again.
fn all<T: Serialize + DeserializeOwned + std::fmt::Debug>(lines: &[u8]) -> Vec<T> {
    let mut come = lines.to_vec();
    let lines = std::iter::from_fn(|| take_line(&mut come));
    let messages = lines.filter_map(|line| serde_json::from_slice::<T>(&line).ok());
    messages
        .inspect(|message| {
            let line = serde_json::to_vec(message).expect("a message is written");
            assert!(!line.contains(&b'\n'), "a message of two lines");
            let again: T = serde_json::from_slice(&line).expect("a message is read again");
            assert_eq!(format!("{again:?}"), format!("{message:?}"));
        })
        .collect()
}
