//! A summary as a document: the machine, the noise verdict, a table for each group, the unmeasured cases, and the
//! conclusions.

use super::{
    boundaries::boundaries,
    capacity,
    charts::latency_by_rate,
    count,
    document::{Block, Document, Line, Row, Section, Table, Tone, drawn},
    findings::finding,
    noise, prose,
    ranking::{columns, entries, heads},
    size_classes::size_classes,
    unmeasured::unmeasured,
    words::fitness,
};
use furlong_analysis::{Group, PayloadKind, RunFacts, SkippedCase, SkippedStatus, Summary, Verdict};
use furlong_chart::Chart;

/// Returns the summary, with these charts after the tables.
pub fn document(summary: &Summary, charts: Vec<Chart>) -> Document {
    if !summary.capacities.is_empty() {
        // At a rate above the highest one, a benchmark is saturated.
        let is_expected = |entry: &&SkippedCase| entry.saturation.is_none();
        let others: Vec<_> = summary.skipped.iter().filter(is_expected).cloned().collect();
        return capacity::document(summary, head(summary), charts, unmeasured(&others));
    }
    let mut document = Document::default();
    document.push(head(summary));
    for (kind, groups) in summary.groups.chunk_by(|a, b| a.carries == b.carries).enumerate() {
        if groups[0].carries != PayloadKind::Nothing {
            rankings(summary, kind, groups).for_each(|section| document.push(section));
            groups
                .iter()
                .filter_map(|group| size_classes(summary, group))
                .for_each(|section| document.push(section));
        }
    }
    if summary.rows.is_empty() {
        document.push(Section::default().paragraph("Nothing was measured."));
    }
    summary.untimed_counts.iter().for_each(|row| document.push(count::section(row)));
    drawn(charts).for_each(|section| document.push(section));
    document.push(prose::legend(summary).into_iter().fold(Section::default(), Section::with));
    document.push(unmeasured(&summary.skipped));
    let findings = summary.findings.iter().map(finding).chain(latency_by_rate::sentences(summary));
    document.push(Section::list(prose::FINDINGS, findings.map(Line::neutral)));
    document
}

/// Returns everything above the tables.
fn head(summary: &Summary) -> Section {
    let run = &summary.run;
    let section = Section::default().paragraph(prose::machine(&run.machine, &run.harness));
    let section =
        section.paragraph_if(run.peer.as_deref().map(prose::peer)).paragraph_if(boundaries(summary));
    let section = with_noise_of(section, summary)
        .paragraph_if(prose::standing(summary))
        .paragraph_if(prose::floor(summary));
    with_run_warnings(section, run)
}

/// Adds the warnings about a run, except the noise verdict.
pub(crate) fn with_run_warnings(section: Section, run: &RunFacts) -> Section {
    prose::run_warnings(run).fold(section, |section, warning| section.toned(Tone::Warning, warning))
}

/// Adds the noise verdict and its reasons.
pub(crate) fn with_noise(section: Section, verdict: &Verdict) -> Section {
    let reasons = noise::noise(verdict).into_iter().map(Line::neutral);
    section.with(Block::Paragraph(fitness(verdict.level))).bullets(reasons)
}

/// Adds the noise verdict of a run, unless every case was refused or unavailable.
fn with_noise_of(section: Section, summary: &Summary) -> Section {
    let noise = &summary.run.noise;
    if !summary.rows.is_empty() {
        return with_noise(section, noise);
    }
    let was_started =
        |entry: &SkippedCase| !matches!(entry.status, SkippedStatus::Refused | SkippedStatus::Unavailable);
    if !summary.skipped.iter().any(was_started) {
        return section;
    }
    // Noise may be why benchmarks failed, and there are no figures to warn of.
    let Line { tone, text } = fitness(noise.level);
    let level = text.split_once(':').map_or(text.clone(), |(level, _)| format!("{level}."));
    section.toned(tone, level).bullets(self::noise::noise(noise).into_iter().map(Line::neutral))
}

/// Returns a table for each of `groups`, with equal columns and widths for easy comparison.
fn rankings<'a>(
    summary: &'a Summary,
    kind: usize,
    groups: &'a [Group],
) -> impl Iterator<Item = Section> + 'a {
    let all: Vec<_> = groups.iter().flat_map(|group| entries(summary, group)).collect();
    let columns = columns(&all);
    let heads = heads(&columns, &all, summary.run.across);
    groups.iter().map(move |group| {
        let cells = |entry| Row::neutral(columns.iter().map(|column| (column.cell)(&entry)));
        let rows = entries(summary, group).into_iter().map(cells).collect();
        let notes = prose::chosen_processors(summary, group)
            .into_iter()
            .chain(prose::late(summary, group))
            .chain(prose::stand_in(&summary.run.machine))
            .collect();
        let table = Table { alike: Some(kind), notes, ..Table::new(heads.clone(), rows) };
        let section = Section::titled(group.title.clone());
        match prose::crowded(summary, group) {
            Some(crowded) => section.paragraph(crowded).table(table),
            None => section.table(table),
        }
    })
}
