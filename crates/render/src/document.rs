//! What is said, as a value: sections of paragraphs, bullets, facts, tables, charts and footnotes. It is made once from
//! figures, and each back end prints all of it, so that a terminal, Markdown and the page of a report say the same.
//!
//! Makers clean what they take from records (see [`plain`](crate::plain)); colour, width and markup are the back ends'.

use super::chart::title;
use furlong_chart::Chart;
use serde::Serialize;
use std::borrow::Cow;

/// What is said, in order.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// What belongs together, in order.
    pub sections: Vec<Section>,
}

/// Blocks that belong together.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// What stands above it, and at which level: 1 is that of a whole page, 2 that of a chapter.
    pub heading: Option<(usize, String)>,
    /// By which name links find it, where there are links.
    pub anchor: Option<String>,
    /// What stands in it.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// A sentence or a few.
    Paragraph(Line),
    /// A line each.
    Bullets(Vec<Line>),
    /// What is known, a line each.
    Facts(Vec<Fact>),
    /// Rows below columns.
    Table(Table),
    /// A chart.
    Chart(Chart),
    /// What marks and columns mean.
    Footnotes(Vec<String>),
    /// Meanings of columns, by their names: printed only with a table that has one of them, and in it a cell with the mark, if
    /// they are about a mark.
    Legend(Vec<String>, Option<&'static str>, Vec<String>),
}

/// Text of which one thing may be said at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// What it is to its reader.
    pub tone: Tone,
    /// What it says.
    pub text: String,
}

/// What a line is to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Nothing more than its words.
    Neutral,
    /// As it should be.
    Good,
    /// To be looked at.
    Warning,
    /// Not as it should be.
    Bad,
    /// Of less weight than what is around it.
    Minor,
}

/// Something that is known, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Which.
    pub name: String,
    /// What it is.
    pub value: String,
    /// Whether that is a command, to be typed as it stands.
    pub is_command: bool,
}

/// Rows of cells below the names of columns.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// What stands above its rows.
    pub columns: Vec<Column>,
    /// A cell for each column in each.
    pub rows: Vec<Row>,
    /// Remarks that belong to it.
    pub notes: Vec<String>,
    /// What becomes of it where there is little room.
    #[serde(skip)]
    pub layout: Layout,
    /// Tables of one document with the same number have the same columns and widths.
    #[serde(skip)]
    pub alike: Option<usize>,
}

/// A line of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// What it is to its reader.
    pub tone: Tone,
    /// What stands in it.
    pub cells: Vec<Cell>,
}

/// What stands in a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Words, or a figure by which nobody sorts.
    Text(String),
    /// A figure as it reads, and as it is sorted.
    Figure {
        /// As it reads.
        text: String,
        /// By what it is sorted.
        by: f64,
        /// How far it is from a usual one, where there are colours: from -5 for far less to 5 for far more.
        shade: i8,
    },
    /// A share from 0 to 1, drawn as a bar where there is room for it.
    Bar(f64),
}

/// What becomes of a table that is wider than its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The most expendable columns go.
    Drop,
    /// The same, and the names of the columns are not shown, since the cells speak for themselves.
    Nameless,
    /// So many columns say what a row is about. Of the others, those that do not fit follow below, beside the first
    /// column again.
    Continue(usize),
}

/// What stands above a column.
#[derive(Debug, Clone, Serialize)]
pub struct Column {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Whether the column holds words, and not figures.
    pub words: bool,
    /// Whether its name stands upright where it can, since its cells are narrow.
    pub upright: bool,
    /// Where there is little room, columns with the highest go first; those with 0 stay.
    #[serde(skip)]
    pub expendable: u8,
}

impl Column {
    /// Above words, and always there.
    pub const fn words(name: &'static str) -> Self {
        Column { name: Cow::Borrowed(name), words: true, upright: false, expendable: 0 }
    }

    /// Above figures, and always there.
    pub const fn figures(name: &'static str) -> Self {
        Column { name: Cow::Borrowed(name), words: false, upright: false, expendable: 0 }
    }

    /// Above figures, with a name from a record or a figure.
    pub fn named(name: String) -> Self {
        Column { name: Cow::Owned(name), words: false, upright: false, expendable: 0 }
    }

