//! The part of a report about one run: its conclusions, its charts by subject, and available further measurements.

use crate::charts::{cost_parts, cpu_and_latency, distribution, predicted, then_and_now};
use crate::figures;
use crate::ids::Ids;
use crate::rows::size;
use furlong_analysis::{
    DecodedRun, Explanation, Finding, Level, NamedRun, Recommendation, Replay, Summary, explain_saved,
    recommend, replay,
};
use furlong_chart::Chart;
use furlong_render::charts::{
    FEWEST_POINTS, by_batch, latency_by_links, latency_by_rate, latency_by_size, ranking, sum_by_parties,
    throughput_by_size,
};
use furlong_render::document::{Block, Cell, Column, Fact, Line, Row, Section, Table, Tone};
use furlong_render::words::{count, firsts};
use furlong_render::{
    agreement, capacity_chart, capacity_table, claim_reason, claim_status, finding, format_digits,
    not_explained, plain, plain_sentence, recommendation_sentences, replay_verdict, run_warnings,
    size_tables,
};
use std::collections::BTreeSet;

/// Maximum number of charts of one kind in a part. A longer sweep is thinned to evenly spaced charts.
const MOST_CHARTS: usize = 12;
/// Findings next to the result; the others follow in the chapter of the run.
pub const SHOWN: usize = 3;

/// The presentation of one run.
pub struct Part {
    /// Anchor of the part.
    pub id: String,
    /// Name of the run.
    pub name: String,
    /// Figures of the run.
    pub summary: Summary,
    /// Reasons to distrust the run, except for the fitness of the machine.
    pub warnings: Vec<Line>,
    /// The most important findings, one sentence each.
    pub findings: Vec<String>,
    /// All other findings.
    pub further: Vec<String>,
    /// The chart that shows the result, or its figures in a sentence.
    pub result: Option<Block>,
    /// Charts by subject, and separate tables, as far as the run has figures for them.
    pub subjects: Vec<Section>,
    /// Tables that a page shows next to the charts. Markdown has them among its tables.
    pub tables: Vec<Section>,
    /// Breakdown of the times, if the run has costs.
    pub explanation: Option<Explanation>,
    /// The published comparison that the run repeats, if it does.
    pub replay: Option<Replay>,
    /// Further charts, each with the command that would measure its figures.
    pub missing: Vec<Fact>,
}

impl Part {
    /// Computes everything that the report shows of a run.
    ///
    /// `noted` holds the notes of all charts before it, each of which is printed once.
    pub fn of(named: NamedRun, ids: &mut Ids, noted: &mut BTreeSet<String>) -> Part {
        let (whole, name) = (named.run, plain(named.name));
        // Or a row would have one figure in the answer and another in a table.
        let recommendation = recommend(whole);
        let answering = recommendation.as_ref().and_then(|answer| answer.without_early_look(whole));
        let run = answering.as_ref().unwrap_or(whole);
        let summary = &run.summary;
        let id = ids.give(&format!("run {name}"));
        let explanation = explain_saved(run).filter(|explanation| !explanation.rows.is_empty());
        let replay = replay(run);
        let mut findings = findings(summary, explanation.as_ref(), replay.as_ref(), recommendation.as_ref());
        let further = findings.split_off(SHOWN.min(findings.len()));
        let mut part = Part {
            id,
            name,
            summary: summary.clone(),
            warnings: warnings(summary, replay.is_some()),
            findings,
            further,
            result: None,
            subjects: Vec::new(),
            tables: Vec::new(),
            explanation,
            replay,
            missing: Vec::new(),
        };
        part.fill(run, ids, noted);
        part
    }

    /// Adds the ranking by the highest rate. Charts of single rates would show the steps of the search.
    fn fill_with_capacities(&mut self, ids: &mut Ids, noted: &mut BTreeSet<String>) {
        let chart = capacity_chart(&self.summary).into_iter().collect();
        self.add("Latency against offered load", chart, 0, ids, noted);
        if let Some(mut first) = self.subjects.pop() {
            self.result = Some(first.blocks.remove(0));
        }
        self.tables.push(capacity_table(&self.summary).anchored(format!("{} capacity", self.id)));
    }

