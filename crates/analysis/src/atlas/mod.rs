//! The atlas: every claim of the published comparisons in every setting, and the axes that explain contradictory publications.
//!
//! It is computed from saved replays, so that a search for explanations can be interrupted and continued.

mod question;
mod setting;

pub use question::{Axis, ExplainingAxis, PublishedAnswer, Question};
pub use setting::{MeasuredSetting, Setting};

use crate::Level;
use crate::replay::ClaimStatus;
use serde::Serialize;

/// Version of [`Atlas`] as JSON. It changes if a field changes its meaning or is removed.
pub const ATLAS_SCHEMA: u32 = 1;

/// Claims and questions of all replays. As JSON it is the output of `furlong replay --atlas --format json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Atlas {
    /// [`ATLAS_SCHEMA`].
    pub schema: u32,
    /// Questions that several publications answer.
    pub questions: Vec<Question>,
    /// Claims of the publications.
    pub claims: Vec<AtlasClaim>,
    /// Number of settings of experiments that were replayed.
    pub measured: usize,
    /// Number of those that an unreliable machine measured.
    pub unreliable: usize,
    /// Number of settings of experiments that were not replayed.
    pub missing: usize,
}

/// A claim of a publication in every setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AtlasClaim {
    /// Name of the experiment.
    pub experiment: String,
    /// The claim in words.
    pub text: String,
    /// Its results in the settings that were replayed.
    pub results: Vec<SettingResult>,
}

/// Numbers of sizes at which a claim has each status, in one setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SettingResult {
    /// The setting.
    pub setting: Setting,
    /// Sizes at which it holds, at least in its direction.
    pub holds: usize,
    /// Sizes at which it is false.
    pub falls: usize,
    /// Sizes at which it cannot be decided.
    pub undecided: usize,
}

/// Computes the atlas. `missing` settings were not replayed.
pub fn atlas(measured: &[MeasuredSetting], missing: usize) -> Atlas {
    let mut claims: Vec<AtlasClaim> = Vec::new();
    for MeasuredSetting { setting, replay } in measured {
        for verdict in &replay.claims {
            let same =
                |claim: &AtlasClaim| claim.experiment == replay.experiment && claim.text == verdict.text;
            let at = claims.iter().position(same).unwrap_or_else(|| {
                let (experiment, text) = (replay.experiment.clone(), verdict.text.clone());
                claims.push(AtlasClaim { experiment, text, results: Vec::new() });
                claims.len() - 1
            });
            let results = &mut claims[at].results;
            let known = results.iter().position(|result| result.setting == *setting);
            let known = known.unwrap_or_else(|| {
                results.push(SettingResult { setting: *setting, holds: 0, falls: 0, undecided: 0 });
                results.len() - 1
            });
            results[known].count(verdict.status);
        }
    }
    let is_unreliable = |setting: &&MeasuredSetting| setting.replay.run.noise.level == Level::Unreliable;
    let unreliable = measured.iter().filter(is_unreliable).count();
    let questions = question::all(measured);
    Atlas { schema: ATLAS_SCHEMA, questions, claims, measured: measured.len(), unreliable, missing }
}

impl SettingResult {
    fn count(&mut self, status: ClaimStatus) {
        match status {
            ClaimStatus::Holds | ClaimStatus::HoldsInDirection => self.holds += 1,
            ClaimStatus::Falls => self.falls += 1,
            ClaimStatus::CannotBeTold => self.undecided += 1,
            ClaimStatus::NotTested => {}
        }
    }
}

#[cfg(test)]
mod tests;
