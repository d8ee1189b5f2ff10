//! A document for a terminal: the one place that knows its width and colours.

use super::bar::bar;
use super::chart;
use super::document::{Block, Cell, Column, Document, Fact, Layout, Line, Row, Section, Table, Tone};
use super::grid::{HEAD_LINES, grid};
use super::style::{Paint, Style};
use furlong_analysis::text::wrap;
use furlong_model::display_width;
use std::collections::HashMap;

/// Columns before facts, and before the rows of a table whose columns have no names.
const INDENT: usize = 2;
/// Columns between the names of facts and their values.
const GAP: usize = 2;
/// Columns that a bar may take; the first that leaves room for the rest is taken.
const BARS: [usize; 2] = [24, 12];

/// Returns the document with an empty line between two sections.
pub(crate) fn terminal(document: &Document, style: Style) -> String {
    let printer = Printer { document, style, fitted: &fitted(document, style.width) };
    document.sections.iter().map(|section| printer.section(section)).collect::<Vec<_>>().join("\n")
}

/// The lines of tables that lose columns, by the addresses of the tables.
type FittedTables = HashMap<*const Table, Vec<String>>;

struct Printer<'a> {
    document: &'a Document,
    style: Style,
    fitted: &'a FittedTables,
}

impl Printer<'_> {
    fn section(&self, section: &Section) -> String {
        let title = section.heading.iter().map(|(_, title)| self.wrapped(Some(Paint::Bold), title));
        title.chain(section.blocks.iter().map(|block| self.block(block))).collect()
    }

    fn block(&self, block: &Block) -> String {
        match block {
            Block::Paragraph(line) => self.wrapped(paint(line.tone), &line.text),
            Block::Bullets(lines) => lines.iter().map(|line| self.bullet(line)).collect(),
            Block::Facts(facts) => self.facts(facts),
            Block::Table(table) => self.table(table) + &self.minor(&table.notes),
            Block::Chart(chart) => chart::drawn(chart, self.style),
            Block::Footnotes(notes) => self.minor(notes),
            Block::Legend(columns, mark, notes)
                if columns.iter().any(|name| self.has_column(name, *mark)) =>
            {
                self.minor(notes)
            }
            Block::Legend(..) => String::new(),
        }
    }

    /// Returns whether a printed table has a column of this name and, if `mark` is set, a cell with this mark in it.
    fn has_column(&self, name: &str, mark: Option<&str>) -> bool {
        let printer = Printer { style: Style { colour: false, ..self.style }, ..*self };
        tables(self.document).any(|table| {
            let Some(at) = table.columns.iter().position(|column| column.name == name) else { return false };
            let is_marked = |row: &Row| mark.is_none_or(|mark| row.cells[at] == Cell::Text(mark.to_owned()));
            let text = printer.table(table);
            let mut heads = text.lines().next().unwrap_or_default().split("  ").map(str::trim);
            table.rows.iter().any(is_marked) && heads.any(|head| head == name)
        })
    }

    /// Wraps a text at the terminal's width.
    fn wrapped(&self, paint: Option<Paint>, text: &str) -> String {
        self.painted(paint, &wrap(text, self.style.width, 2)) + "\n"
    }

    fn painted(&self, paint: Option<Paint>, text: &str) -> String {
        paint.map_or_else(|| text.to_owned(), |paint| self.style.paint(paint, text))
    }

    /// Returns the facts with aligned values. Names are indented.
    fn facts(&self, facts: &[Fact]) -> String {
        let longest = facts.iter().map(|fact| display_width(&fact.name)).max().unwrap_or_default();
        let column = INDENT + longest + GAP;
        let line = |Fact { name, value, .. }: &Fact| {
            let value = wrap(value, self.style.width.saturating_sub(column), 0);
            let gap = " ".repeat(column - INDENT - display_width(name));
            let value = value.replace('\n', &format!("\n{}", " ".repeat(column)));
            format!("{}{name}{gap}{value}\n", " ".repeat(INDENT))
        };
        facts.iter().map(line).collect()
    }

    fn bullet(&self, line: &Line) -> String {
        self.wrapped(paint(line.tone), &format!("- {}", line.text))
    }

    fn minor(&self, notes: &[String]) -> String {
        notes.iter().map(|note| self.wrapped(Some(Paint::Dim), note)).collect()
    }

    fn table(&self, table: &Table) -> String {
        match table.layout {
            Layout::Continue(keys) => self.continued(table, keys),
            Layout::Drop => self.lines(table, self.fitted(table), HEAD_LINES, 0),
            Layout::Nameless => self.lines(table, self.fitted(table), 0, INDENT),
        }
    }

    fn fitted(&self, table: &Table) -> &[String] {
        self.fitted.get(&std::ptr::from_ref(table)).map_or(&[], Vec::as_slice)
    }

    /// Returns the lines of a table: `names` lines of column names, then each row in its colour.
    fn lines(&self, table: &Table, lines: &[String], names: usize, indent: usize) -> String {
        let paints = (0..names).map(|_| Some(Paint::Dim)).chain(table.rows.iter().map(|row| paint(row.tone)));
        let indent = " ".repeat(indent);
        lines
            .iter()
            .zip(paints)
            .map(|(line, paint)| indent.clone() + &self.painted(paint, line) + "\n")
            .collect()
    }

    /// Continues the columns that do not fit below the table, after a repeated first column.
    fn continued(&self, table: &Table, keys: usize) -> String {
        let rows: Vec<&Row> = table.rows.iter().collect();
        let (mut text, mut from) = (String::new(), keys);
        loop {
            let keys = if from == keys { keys } else { 1 };
            let part = |to: usize| {
                let is_kept = |at: &usize| *at < keys || (from..to).contains(at);
                with(&table.columns, &rows, &(0..table.columns.len()).filter(is_kept).collect::<Vec<_>>(), 0)
            };
            let fits = |to: &usize| part(*to).iter().all(|line| display_width(line) <= self.style.width);
            let to = (from + 2..=table.columns.len()).take_while(fits).last().unwrap_or(from + 1);
            text += &self.lines(table, &part(to), HEAD_LINES, 0);
            if to >= table.columns.len() {
                return text;
            }
            from = to;
            text.push('\n');
        }
    }
}

