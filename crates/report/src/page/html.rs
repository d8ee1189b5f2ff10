//! HTML back end: converts a document for the template, as chapters and sections, each with its anchor.

use crate::figures;
use crate::ids::Ids;
use crate::svg::{self, Paper};
use furlong_chart::{Chart, Side, Tick};
use furlong_render::document::{Block, Document, Fact, Line, Section, Table};
use serde::Serialize;

/// A section, and those below it.
#[derive(Serialize)]
pub struct SectionView<'a> {
    pub id: Option<String>,
    level: usize,
    pub title: Option<&'a str>,
    /// The anchor that its heading leads to.
    pub link: Option<String>,
    blocks: Vec<BlockView<'a>>,
    pub sections: Vec<SectionView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum BlockView<'a> {
    Paragraph(&'a Line),
    Bullets(&'a [Line]),
    Facts(&'a [Fact]),
    Table(&'a Table),
    Chart(Box<ChartView<'a>>),
    Footnotes(&'a [String]),
}

#[derive(Serialize)]
struct ChartView<'a> {
    id: &'a str,
    title: &'a str,
    says: &'a str,
    notes: &'a [String],
    /// Markup, for a wide window and for a phone.
    wide: String,
    narrow: String,
    x_ticks: String,
    y_ticks: String,
    figures: Table,
}

/// Returns the chapters of a document, each with the sections that follow it.
pub fn chapters<'a>(document: &'a Document, ids: &mut Ids) -> Vec<SectionView<'a>> {
    let mut chapters: Vec<SectionView> = Vec::new();
    for section in &document.sections {
        let shown = shown(section, ids);
        let is_chapter = section.heading.as_ref().is_some_and(|(level, _)| *level < 3);
        match chapters.last_mut().filter(|_| !is_chapter) {
            Some(chapter) => chapter.sections.push(shown),
            None => chapters.push(shown),
        }
    }
    chapters
}

fn shown<'a>(section: &'a Section, ids: &mut Ids) -> SectionView<'a> {
    let heading = section.heading.as_ref();
    SectionView {
        id: section.anchor.as_ref().map(|anchor| ids.give(anchor)),
        level: heading.map_or(0, |(level, _)| *level),
        title: heading.map(|(_, title)| title.as_str()),
        link: None,
        blocks: section.blocks.iter().map(block).collect(),
        sections: Vec::new(),
    }
}

fn block(block: &Block) -> BlockView<'_> {
    match block {
        Block::Paragraph(line) => BlockView::Paragraph(line),
        Block::Bullets(lines) => BlockView::Bullets(lines),
        Block::Facts(facts) => BlockView::Facts(facts),
        Block::Table(table) => BlockView::Table(table),
        Block::Chart(one) => BlockView::Chart(Box::new(chart(one))),
        Block::Footnotes(notes) | Block::Legend(_, _, notes) => BlockView::Footnotes(notes),
    }
}

fn chart(chart: &Chart) -> ChartView<'_> {
    ChartView {
        id: &chart.id,
        title: &chart.title,
        says: &chart.says,
        notes: &chart.notes,
        wide: svg::svg(chart, Paper::Wide),
        narrow: svg::svg(chart, Paper::Narrow),
        x_ticks: ticks(chart, Side::X),
        y_ticks: ticks(chart, Side::Y),
        figures: figures::table(chart),
    }
}

/// Returns the ticks of an axis for the script, one line each: position as a share of the axis, tick sets, and label.
fn ticks(chart: &Chart, side: Side) -> String {
    let (axis, ends) = (chart.axis(side), chart.extent(side));
    let [low, high] = ends.map(|end| axis.place(end));
    let line = |(tick, sets): (Tick, u32)| {
        let share = (axis.place(tick.value) - low) / (high - low);
        format!("{share:.4} {sets} {}", tick.label)
    };
    axis.ticks_to_zoom(ends).into_iter().map(line).collect::<Vec<_>>().join("\n")
}
