//! A published comparison repeated: its figures then and now, in the same units, and what still holds.
//!
//! Everything here is computed from the records of one run, which hold the experiment too.

mod claims;
mod compare;
mod exchange;
mod fastest;
mod figures;
mod handover;
mod pairs;
mod row;
mod rows;
mod sizes;
mod starts;
mod throughput;

pub use claims::{ClaimReason, ClaimStatus, ClaimVerdict};
pub use fastest::{Became, FasterAdded, FastestThen};
pub use pairs::Pairs;
pub use row::{Durations, Measured, ReplayRow, ReplayStatus};
pub use sizes::{BestNow, BestSize};
pub use starts::ReplayStart;
pub use throughput::{Throughput, throughput};

use crate::{DecodedRun, Level, RunFacts};
use furlong_model::{Figure, Measure};
use serde::{Deserialize, Serialize};

/// Version of [`Replay`] as JSON; it changes when a field changes its meaning or goes.
pub const REPLAY_SCHEMA: u32 = 2;

/// Everything that a replay shows. As JSON it is what `furlong replay --format json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// [`REPLAY_SCHEMA`].
    pub schema: u32,
    /// The experiment's name.
    pub experiment: String,
    /// What it asks.
    pub title: String,
    /// Who published it.
    pub author: Option<String>,
    /// Where.
    pub source: Option<String>,
    /// When.
    pub year: Option<u16>,
    /// What it was measured on then.
    pub machine_then: Option<String>,
    /// What is known to be wrong with the published programs.
    pub faults: Vec<String>,
    /// How the published programs compare with these rows where they were run, or why they were not.
    #[serde(default)]
    pub programs: Option<String>,
    /// How all rows are measured now.
    pub measure: Measure,
    /// Which run it is of.
    #[serde(flatten)]
    pub run: RunFacts,
    /// Whether the machine was unreliable: on a quiet one, claims may come out otherwise.
    #[serde(default)]
    pub provisional: bool,
    /// The figures that rows have, in the order of tables.
    pub figures: Vec<Figure>,
    /// Every row at every size, by size and then in the order of the experiment.
    pub rows: Vec<ReplayRow>,
    /// How long processes took to start.
    pub starts: Vec<ReplayStart>,
    /// The size with which each row is fastest, where the same total is exchanged with each; else empty.
    pub best_sizes: Vec<BestSize>,
    /// How the order of the published rows has changed.
    pub pairs: Pairs,
    /// What became of the fastest published row of each size.
    #[serde(default)]
    pub fastest: Vec<FastestThen>,
    /// Rows that were added and are faster than every published one, by size.
    #[serde(default)]
    pub faster_added: Vec<FasterAdded>,
    /// What was claimed, tested.
    pub claims: Vec<ClaimVerdict>,
}

impl Replay {
    /// The rows of one size, in the order of the experiment.
    pub fn rows_of(&self, size_bytes: usize) -> impl Iterator<Item = &ReplayRow> {
        self.rows.iter().filter(move |row| row.size_bytes == size_bytes)
    }

    /// Whether some mechanism delivered something other than was sent.
    pub fn found_corruption(&self) -> bool {
        self.rows.iter().any(|row| row.corrupted)
    }
}

/// Computes everything that a replay shows; `None` for a run that repeats no experiment.
pub fn replay(run: &DecodedRun) -> Option<Replay> {
    let experiment = run.records.experiment.as_ref()?;
    let measure = &experiment.measure;
    let mut rows = rows::all(run, experiment);
    let figures = figures::shown(&rows);
    fastest::set_ratios(&mut rows, measure);
    let best_sizes = sizes::best(&rows, measure);
    let claims = claims::all(experiment, &rows, &best_sizes);
    let pairs = Pairs::of(&rows, measure);
    let fastest = fastest::all(&rows, measure);
    let faster_added = fastest::faster_added(&rows, measure);
    let of = experiment.clone();
    Some(Replay {
        schema: REPLAY_SCHEMA,
        experiment: of.name,
        title: of.title,
        author: of.author,
        source: of.source,
        year: of.year,
        machine_then: of.machine,
        faults: of.faults,
        programs: of.programs,
        measure: of.measure,
        run: run.summary.run.clone(),
        provisional: run.summary.run.noise.level == Level::Unreliable,
        figures,
        rows,
        starts: starts::all(run.records, experiment),
        best_sizes,
        pairs,
        fastest,
        faster_added,
        claims,
    })
}

#[cfg(test)]
mod tests;
