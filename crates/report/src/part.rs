//! The part of a report about one run: its conclusions, its charts by subject, and available further measurements.

use crate::charts::{cost_parts, cpu_and_latency, distribution, predicted, then_and_now};
use crate::ids::Ids;
use crate::rows::size;
use furlong_analysis::{
    DecodedRun, Explanation, Level, NamedRun, Recommendation, Replay, Summary, explain_saved, recommend,
    replay,
};
use furlong_chart::Chart;
use furlong_render::charts::{
    FEWEST_POINTS, latency_by_links, latency_by_rate, latency_by_size, ranking, sum_by_parties,
    throughput_by_size,
};
use furlong_render::document::{Block, Cell, Column, Fact, Row, Section, Table};
use furlong_render::words::{count, firsts};
use furlong_render::{
    agreement, claim_reason, claim_status, finding, format_digits, not_explained, plain, plain_sentence,
    recommendation_sentences, replay_verdict,
};
use std::collections::BTreeSet;

/// Maximum number of charts of one kind in a part. A longer sweep is thinned to evenly spaced charts.
const MOST_CHARTS: usize = 12;
/// Replaces the summary of a chart if the machine was unreliable.
const UNRELIABLE: &str = "The machine was unreliable, so nothing is concluded from this chart.";

/// The presentation of one run.
pub struct Part {
    /// Anchor of the part.
    pub id: String,
    /// Name of the run.
    pub name: String,
    /// Figures of the run.
    pub summary: Summary,
    /// Conclusions, one sentence each, except for the fitness of the machine.
    pub verdict: Vec<String>,
    /// Charts by subject, and separate tables, as far as the run has figures for them.
    pub subjects: Vec<Section>,
    /// Breakdown of the times, if the run has costs.
    pub explanation: Option<Explanation>,
    /// The published comparison that the run repeats, if it does.
    pub replay: Option<Replay>,
    /// Further charts, each with the command that would measure its figures.
    pub missing: Vec<Fact>,
}

impl Part {
    /// Computes everything that the report shows of a run.
    pub fn of(named: NamedRun, ids: &mut Ids) -> Part {
        let (whole, name) = (named.run, plain(named.name));
        // Or a row would have one figure in the answer and another in a table.
        let recommendation = recommend(whole);
        let answering = recommendation.as_ref().and_then(|answer| answer.without_early_look(whole));
        let run = answering.as_ref().unwrap_or(whole);
        let summary = &run.summary;
        let id = ids.give(&format!("run {name}"));
        let explanation = explain_saved(run).filter(|explanation| !explanation.rows.is_empty());
        let replay = replay(run);
        let mut part = Part {
            verdict: verdict(summary, explanation.as_ref(), replay.as_ref(), recommendation.as_ref()),
            id,
            name,
            summary: summary.clone(),
            subjects: Vec::new(),
            explanation,
            replay,
            missing: Vec::new(),
        };
        part.fill(run, ids);
        part
    }

    fn fill(&mut self, run: &DecodedRun, ids: &mut Ids) {
        let summary = &self.summary;
        let (rankings, fewer_rankings) = ranking::charts(Some(run), summary);
        let latency = latency_by_size::charts(summary);
        let by_rate = latency_by_rate::charts(summary, FEWEST_POINTS);
        let by_links = latency_by_links::charts(summary, FEWEST_POINTS);
        let by_parties = sum_by_parties::charts(summary, FEWEST_POINTS);
        let (distributions, fewer) = distribution::charts(run);
        let throughput = throughput_by_size::charts(Some(run), summary);
        let (busy, less_busy) = cpu_and_latency::charts(summary);
        let explanation = self.explanation.as_ref();
        let parts: Vec<Chart> = explanation
            .map(|explanation| {
                predicted::chart(explanation).into_iter().chain(cost_parts::charts(explanation))
            })
            .into_iter()
            .flatten()
            .collect();
        let past = self.replay.as_ref().map(then_and_now::charts).unwrap_or_default();
        let unmodelled = explanation.and_then(unmodelled);
        let claimed = self.replay.as_ref().and_then(claimed);
        for (is_missing, what, command) in [
            (
                latency.is_empty(),
                "latency against size",
                "furlong run pipe unix-stream posix-shm -s 64..1MiB:x4 --save NAME",
            ),
            (
                throughput.is_empty(),
                "throughput against size",
                "furlong run pipe unix-stream posix-shm -m one-way -s 64..1MiB:x4 --save NAME",
            ),
            (
                parts.is_empty(),
                "where the time goes, and how well a model predicts it",
                "furlong explain pipe unix-stream tcp --place same-core --place other-core --save NAME",
            ),
            (past.is_empty(), "a published comparison, then and now", "furlong replay ka2yan-2008"),
        ] {
            if is_missing {
                self.missing.push(Fact::command(what, command));
            }
        }
        self.add("Ranking", (rankings, fewer_rankings), ids);
        self.add("Latency against size", (latency, 0), ids);
        self.add("Latency against rate", (by_rate, 0), ids);
        self.add("Several at once", (by_parties, 0), ids);
        self.add("Latency against links", (by_links, 0), ids);
        self.add("Distribution of latencies", (distributions, fewer), ids);
        self.add("Throughput against size", (throughput, 0), ids);
        self.add("Where the time goes", (parts, 0), ids);
        self.subjects.extend(unmodelled.map(|section| section.anchored(format!("{} unmodelled", self.id))));
        self.add("Processors busy against latency", (busy, less_busy), ids);
        self.add("Then and now", (past, 0), ids);
        self.subjects.extend(claimed.map(|section| section.anchored(format!("{} claims", self.id))));
    }

