//! Output as a value: sections of paragraphs, bullets, facts, tables, charts and footnotes. A document is built once
//! from the figures. Each back end prints the whole document, so the terminal, Markdown and the HTML report contain the
//! same text.
//!
//! Code that builds a document sanitizes text from records (see [`plain`](crate::plain)). The back ends choose colour,
//! width and markup.

use super::chart::title;
use furlong_chart::Chart;
use serde::Serialize;
use std::borrow::Cow;

/// Output as ordered sections.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Sections in their printed order.
    pub sections: Vec<Section>,
}

/// Blocks under one heading.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Heading and its level: 1 for a page, 2 for a chapter.
    pub heading: Option<(usize, String)>,
    /// Link target, for formats with links.
    pub anchor: Option<String>,
    /// Content of the section.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[expect(clippy::large_enum_variant, reason = "a document has few charts")]
#[derive(Debug, Clone)]
pub enum Block {
    /// One or more sentences.
    Paragraph(Line),
    /// Bullets, one line each.
    Bullets(Vec<Line>),
    /// Names with values, one line each.
    Facts(Vec<Fact>),
    /// Rows below columns.
    Table(Table),
    /// A chart.
    Chart(Chart),
    /// Meanings of marks and columns.
    Footnotes(Vec<String>),
    /// Meanings of columns, with the names of these columns. A meaning is printed only with a table that has one of the
    /// columns. If it explains a mark, a cell of that column must also hold the mark.
    Legend(Vec<String>, Option<&'static str>, Vec<String>),
}

/// Text with a tone that conveys its importance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Importance of the line.
    pub tone: Tone,
    /// Text of the line.
    pub text: String,
}

/// Importance of a line for its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// No emphasis.
    Neutral,
    /// A good result.
    Good,
    /// A result that needs attention.
    Warning,
    /// A bad result.
    Bad,
    /// Less important than its surroundings.
    Minor,
}

/// A value with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Name of the fact.
    pub name: String,
    /// Value of the fact.
    pub value: String,
    /// Whether the value is a command that can be typed literally.
    pub is_command: bool,
}

/// Rows of cells below the names of columns.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Column headers.
    pub columns: Vec<Column>,
    /// Lines, each with one cell per column.
    pub rows: Vec<Row>,
    /// Notes below the table.
    pub notes: Vec<String>,
    /// How the table is shortened on a narrow page.
    #[serde(skip)]
    pub layout: Layout,
    /// Tables of one document with the same number have the same columns and widths.
    #[serde(skip)]
    pub alike: Option<usize>,
}

/// A line of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Importance of the line.
    pub tone: Tone,
    /// Cells of the line, one per column.
    pub cells: Vec<Cell>,
}

/// Content of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Words, or a figure that cannot be sorted.
    Text(String),
    /// A figure with its printed text and its sort key.
    Figure {
        /// Printed text.
        text: String,
        /// Sort key.
        by: f64,
        /// Distance from the default figure, shown as a colour: from -5 (far less) to 5 (far more).
        shade: i8,
    },
    /// A share from 0 to 1, drawn as a bar if it fits.
    Bar(f64),
}

/// How a table is shortened if it is wider than its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Drops the most expendable columns.
    Drop,
    /// Drops the most expendable columns and hides the column names, because the cells explain themselves.
    Nameless,
    /// Keeps the first N columns, which identify a line. Other columns that do not fit follow below, after a repeated
    /// first column.
    Continue(usize),
}

/// A column header.
#[derive(Debug, Clone, Serialize)]
pub struct Column {
    /// Name of the column.
    pub name: Cow<'static, str>,
    /// Whether the column holds words instead of figures.
    pub words: bool,
    /// Whether the name is printed vertically if the format supports it, because the cells are narrow.
    pub upright: bool,
    /// Columns with the highest value are dropped first on a narrow page. Columns with 0 stay.
    #[serde(skip)]
    pub expendable: u8,
}

impl Column {
    /// Creates a column of words that is never dropped.
    pub const fn words(name: &'static str) -> Self {
        Column { name: Cow::Borrowed(name), words: true, upright: false, expendable: 0 }
    }

    /// Creates a column of figures that is never dropped.
    pub const fn figures(name: &'static str) -> Self {
        Column { name: Cow::Borrowed(name), words: false, upright: false, expendable: 0 }
    }

    /// Creates a column of figures whose name comes from a record or a figure.
    pub fn named(name: String) -> Self {
        Column { name: Cow::Owned(name), words: false, upright: false, expendable: 0 }
    }

