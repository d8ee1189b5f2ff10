//! The report as documents: verdict and chapters of the HTML page, and the Markdown text. Both have equal verdicts,
//! charts and subject tables. The page has all benchmarks in one sortable table; Markdown has the tables of the
//! terminal.

use crate::facts;
use crate::part::{Part, SHOWN};
use crate::report::{ComparedRuns, Report};
use crate::rows;
use furlong_analysis::{Difference, Replay};
use furlong_chart::Chart;
use furlong_render::document::{Block, Column, Document, Fact, Line, Row, Section, Table, Tone};
use furlong_render::words::{count, fitness};
use furlong_render::{
    Charts, comparison_document, comparison_verdict, date, floor, footnotes, machine, noise_reasons,
    overview, plain, plain_sentence, replay_document, shell, summary_document,
};

/// Description of the method.
const METHOD: &str = "Trials of all benchmarks are interleaved in a seeded random order, each in fresh processes. A \
                      figure is the median over trials with its 95 % confidence interval in this run, which excludes \
                      the variation between runs. Benchmarks tie if the interval of their ratio contains 1. Every \
                      message is verified, and a benchmark with inconsistent figures shows no time.";
/// Advice on missing figures.
const MISSING: &str =
    "This run has no figures for these charts. Measure them, and add that run to the report.";

impl Report {
    /// Returns the conclusions of all runs, which precede everything else on a page.
    pub(crate) fn verdict(&self) -> Document {
        let mut document = Document {
            sections: vec![self.with_not_compared(Section::chapter("The verdict").anchored("verdict"))],
        };
        document.sections.extend(self.compared.as_ref().map(|compared| {
            let findings = Section::titled(compared.title()).bullets(compared.findings().take(SHOWN));
            compared.charts.first().cloned().map(Block::Chart).into_iter().fold(findings, Section::with)
        }));
        document.sections.extend(self.parts.iter().map(|part| match &self.parts[..] {
            [_] => part.result.iter().cloned().fold(part.with_verdict(Section::default()), Section::with),
            _ => part.with_verdict(Section::titled(&part.name)),
        }));
        document
    }

    /// Returns the chapters of a page.
    pub(crate) fn chapters(&self) -> Document {
        let compared = self.compared.iter().flat_map(ComparedRuns::chapter);
        let is_alone = self.parts.len() == 1;
        let parts = self.parts.iter().flat_map(|part| part.chapter(!is_alone));
        Document { sections: compared.chain(parts).collect() }
    }

    /// Returns the Markdown text.
    pub(crate) fn text(&self) -> Document {
        let title = Section { heading: Some((1, self.title())), ..Section::default() };
        let mut sections = vec![self.with_not_compared(title)];
        if let Some(compared) = &self.compared {
            sections.push(Section::chapter(compared.title()));
            sections.extend(comparison_document(&compared.comparison).sections);
            sections.push(compared.ratios(&compared.charts));
        }
        sections.extend(self.parts.iter().flat_map(Part::text));
        Document { sections }
    }

    fn with_not_compared(&self, section: Section) -> Section {
        self.not_compared.iter().fold(section, Section::paragraph)
    }
}

impl ComparedRuns {
    fn title(&self) -> String {
        format!("Compared with {}", plain(&self.comparison.baseline))
    }

    fn findings(&self) -> impl Iterator<Item = Line> {
        comparison_verdict(&self.comparison).into_iter().map(Line::neutral)
    }

    /// Returns everything that the verdict has no room for.
    fn chapter(&self) -> Vec<Section> {
        let chapter = Section::chapter("Runs compared").anchored("compared");
        let ratios = self.ratios(self.charts.get(1..).unwrap_or_default());
        let further = Some(ratios).filter(|section| !section.blocks.is_empty());
        let chapter = chapter.bullets(self.findings().skip(SHOWN));
        [chapter].into_iter().chain(further).chain(self.differences()).collect()
    }

    fn ratios(&self, charts: &[Chart]) -> Section {
        let section = Section::titled("Ratios, row by row").anchored("compared ratios");
        charts.iter().cloned().map(Block::Chart).fold(section, Section::with)
    }

    fn differences(&self) -> Option<Section> {
        let differences = &self.comparison.environment_differences;
        let row = |Difference { run, what, then, now }: &Difference| {
            Row::neutral([run, what, then, now].map(|text| plain(text)))
        };
        let columns = ["run", "what differs", "in the baseline", "in this run"].map(Column::words);
        let section = Section::titled("Other differences between the runs").anchored("compared differences");
        (!differences.is_empty())
            .then(|| section.table(Table::new(columns, differences.iter().map(row).collect())))
    }
}