fn tables(document: &Document) -> impl Iterator<Item = &Table> {
    document.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    })
}

/// Returns the lines of each table with as many columns as fit, in the widths of all alike tables. Alike tables are
/// laid out once, because there may be a thousand.
fn fitted(document: &Document, width: usize) -> FittedTables {
    let (mut groups, mut known) = (Vec::<Vec<&Table>>::new(), HashMap::new());
    for table in tables(document).filter(|table| !matches!(table.layout, Layout::Continue(_))) {
        let new = groups.len();
        let at = table.alike.map_or(new, |alike| *known.entry(alike).or_insert(new));
        if at == new {
            groups.push(Vec::new());
        }
        groups[at].push(table);
    }
    let mut fitted = FittedTables::new();
    for group in groups {
        let is_nameless = group[0].layout == Layout::Nameless;
        let rows: Vec<&Row> = group.iter().flat_map(|table| &table.rows).collect();
        let width = width.saturating_sub(if is_nameless { INDENT } else { 0 });
        let mut lines = widest_that_fits(&group[0].columns, &rows, width).into_iter();
        let names: Vec<_> =
            lines.by_ref().take(HEAD_LINES).skip(if is_nameless { HEAD_LINES } else { 0 }).collect();
        for table in group {
            let own = names.iter().cloned().chain(lines.by_ref().take(table.rows.len())).collect();
            fitted.insert(std::ptr::from_ref(table), own);
        }
    }
    fitted
}

fn paint(tone: Tone) -> Option<Paint> {
    match tone {
        Tone::Neutral => None,
        Tone::Good => Some(Paint::Green),
        Tone::Warning => Some(Paint::Yellow),
        Tone::Bad => Some(Paint::Red),
        Tone::Minor => Some(Paint::Dim),
    }
}

/// Drops the most expendable columns, then the next ones, until the table fits or only required columns remain.
fn widest_that_fits(columns: &[Column], rows: &[&Row], width: usize) -> Vec<String> {
    let mut limit = u8::MAX;
    loop {
        let kept: Vec<_> = (0..columns.len()).filter(|at| columns[*at].expendable < limit).collect();
        let has_bar = |row: &&Row| kept.iter().any(|at| matches!(row.cells[*at], Cell::Bar(_)));
        let bars = if rows.iter().any(has_bar) { &BARS[..] } else { &BARS[..1] };
        let next =
            columns.iter().map(|column| column.expendable).filter(|expendable| *expendable < limit).max();
        for bar in bars {
            let lines = with(columns, rows, &kept, *bar);
            let fits = lines.iter().all(|line| display_width(line) <= width);
            if fits || (next.is_none_or(|next| next == 0) && bars.last() == Some(bar)) {
                return lines;
            }
        }
        limit = next.unwrap_or_default();
    }
}