    /// The same with an upright name.
    pub fn upright(self) -> Self {
        Column { upright: true, ..self }
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

impl Fact {
    /// Something that is known.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Fact { name: name.into(), value: value.into(), is_command: false }
    }

    /// A command, under this name.
    pub fn command(name: impl Into<String>, value: impl Into<String>) -> Self {
        Fact { is_command: true, ..Fact::new(name, value) }
    }
}

impl Cell {
    /// A figure, as it reads and as it is.
    pub fn figure(text: impl Into<String>, by: f64) -> Self {
        if by.is_finite() {
            Cell::Figure { text: text.into(), by, shade: 0 }
        } else {
            Cell::Text(text.into())
        }
    }

    /// A figure that is `ratio` times the usual one; what is within the margin has no shade.
    pub fn shaded(text: impl Into<String>, by: f64, ratio: f64, margin: f64) -> Self {
        const FROM: [f64; 4] = [1.1, 1.25, 1.5, 2.0];
        let far = ratio.max(1.0 / ratio);
        let steps = [1.0 + margin].into_iter().chain(FROM).filter(|from| far > *from).count() as i8;
        Cell::Figure { text: text.into(), by, shade: if ratio < 1.0 { -steps } else { steps } }
    }

    /// Where there is no figure.
    pub fn none() -> Self {
        Cell::Text("–".to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl Row {
    /// Without a tone.
    pub fn neutral<C: Into<Cell>>(cells: impl IntoIterator<Item = C>) -> Self {
        Row { tone: Tone::Neutral, cells: cells.into_iter().map(Into::into).collect() }
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
        Section { heading: Some((3, heading.into())), ..Section::default() }
    }

    /// With this heading, what belongs to `what` stands in several sections below it.
    pub fn chapter(heading: impl Into<String>) -> Self {
        Section { heading: Some((2, heading.into())), ..Section::default() }
    }

    /// A list under a title; without lines, a section with nothing to say.
    pub fn list(heading: &str, lines: impl IntoIterator<Item = Line>) -> Self {
        Section::titled(heading).bullets(lines)
    }

    /// With a name for links.
    pub fn anchored(mut self, anchor: impl Into<String>) -> Self {
        self.anchor = Some(anchor.into());
        self
    }

    /// With a paragraph.
    pub fn paragraph(self, text: impl Into<String>) -> Self {
        self.toned(Tone::Neutral, text)
    }

    /// With a paragraph, if there is a text for it.
    pub fn paragraph_if(self, text: Option<impl Into<String>>) -> Self {
        match text {
            Some(text) => self.paragraph(text),
            None => self,
        }
    }

    /// With a paragraph of this tone.
    pub fn toned(self, tone: Tone, text: impl Into<String>) -> Self {
        self.with(Block::Paragraph(Line { tone, text: text.into() }))
    }

    /// With bullets, if there are any.
    pub fn bullets(self, lines: impl IntoIterator<Item = Line>) -> Self {
        self.with(Block::Bullets(lines.into_iter().collect()))
    }

    /// With facts, if there are any.
    pub fn facts(self, facts: impl IntoIterator<Item = Fact>) -> Self {
        self.with(Block::Facts(facts.into_iter().collect()))
    }

    /// With a table.
    pub fn table(self, table: Table) -> Self {
        self.with(Block::Table(table))
    }

    /// With footnotes, if there are any.
    pub fn footnotes(self, notes: Vec<String>) -> Self {
        self.with(Block::Footnotes(notes))
    }

    /// With another block, unless it has nothing to say.
    pub fn with(mut self, block: Block) -> Self {
        let says_something = match &block {
            Block::Bullets(lines) => !lines.is_empty(),
            Block::Facts(facts) => !facts.is_empty(),
            Block::Footnotes(notes) => !notes.is_empty(),
            Block::Paragraph(_) | Block::Table(_) | Block::Chart(_) | Block::Legend(..) => true,
        };
        self.blocks.extend(says_something.then_some(block));
        self
    }
}

/// Sections of charts.
pub(crate) fn drawn(charts: impl IntoIterator<Item = Chart>) -> impl Iterator<Item = Section> {
    charts.into_iter().map(|chart| Section::titled(title(&chart)).with(Block::Chart(chart)))
}
