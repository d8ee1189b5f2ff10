//! Replay of a published comparison: its figures then and now, in the same units, and the claims that still hold.
//!
//! Everything is computed from the records of one run, which contain the experiment.

mod claims;
mod compare;
mod exchange;
mod fastest;
mod figures;
mod handover;
mod meanings;
mod pairs;
mod row;
mod rows;
mod sizes;
mod starts;
mod throughput;

pub use claims::{ClaimReason, ClaimStatus, ClaimVerdict};
pub use fastest::{FasterAdded, FastestThen, RankChange};
pub use meanings::is_kept;
pub use pairs::Pairs;
pub use row::{Durations, MeasuredFigure, ReplayRow, ReplayStatus};
pub use sizes::{BestNow, BestSize};
pub use starts::ReplayStart;
pub(crate) use throughput::bytes_per_second;
pub use throughput::{Throughput, throughput};

use crate::{DecodedRun, Level, RunFacts};
use furlong_model::{Context, Figure, Measure, PublishedMachine};
use serde::{Deserialize, Serialize};

/// Version of [`Replay`] as JSON. It changes if a field changes its meaning or is removed.
pub const REPLAY_SCHEMA: u32 = 2;

/// Contents of a replay. As JSON it is the output of `furlong replay --format json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// [`REPLAY_SCHEMA`].
    pub schema: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// Question of the experiment.
    pub title: String,
    /// Author of the publication.
    pub author: Option<String>,
    /// Address of the publication.
    pub source: Option<String>,
    /// Year of the publication.
    pub year: Option<u16>,
    /// Machine of the publication.
    pub machine_then: Option<String>,
    /// Other machines of the publication.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines_then: Vec<PublishedMachine>,
    /// Published figures that are shown and not replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Context>,
    /// Parts of the publication that were not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// Known errors of the published programs.
    pub faults: Vec<String>,
    /// Results of the published programs relative to these benchmarks, or the reason why they did not run.
    #[serde(default)]
    pub programs: Option<String>,
    /// Measurement of all benchmarks now.
    pub measure: Measure,
    /// Facts about the run.
    #[serde(flatten)]
    pub run: RunFacts,
    /// Whether the machine was unreliable. On a quiet one, claims may have other results.
    #[serde(default)]
    pub provisional: bool,
    /// Figures of the benchmarks, in the order of tables.
    pub figures: Vec<Figure>,
    /// Every benchmark at every size, by size and then in the order of the experiment.
    pub rows: Vec<ReplayRow>,
    /// Times of process starts.
    pub starts: Vec<ReplayStart>,
    /// Fastest size of each benchmark, if all sizes have the same total; otherwise empty.
    pub best_sizes: Vec<BestSize>,
    /// Changes in the order of the published benchmarks.
    pub pairs: Pairs,
    /// Current rank of the fastest published benchmark of each size.
    #[serde(default)]
    pub fastest: Vec<FastestThen>,
    /// Added benchmarks that are faster than every published one, by size.
    #[serde(default)]
    pub faster_added: Vec<FasterAdded>,
    /// Verdicts on the claims.
    pub claims: Vec<ClaimVerdict>,
}

impl Replay {
    /// Returns the benchmarks of one size, in the order of the experiment.
    pub fn rows_of(&self, size_bytes: usize) -> impl Iterator<Item = &ReplayRow> {
        self.rows.iter().filter(move |row| row.size_bytes == size_bytes)
    }

    /// Whether a mechanism delivered corrupted data.
    pub fn found_corruption(&self) -> bool {
        self.rows.iter().any(|row| row.corrupted)
    }
}

/// Computes the replay; `None` for a run that repeats no experiment.
pub fn replay(run: &DecodedRun) -> Option<Replay> {
    let experiment = run.records.experiment.as_ref()?;
    let measure = &experiment.measure;
    let mut rows = rows::all(run, experiment);
    let figures = figures::shown(&rows);
    fastest::set_ratios(&mut rows, measure);
    let best_sizes = sizes::best(&rows, measure);
    let mut claims = claims::all(experiment, &rows, &best_sizes);
    claims.extend(meanings::all(experiment, &run.records.meanings));
    let pairs = Pairs::of(&rows, measure);
    let fastest = fastest::all(&rows, measure);
    let faster_added = fastest::faster_added(&rows, measure);
    let of = experiment.clone();
    let noise = rows::noise(run, experiment, &rows);
    Some(Replay {
        schema: REPLAY_SCHEMA,
        experiment: of.name,
        title: of.title,
        author: of.author,
        source: of.source,
        year: of.year,
        machine_then: of.machine,
        machines_then: of.machines,
        context: of.context,
        unseen: of.unseen,
        faults: of.faults,
        programs: of.programs,
        measure: of.measure,
        provisional: noise.level == Level::Unreliable,
        run: RunFacts { noise, ..run.summary.run.clone() },
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
