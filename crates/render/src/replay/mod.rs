//! A replay, then and now side by side: as a document, for a spreadsheet and for programs.

mod chart;
mod csv;
mod figures;
mod matrix;
mod meaning;
mod prose;
mod racehorse;
mod sheet;
mod tables;
mod verdict;

pub use csv::replay_csv;
pub(crate) use figures::{NONE, then, thousands};
pub(crate) use prose::context;
pub use racehorse::replay_racehorse;
pub use verdict::{claim_reason, claim_status, replay_verdict};

use super::document::{Document, Line, Section, Tone, drawn};
use super::noise::reasons;
use super::object::object;
use super::prose::{FINDINGS, machine};
use super::style::Charts;
use super::summary::{with_noise, with_run_warnings};
use furlong_analysis::text::plain_sentence;
use furlong_analysis::{Replay, ReplayStatus};
use serde::Serialize;

/// Returns one JSON object, or a list of them if there are several; [`Replay`] documents the fields.
pub fn replay_json(replays: &[Replay]) -> String {
    #[derive(Serialize)]
    struct WithVerdict<'a> {
        #[serde(flatten)]
        replay: &'a Replay,
        verdict: Vec<String>,
    }
    let with_verdict = |replay| WithVerdict { replay, verdict: replay_verdict(replay) };
    let said = vec![reasons(replays.iter().map(|replay| &replay.run.noise)), verdict::claim_reasons(replays)];
    match replays {
        [replay] => object(&with_verdict(replay), said),
        several => object(&several.iter().map(with_verdict).collect::<Vec<_>>(), said),
    }
}

/// Returns the machine, the noise verdict and the published machine; the tables; the unmeasured rows; the
/// counterparts; the known faults and descriptions of the published programs; and the verdict.
pub fn document(replay: &Replay, charts: Charts) -> Document {
    let machines = prose::then_and_now(replay, &machine(&replay.run.machine, &replay.run.harness));
    let head = machines.into_iter().fold(Section::chapter(prose::heading(replay)), Section::paragraph);
    let is_measured = replay.rows.iter().any(|row| row.status == ReplayStatus::Measured)
        || replay.starts.iter().any(|start| start.later_ms.is_some());
    let head = if is_measured { with_noise(head, &replay.run.noise) } else { head };
    let head = head.paragraph(prose::measured(replay));
    let mut document: Document = [with_run_warnings(head, &replay.run)].into_iter().collect();
    tables::sheets(replay).into_iter().for_each(|sheet| document.push(sheet.section()));
    drawn(chart::charts(replay, charts)).for_each(|section| document.push(section));
    let unmeasured = prose::unmeasured(replay).into_iter().map(|(status, text)| {
        let failure = matches!(status, ReplayStatus::Failed | ReplayStatus::Void);
        Line { tone: if failure { Tone::Bad } else { Tone::Neutral }, text }
    });
    document.push(Section::list("Not measured, or not in every trial", unmeasured));
    let counterparts = prose::counterparts(replay).into_iter().map(Line::neutral);
    document.push(Section::list("Notes on the benchmarks", counterparts));
    let faults = replay.faults.iter().map(|fault| Line::neutral(plain_sentence(fault)));
    document.push(Section::list("Known faults of the published programs", faults));
    let programs = replay.programs.iter().map(|text| Line::neutral(plain_sentence(text)));
    document.push(Section::list("The published programs", programs));
    let context = replay.context.iter().map(|context| Line::neutral(prose::context(context)));
    document.push(Section::list("Published figures that are not replayed", context));
    let unseen = replay.unseen.iter().map(|text| Line::neutral(plain_sentence(text)));
    document.push(Section::list("Not seen of the publication", unseen));
    document.push(Section::list(FINDINGS, replay_verdict(replay).into_iter().map(Line::neutral)));
    document
}

#[cfg(test)]
mod tests;