impl Part {
    /// Adds the command, the repeated experiment, the fitness of the machine, and the findings of the run.
    fn with_verdict(&self, section: Section) -> Section {
        let run = &self.summary.run;
        let section = section.facts([Fact::command(date(run.started_unix_s), shell(&run.argv))]);
        let section =
            self.replay.iter().fold(section, |section, replay| section.toned(Tone::Minor, published(replay)));
        let lines = [fitness(run.noise.level)].into_iter().chain(self.warnings.iter().cloned());
        let section = lines.map(Block::Paragraph).fold(section, Section::with);
        section.bullets(self.findings.iter().map(Line::neutral))
    }

    fn further(&self) -> Section {
        Section::titled("Further findings").bullets(self.further.iter().map(Line::neutral))
    }

    /// Returns the sections of the run for a page, with its result unless the verdict has it.
    fn chapter(&self, with_result: bool) -> Vec<Section> {
        let Part { name, summary, .. } = self;
        let run = &summary.run;
        let titled =
            |title: &str, anchor: &str| Section::titled(title).anchored(format!("{} {anchor}", self.id));
        let origin = format!("{}. {}.", date(run.started_unix_s), machine(&run.machine, &run.harness));
        let noise = noise_reasons(&run.noise).into_iter().map(Line::neutral);
        let head = titled("Machine and noise", "machine").bullets(noise);
        let result = self.result.iter().filter(|_| with_result).cloned();
        let result = result.fold(titled("Result", "result"), Section::with);
        let further = self.further().anchored(format!("{} further", self.id));
        let faults = self.replay.iter().flat_map(|replay| &replay.faults);
        let faults = faults.map(|fault| Line::neutral(plain_sentence(fault)));
        let rows = rows::measured(&summary.rows).map(|table| {
            let title = format!("All benchmarks of {name} ({})", count(table.rows.len(), "benchmark"));
            let notes = footnotes(summary).into_iter().chain(floor(summary)).collect();
            titled(&title, "rows").table(Table { notes, ..table })
        });
        let skipped = rows::skipped(&summary.skipped).map(|table| {
            titled(&format!("Not measured in {name}, or not in every trial"), "skipped").table(table)
        });
        let missing = titled("Further charts", "missing");
        let mut document: Document = [
            Section::chapter(name).anchored(&self.id).toned(Tone::Minor, origin),
            result,
            further,
            head.facts(facts::machine(&run.machine)),
        ]
        .into_iter()
        .chain(self.subjects.iter().chain(&self.tables).cloned())
        .collect();
        document.push(titled("Known faults of the published programs", "faults").bullets(faults));
        document.push(titled("Method", "method").paragraph(METHOD).facts(facts::method(summary)));
        rows.into_iter().chain(skipped).for_each(|section| document.push(section));
        if !self.missing.is_empty() {
            document.push(missing.paragraph(MISSING).facts(self.missing.clone()));
        }
        document.sections
    }

    /// Returns the sections of the run for Markdown.
    fn text(&self) -> Vec<Section> {
        let explained = self.explanation.as_ref().map(|explanation| {
            let heading = Some((3, "Measured and explained".to_owned()));
            Section { heading, ..overview(explanation) }
        });
        let figures = match &self.replay {
            Some(replay) => replay_document(replay, Charts::Never).sections,
            None => {
                let tables = summary_document(&self.summary, Vec::new()).sections;
                [Section::titled("All benchmarks")].into_iter().chain(tables).collect()
            }
        };
        let verdict = self.with_verdict(Section::chapter(&self.name));
        [self.result.iter().cloned().fold(verdict, Section::with), self.further()]
            .into_iter()
            .filter(|section| !section.blocks.is_empty())
            .chain(explained)
            .chain(self.subjects.iter().cloned())
            .chain(figures)
            .collect()
    }
}

/// Describes the publication: title, author, year and source.
fn published(replay: &Replay) -> String {
    let year = replay.year.map(|year| year.to_string());
    let by = [replay.author.clone(), year, replay.source.clone()];
    let by: Vec<_> = by.into_iter().flatten().map(|text| plain(&text)).collect();
    let title = plain(&replay.title);
    if by.is_empty() { title } else { format!("{title} ({})", by.join(", ")) }
}