    /// Adds the charts of a subject, if there are any. `left_out` charts, at sizes between the drawn ones, were
    /// dropped before.
    fn add(&mut self, title: &'static str, (charts, left_out): (Vec<Chart>, usize), ids: &mut Ids) {
        if charts.is_empty() {
            return;
        }
        let all = charts.len() + left_out;
        let charts = thinned(charts);
        let mut section = Section::titled(title).anchored(format!("{} {title}", self.id));
        if charts.len() < all {
            let (left_out, are) = (all - charts.len(), if all - charts.len() == 1 { "is" } else { "are" });
            let left_out = count(left_out, "more chart");
            section = section.paragraph(format!(
                "{left_out} of this kind, at sizes between these, {are} not drawn; the table of all rows has their figures."
            ));
        }
        for mut chart in charts {
            chart.id =
                ids.give(&format!("{} {}", self.id.strip_prefix("run-").unwrap_or(&self.id), chart.id));
            if self.summary.run.noise.level == Level::Unreliable {
                chart.says = UNRELIABLE.to_owned();
            }
            section = section.with(Block::Chart(chart));
        }
        self.subjects.push(section);
    }
}

/// Returns at most `MOST_CHARTS` evenly spaced charts, including the first and the last.
fn thinned(charts: Vec<Chart>) -> Vec<Chart> {
    let last = charts.len().saturating_sub(1);
    if charts.len() <= MOST_CHARTS {
        return charts;
    }
    let kept: BTreeSet<usize> = (0..MOST_CHARTS).map(|number| number * last / (MOST_CHARTS - 1)).collect();
    charts
        .into_iter()
        .enumerate()
        .filter(|(number, _)| kept.contains(number))
        .map(|(_, chart)| chart)
        .collect()
}

fn verdict(
    summary: &Summary,
    explanation: Option<&Explanation>,
    replay: Option<&Replay>,
    recommendation: Option<&Recommendation>,
) -> Vec<String> {
    let corrupted = summary.skipped.iter().filter(|entry| entry.is_corruption()).count();
    let mut sentences = Vec::new();
    if corrupted > 0 {
        let rows = count(corrupted, "row");
        sentences.push(format!("{rows} delivered something other than what was sent, and show no speed."));
    }
    if summary.run.partial {
        sentences.push("The run is partial: it was interrupted, or its file cut off.".to_owned());
    }
    if let Some(recommendation) = recommendation {
        sentences.extend(recommendation_sentences(recommendation).iter().map(|line| plain_sentence(line)));
    } else if let Some(replay) = replay {
        sentences.extend(replay_verdict(replay));
    } else {
        sentences.extend(firsts(summary));
        sentences.extend(summary.findings.iter().map(finding));
    }
    if summary.run.noise.level != Level::Unreliable {
        sentences.extend(explanation.and_then(agreement));
    }
    if summary.rows.is_empty() && replay.is_none() {
        sentences.push("No row has a speed.".to_owned());
    }
    sentences
}

fn unmodelled(explanation: &Explanation) -> Option<Section> {
    let rows: Vec<_> = explanation
        .unmodelled
        .iter()
        .map(|row| Row::neutral([plain(&row.case.to_string()), plain_sentence(&not_explained(&row.reason))]))
        .collect();
    let table = Table::new([Column::words("row"), Column::words("why")], rows);
    let section = Section::titled("Rows that the model does not explain");
    (!table.rows.is_empty()).then(|| section.table(table))
}

fn claimed(replay: &Replay) -> Option<Section> {
    let ratio = |ratio: Option<f64>| {
        ratio.map_or_else(Cell::none, |ratio| Cell::figure(format!("{}x", format_digits(ratio)), ratio))
    };
    let rows = replay.claims.iter().map(|claim| {
        Row::neutral([
            Cell::Text(plain_sentence(&claim.text)),
            claim.size_bytes.map_or_else(Cell::none, size),
            Cell::Text(claim_status(claim.status).to_owned()),
            ratio(claim.ratio_then),
            ratio(claim.ratio_now),
            Cell::Text(plain_sentence(&claim_reason(claim))),
        ])
    });
    let columns = [
        Column::words("what was claimed"),
        Column::figures("size"),
        Column::words("now it"),
        Column::figures("then"),
        Column::figures("now"),
        Column::words("why"),
    ];
    let section = Section::titled("What was claimed, tested");
    (!replay.claims.is_empty()).then(|| section.table(Table::new(columns, rows.collect())))
}