/// Returns the lines with the kept columns. Bars are `width` cells wide.
fn with(columns: &[Column], rows: &[&Row], kept: &[usize], width: usize) -> Vec<String> {
    let columns: Vec<&Column> = kept.iter().map(|at| &columns[*at]).collect();
    let cell = |cell: &Cell| match cell {
        Cell::Text(text) | Cell::Figure { text, .. } => text.clone(),
        Cell::Bar(share) => bar(*share, width),
    };
    grid(&columns, rows.iter().map(|row| kept.iter().map(|at| cell(&row.cells[*at])).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::words("a"),
        Column::figures("bb").expendable(1),
        Column::words("cc").expendable(2),
        Column::words("d"),
    ];

    fn printed(table: Table, style: Style) -> String {
        terminal(&[Section::default().table(table)].into_iter().collect(), style)
    }

    fn table(width: usize) -> String {
        let row = ["one", "22", "three", "four"].map(str::to_owned);
        printed(Table::new(COLUMNS, vec![Row::neutral(row)]), Style { width, ..Style::default() })
    }

    #[test]
    fn the_most_expendable_columns_go_first_but_not_all() {
        assert_eq!(table(80), "a    bb  cc     d\n─────────────────────\none  22  three  four\n");
        assert_eq!(table(16), "a    bb  d\n──────────────\none  22  four\n");
        assert_eq!(table(12), "a    d\n──────────\none  four\n");
        assert_eq!(table(2), table(12));
    }

    #[test]
    fn values_of_facts_are_aligned_and_wrapped() {
        let facts = [Fact::new("CPU", "23.6 % of one CPU"), Fact::new("headroom", "88x")];
        let section = Section::default().facts(facts);
        let style = Style { width: 24, ..Style::default() };
        let text = terminal(&[section].into_iter().collect(), style);
        assert_eq!(text, "  CPU       23.6 % of\n            one CPU\n  headroom  88x\n");
    }

    #[test]
    fn a_legend_goes_with_its_column() {
        let row = ["one", "22", "three", "four"].map(str::to_owned);
        let section = Section::default().table(Table::new(COLUMNS, vec![Row::neutral(row)]));
        let section =
            section.with(Block::Legend(vec!["cc".to_owned()], None, vec!["cc: what it is.".to_owned()]));
        let document: Document = [section].into_iter().collect();
        let printed = |width| terminal(&document, Style { width, ..Style::default() });
        assert!(printed(80).contains("cc: what") && !printed(16).contains("cc"), "{}", printed(16));
    }

    #[test]
    fn names_of_columns_are_dim() {
        let text =
            printed(Table::new([Column::words("a")], vec![]), Style { colour: true, ..Style::default() });
        assert!(text.starts_with("\u{1b}[2ma"), "{text}");
    }

    #[test]
    fn tables_that_are_alike_have_the_same_widths() {
        let one = |name: &str| {
            let rows = vec![Row::neutral([name.to_owned(), "1".to_owned()])];
            let columns = [Column::words("row"), Column::figures("n")];
            Section::default().table(Table { alike: Some(0), ..Table::new(columns, rows) })
        };
        let text = terminal(&[one("short"), one("much longer")].into_iter().collect(), Style::default());
        let widths: Vec<_> = text.lines().filter(|line| line.ends_with(['n', '1'])).map(str::len).collect();
        assert_eq!(widths, [14; 4], "{text}");
    }

    #[test]
    fn bars_are_shorter_before_they_go() {
        let column = |width| {
            let cells = vec![Cell::Text("x".repeat(10)), Cell::Bar(1.0)];
            let columns = [Column::words("row"), Column::words("bar").expendable(1)];
            let rows = vec![Row { tone: Tone::Neutral, cells }];
            printed(Table::new(columns, rows), Style { width, ..Style::default() }).matches('█').count()
        };
        assert_eq!([column(80), column(30), column(20)], [24, 12, 0]);
    }

    #[test]
    fn a_thousand_alike_tables_are_laid_out_once() {
        const ROWS: usize = 1000;
        let columns = [Column::words("row"), Column::figures("n")];
        let row = || Row::neutral(["name".to_owned(), "1".to_owned()]);
        let one = Section::default().table(Table::new(columns.clone(), (0..ROWS).map(|_| row()).collect()));
        let table = |_| Table { alike: Some(0), ..Table::new(columns.clone(), vec![row()]) };
        let [one, many]: [Document; 2] =
            [vec![one], (0..ROWS).map(table).map(|table| Section::default().table(table)).collect()]
                .map(|sections| sections.into_iter().collect());
        let shortest = |document: &Document| {
            let time = |_| {
                let began = std::time::Instant::now();
                assert!(terminal(document, Style::default()).len() > ROWS);
                began.elapsed()
            };
            (0..5).map(time).min().unwrap()
        };
        // If each table were laid out with all others, the ratio would be several hundred.
        let times = [shortest(&many), shortest(&one)];
        assert!(times[0] < 50 * times[1], "{times:?}");
    }
}