    /// Prints the column name vertically if the format supports it.
    pub fn upright(self) -> Self {
        Column { upright: true, ..self }
    }

    /// Lets a narrow page drop the column; a higher value is dropped earlier.
    pub const fn expendable(mut self, expendable: u8) -> Self {
        self.expendable = expendable;
        self
    }
}

impl Line {
    /// Creates a line without a tone.
    pub fn neutral(text: impl Into<String>) -> Self {
        Line { tone: Tone::Neutral, text: text.into() }
    }
}

impl Fact {
    /// Creates a fact from a name and a value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Fact { name: name.into(), value: value.into(), is_command: false }
    }

    /// Creates a fact whose value is a command.
    pub fn command(name: impl Into<String>, value: impl Into<String>) -> Self {
        Fact { is_command: true, ..Fact::new(name, value) }
    }
}

impl Cell {
    /// Creates a figure from its text and its value.
    pub fn figure(text: impl Into<String>, by: f64) -> Self {
        if by.is_finite() {
            Cell::Figure { text: text.into(), by, shade: 0 }
        } else {
            Cell::Text(text.into())
        }
    }

    /// Creates a figure that is `ratio` times the default figure. A figure within `margin` has no shade.
    pub fn shaded(text: impl Into<String>, by: f64, ratio: f64, margin: f64) -> Self {
        const FROM: [f64; 4] = [1.1, 1.25, 1.5, 2.0];
        let far = ratio.max(1.0 / ratio);
        let steps = [1.0 + margin].into_iter().chain(FROM).filter(|from| far > *from).count() as i8;
        Cell::Figure { text: text.into(), by, shade: if ratio < 1.0 { -steps } else { steps } }
    }

    /// Creates a cell for a missing figure.
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
    /// Creates a line without a tone.
    pub fn neutral<C: Into<Cell>>(cells: impl IntoIterator<Item = C>) -> Self {
        Row { tone: Tone::Neutral, cells: cells.into_iter().map(Into::into).collect() }
    }
}

impl Table {
    /// Creates a table that drops columns on a narrow page.
    pub fn new(columns: impl Into<Vec<Column>>, rows: Vec<Row>) -> Self {
        Table { columns: columns.into(), rows, notes: Vec::new(), layout: Layout::Drop, alike: None }
    }
}

impl Document {
    /// Adds a section, unless it is empty.
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
    /// Creates a section with a heading of level 3, the level of rankings and lists.
    pub fn titled(heading: impl Into<String>) -> Self {
        Section { heading: Some((3, heading.into())), ..Section::default() }
    }

    /// Creates a section with a heading of level 2. The following sections hold its content.
    pub fn chapter(heading: impl Into<String>) -> Self {
        Section { heading: Some((2, heading.into())), ..Section::default() }
    }

    /// Creates a list under a title. Without lines, the section is empty.
    pub fn list(heading: &str, lines: impl IntoIterator<Item = Line>) -> Self {
        Section::titled(heading).bullets(lines)
    }

    /// Adds a link target.
    pub fn anchored(mut self, anchor: impl Into<String>) -> Self {
        self.anchor = Some(anchor.into());
        self
    }

    /// Adds a paragraph.
    pub fn paragraph(self, text: impl Into<String>) -> Self {
        self.toned(Tone::Neutral, text)
    }

    /// Adds a paragraph, if there is a text for it.
    pub fn paragraph_if(self, text: Option<impl Into<String>>) -> Self {
        match text {
            Some(text) => self.paragraph(text),
            None => self,
        }
    }

    /// Adds a paragraph of this tone.
    pub fn toned(self, tone: Tone, text: impl Into<String>) -> Self {
        self.with(Block::Paragraph(Line { tone, text: text.into() }))
    }

    /// Adds bullets, if there are any.
    pub fn bullets(self, lines: impl IntoIterator<Item = Line>) -> Self {
        self.with(Block::Bullets(lines.into_iter().collect()))
    }

    /// Adds facts, if there are any.
    pub fn facts(self, facts: impl IntoIterator<Item = Fact>) -> Self {
        self.with(Block::Facts(facts.into_iter().collect()))
    }

    /// Adds a table.
    pub fn table(self, table: Table) -> Self {
        self.with(Block::Table(table))
    }

    /// Adds footnotes, if there are any.
    pub fn footnotes(self, notes: Vec<String>) -> Self {
        self.with(Block::Footnotes(notes))
    }

    /// Adds a block, unless it is empty.
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
