//! What is said, as a value: sections of paragraphs, bullets, tables, charts and footnotes. It is made once from figures,
//! and each back end prints all of it, so that a terminal and a page of Markdown say the same.
//!
//! Makers clean what they take from records (see [`plain`](crate::plain)); colour, width and markup are the back ends'.

use super::chart::title;
use furlong_chart::Chart;
use std::borrow::Cow;

/// What is said, in order.
#[derive(Default)]
pub(crate) struct Document {
    pub sections: Vec<Section>,
}

/// Blocks that belong together.
#[derive(Default)]
pub(crate) struct Section {
    /// What stands above it, and at which level: 2 is the highest.
    pub heading: Option<(usize, String)>,
    pub blocks: Vec<Block>,
}

/// A part of a section.
pub(crate) enum Block {
    Paragraph(Line),
    Bullets(Vec<Line>),
    Table(Table),
    Chart(Chart),
    /// What marks and columns mean.
    Footnotes(Vec<String>),
}

/// Text of which one thing may be said at a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub tone: Tone,
    pub text: String,
}

/// What a line is to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Neutral,
    Good,
    Warning,
    Bad,
    /// Of less weight than what is around it.
    Minor,
}

/// Rows of cells below the names of columns.
pub(crate) struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Remarks that belong to it.
    pub notes: Vec<String>,
    pub layout: Layout,
    /// Tables of one document with the same number have the same columns and widths.
    pub alike: Option<usize>,
}

/// A line of a table.
pub(crate) struct Row {
    pub tone: Tone,
    pub cells: Vec<Cell>,
}

/// What stands in a cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    /// A share from 0 to 1, drawn as a bar where there is room for it.
    Bar(f64),
}

/// What becomes of a table that is wider than its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The most expendable columns go.
    Drop,
    /// The same, and the names of the columns are not shown, since the cells speak for themselves.
    Nameless,
    /// So many columns say what a row is about. Of the others, those that do not fit follow below, beside the first
    /// column again.
    Continue(usize),
}

/// What stands above a column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Whether the column holds words, and not figures.
    pub words: bool,
    /// Where there is little room, columns with the highest go first; those with 0 stay.
    pub expendable: u8,
}

impl Column {
    /// Above words, and always there.
    pub const fn words(name: &'static str) -> Self {
        Column { name: Cow::Borrowed(name), words: true, expendable: 0 }
    }

    /// Above figures, and always there.
    pub const fn figures(name: &'static str) -> Self {
        Column { name: Cow::Borrowed(name), words: false, expendable: 0 }
    }

    /// Above figures, with a name from a record or a figure.
    pub fn named(name: String) -> Self {
        Column { name: Cow::Owned(name), words: false, expendable: 0 }
    }

    /// The same above a column that may go.
    pub const fn expendable(mut self, expendable: u8) -> Self {
        self.expendable = expendable;
        self
    }
}

impl Line {
    /// Without a tone.
    pub fn neutral(text: impl Into<String>) -> Self {
        Line { tone: Tone::Neutral, text: text.into() }
    }
}

impl Row {
    /// Without a tone.
    pub fn neutral(cells: Vec<String>) -> Self {
        Row { tone: Tone::Neutral, cells: cells.into_iter().map(Cell::Text).collect() }
    }
}

impl Table {
    /// A table that loses columns where there is little room.
    pub fn new(columns: impl Into<Vec<Column>>, rows: Vec<Row>) -> Self {
        Table { columns: columns.into(), rows, notes: Vec::new(), layout: Layout::Drop, alike: None }
    }
}

impl Document {
    /// Adds a section, unless it has nothing to say.
    pub fn push(&mut self, section: Section) {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
    }
}

impl FromIterator<Section> for Document {
    fn from_iter<T: IntoIterator<Item = Section>>(sections: T) -> Self {
        Document { sections: sections.into_iter().filter(|section| !section.blocks.is_empty()).collect() }
    }
}

impl Section {
    /// Below a heading of the level of rankings and lists.
    pub fn titled(heading: impl Into<String>) -> Self {
        Section { heading: Some((3, heading.into())), blocks: Vec::new() }
    }

    /// With this heading, what belongs to `what` stands in several sections below it.
    pub fn chapter(heading: impl Into<String>) -> Self {
        Section { heading: Some((2, heading.into())), blocks: Vec::new() }
    }

    /// A list under a title; without lines, a section with nothing to say.
    pub fn list(heading: &str, lines: impl IntoIterator<Item = Line>) -> Self {
        Section::titled(heading).bullets(lines)
    }

    /// With a paragraph.
    pub fn paragraph(self, text: impl Into<String>) -> Self {
        self.toned(Tone::Neutral, text)
    }

    /// With a paragraph of this tone.
    pub fn toned(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Paragraph(Line { tone, text: text.into() }));
        self
    }

    /// With bullets, if there are any.
    pub fn bullets(mut self, lines: impl IntoIterator<Item = Line>) -> Self {
        let lines: Vec<_> = lines.into_iter().collect();
        if !lines.is_empty() {
            self.blocks.push(Block::Bullets(lines));
        }
        self
    }

    /// With a table.
    pub fn table(mut self, table: Table) -> Self {
        self.blocks.push(Block::Table(table));
        self
    }

    /// With footnotes, if there are any.
    pub fn footnotes(mut self, notes: Vec<String>) -> Self {
        if !notes.is_empty() {
            self.blocks.push(Block::Footnotes(notes));
        }
        self
    }

    /// With another block.
    pub fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}

/// Sections of charts.
pub(crate) fn drawn(charts: impl IntoIterator<Item = Chart>) -> impl Iterator<Item = Section> {
    charts.into_iter().map(|chart| Section::titled(title(&chart)).with(Block::Chart(chart)))
}