    fn fill(&mut self, run: &DecodedRun, ids: &mut Ids, noted: &mut BTreeSet<String>) {
        if !self.summary.capacities.is_empty() {
            return self.fill_with_capacities(ids, noted);
        }
        let summary = &self.summary;
        let (rankings, fewer_rankings) = ranking::charts(summary);
        let rankings = ranking::overview(summary).into_iter().chain(rankings).collect();
        let latency = latency_by_size::charts(summary);
        let by_batch = by_batch::charts(summary, FEWEST_POINTS);
        let by_rate = latency_by_rate::charts(summary, FEWEST_POINTS);
        let by_links = latency_by_links::charts(summary, FEWEST_POINTS);
        let by_parties = sum_by_parties::charts(summary, FEWEST_POINTS);
        let (distributions, fewer) = distribution::charts(run);
        let throughput = throughput_by_size::charts(summary);
        let (busy, less_busy) = cpu_and_latency::charts(summary);
        let mut parts: Vec<Chart> = self.explanation.iter().flat_map(cost_parts::charts).collect();
        parts
            .extend(self.explanation.as_ref().and_then(|explanation| predicted::chart(summary, explanation)));
        let past =
            self.replay.as_ref().map(|replay| then_and_now::charts(summary, replay)).unwrap_or_default();
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
        // The first chart is the one that the run was made for.
        for (title, charts, left_out) in [
            ("Then and now", past, 0),
            ("Where the time goes", parts, 0),
            ("Latency against size", latency, 0),
            ("Throughput against size", throughput, 0),
            ("Batches", by_batch, 0),
            ("Latency against rate", by_rate, 0),
            ("Several at once", by_parties, 0),
            ("Latency against links", by_links, 0),
            ("Ranking", rankings, fewer_rankings),
            ("Distribution of latencies", distributions, fewer),
            ("Distribution by size", distribution::size_charts(run), 0),
            ("Processors busy against latency", busy, less_busy),
        ] {
            self.add(title, charts, left_out, ids, noted);
        }
        if let Some(first) = self.subjects.first_mut() {
            self.result = Some(first.blocks.remove(0));
        }
        self.subjects.retain(|subject| !subject.blocks.is_empty());
        let unmodelled = self.explanation.as_ref().and_then(unmodelled);
        let claimed = self.replay.as_ref().and_then(claimed);
        self.subjects.extend(unmodelled.map(|section| section.anchored(format!("{} unmodelled", self.id))));
        let sizes = (1..).zip(size_tables(&self.summary));
        let sizes = sizes.map(|(at, section)| section.anchored(format!("{} sizes {at}", self.id)));
        self.tables.extend(sizes);
        self.subjects.extend(claimed.map(|section| section.anchored(format!("{} claims", self.id))));
    }

    /// Adds the charts of a subject, if there are any. `left_out` charts, at sizes between the drawn ones, were
    /// dropped before.
    fn add(
        &mut self,
        title: &'static str,
        charts: Vec<Chart>,
        left_out: usize,
        ids: &mut Ids,
        noted: &mut BTreeSet<String>,
    ) {
        if charts.is_empty() {
            return;
        }
        let all = charts.len() + left_out;
        let charts = thinned(charts);
        let left_out = all - charts.len();
        let mut section = Section::titled(title).anchored(format!("{} {title}", self.id));
        for mut chart in charts {
            chart.id =
                ids.give(&format!("{} {}", self.id.strip_prefix("run-").unwrap_or(&self.id), chart.id));
            if self.summary.run.noise.level == Level::Unreliable {
                // The verdict says that nothing is concluded.
                chart.says.clear();
            }
            section = match figures::sentence(&chart) {
                Some(sentence) => section.paragraph(sentence),
                None => {
                    chart.notes.retain(|note| noted.insert(note.clone()));
                    section.with(Block::Chart(chart))
                }
            };
        }
        if left_out > 0 {
            let are = if left_out == 1 { "is" } else { "are" };
            let left_out = count(left_out, "more chart");
            section = section.paragraph(format!(
                "{left_out} of this kind, at sizes between these, {are} not drawn; the table of all rows has their figures."
            ));
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

/// Returns the reasons to distrust a run that the fitness of the machine does not include.
fn warnings(summary: &Summary, is_replay: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    let corrupted = summary.skipped.iter().filter(|entry| entry.is_corruption()).count();
    if corrupted > 0 {
        let rows = count(corrupted, "row");
        let text = format!("{rows} delivered something other than what was sent, and show no speed.");
        lines.push(Line { tone: Tone::Bad, text });
    }
    let warnings = run_warnings(&summary.run);
    lines.extend(warnings.map(|text| Line { tone: Tone::Warning, text: text.to_owned() }));
    if summary.rows.is_empty() && !is_replay {
        lines.push(Line { tone: Tone::Warning, text: "No row has a speed.".to_owned() });
    }
    lines
}

/// Returns the findings, the most important first.
fn findings(
    summary: &Summary,
    explanation: Option<&Explanation>,
    replay: Option<&Replay>,
    recommendation: Option<&Recommendation>,
) -> Vec<String> {
    if let Some(recommendation) = recommendation {
        return recommendation_sentences(recommendation).iter().map(|line| plain_sentence(line)).collect();
    }
    if let Some(replay) = replay {
        return replay_verdict(replay);
    }
    let is_reliable = summary.run.noise.level != Level::Unreliable;
    let mut sentences: Vec<String> =
        explanation.filter(|_| is_reliable).and_then(agreement).into_iter().collect();
    // The fitness of the machine says it.
    let said = |found: &&Finding| !matches!(found, Finding::Unreliable);
    sentences.extend(summary.findings.iter().filter(said).map(finding));
    // A single ranking is the chart of the result, which has this sentence.
    if sentences.is_empty() && summary.groups.len() > 1 {
        sentences.extend(firsts(summary));
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
    let section = Section::titled("Benchmarks that the model does not explain");
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
        Column::words("claim"),
        Column::figures("size"),
        Column::words("now it"),
        Column::figures("then"),
        Column::figures("now"),
        Column::words("why"),
    ];
    let section = Section::titled("Published claims, tested");
    (!replay.claims.is_empty()).then(|| section.table(Table::new(columns, rows.collect())))
}
