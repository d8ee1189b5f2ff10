//! The printed text as sections with sentences and tables. Columns are found by their headings.

use crate::figure::Figure;

/// A printed text.
pub struct Page {
    pub sections: Vec<Section>,
}

/// Columns of recommendations, and the same columns of other tables.
const RENAMED: [(&str, &str); 3] = [("benchmark", "row"), ("median", "p50"), ("ratio", "vs first")];
/// Fewest spaces before a continued value of a fact. Other lines are continued with fewer.
const CONTINUED: &str = "      ";

/// The part below a title.
#[derive(Default)]
pub struct Section {
    /// Sentences and paragraphs. In terminal text, the first one is the title.
    pub texts: Vec<String>,
    pub tables: Vec<Table>,
    /// Rows of tables without headings.
    pub parts: Vec<Vec<String>>,
}

/// A table with headings.
pub struct Table {
    pub title: String,
    pub heads: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Page {
    /// Reads terminal text or, if it begins with a heading, Markdown.
    pub fn read(text: &str) -> Page {
        if text.starts_with("# ") { read_markdown(text) } else { read_terminal(text) }
    }

    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().flat_map(|section| section.texts.iter().map(String::as_str))
    }

    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sections.iter().flat_map(|section| &section.tables)
    }

    /// Returns the rankings of benchmarks.
    pub fn rankings(&self) -> impl Iterator<Item = &Table> {
        let is_ranking = |heads: &[String]| matches!(heads, [place, name, ..] if place == "#" && ["row", "benchmark"].contains(&&**name));
        self.tables().filter(move |table| is_ranking(&table.heads))
    }

    /// Returns the value of a named fact, as in `  CPU  23.6 % of one CPU`.
    pub fn fact(&self, name: &str) -> Option<&str> {
        let parts = self.sections.iter().flat_map(|section| &section.parts);
        parts.filter(|part| part[0] == name).find_map(|part| part.get(1)).map(String::as_str)
    }
}

impl Section {
    fn push_text(&mut self, line: &str) {
        self.texts.push(line.trim_start_matches("- ").replace("**", ""));
    }

    pub fn title(&self) -> &str {
        self.texts.first().map_or("", String::as_str)
    }
}

impl Table {
    pub fn column(&self, head: &str) -> Option<usize> {
        let position = |head: &str| self.heads.iter().position(|found| found == head);
        let is_it = |(_, other): &&(&str, &str)| *other == head;
        position(head).or_else(|| position(RENAMED.iter().find(is_it)?.0))
    }

    pub fn cell<'a>(&self, row: &'a [String], head: &str) -> Option<&'a str> {
        row.get(self.column(head)?).map(String::as_str)
    }

    pub fn figure(&self, row: &[String], head: &str) -> Option<Figure> {
        Figure::read(self.cell(row, head)?)
    }
}

/// Returns a benchmark's name without its marks.
pub fn name(cell: &str) -> &str {
    cell.trim_end_matches([' ', '*', '?', '!', '^'])
}

fn read_terminal(text: &str) -> Page {
    let lines: Vec<&str> = text.lines().filter(|line| !is_drawn(line)).collect();
    let is_heading = |line: &str| line.chars().all(|letter| letter.is_uppercase() || " -".contains(letter));
    let is_row = |line: &str| line.trim().contains("  ") || (!line.is_empty() && is_heading(line));
    let is_rule =
        |line: Option<&&str>| line.is_some_and(|line| line.len() > 6 && line.chars().all(|c| c == '─'));
    let mut sections = vec![Section::default()];
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let section = sections.last_mut().expect("one at least");
        at += 1;
        if line.is_empty() {
            sections.push(Section::default());
        } else if is_rule(lines.get(at)) {
            let end = lines[at + 1..].iter().take_while(|line| is_row(line)).count() + at + 1;
            let mut rows = cells(line, &lines[at + 1..end]);
            let heads = rows.remove(0);
            section.tables.push(Table { title: section.title().to_owned(), heads, rows });
            at = end;
        } else if line.starts_with("  ") && is_row(line) {
            let parts = line.split("  ").map(str::trim).filter(|part| !part.is_empty() && !is_bar(part));
            section.parts.push(parts.map(str::to_owned).collect());
        } else if let (true, Some(value)) =
            (line.starts_with(CONTINUED), section.parts.last_mut().and_then(|parts| parts.last_mut()))
        {
            *value += &format!(" {}", line.trim());
        } else if let (true, Some(last)) = (line.starts_with("  "), section.texts.last_mut()) {
            *last += &line[1..];
        } else {
            section.push_text(line);
        }
    }
    Page { sections }
}

/// Returns whether a line is part of a chart.
fn is_drawn(line: &str) -> bool {
    line.contains(['│', '┤', '└'])
}

fn is_bar(part: &str) -> bool {
    part.chars().all(|letter| ('\u{2580}'..='\u{259f}').contains(&letter))
}

/// Returns the cells of lines whose columns are separated by two spaces in all lines.
fn cells(head: &str, rows: &[&str]) -> Vec<Vec<String>> {
    let lines: Vec<Vec<char>> = [head].iter().chain(rows).map(|line| line.chars().collect()).collect();
    let width = lines.iter().map(Vec::len).max().unwrap_or(0);
    let is_blank = |at: usize| lines.iter().all(|line| line.get(at).is_none_or(|letter| *letter == ' '));
    let is_gap = |at: usize| is_blank(at) && (is_blank(at + 1) || (at > 0 && is_blank(at - 1)));
    let starts: Vec<_> = (0..width).filter(|at| !is_gap(*at) && (*at == 0 || is_gap(at - 1))).collect();
    let ends = starts.iter().skip(1).copied().chain([width]);
    let columns: Vec<_> = starts.iter().copied().zip(ends).collect();
    let cell = |line: &Vec<char>, from: usize, to: usize| {
        line.iter().take(to).skip(from).collect::<String>().trim().to_owned()
    };
    lines.iter().map(|line| columns.iter().map(|(from, to)| cell(line, *from, *to)).collect()).collect()
}

fn read_markdown(text: &str) -> Page {
    let mut sections = vec![Section::default()];
    let mut is_code = false;
    for line in text.lines() {
        let section = sections.last_mut().expect("one at least");
        is_code ^= line.starts_with("```");
        if let (Some(title), false) = (line.strip_prefix('#'), is_code) {
            let texts = vec![unescaped(title.trim_start_matches('#').trim())];
            sections.push(Section { texts, ..Section::default() });
        } else if line.starts_with("| ") {
            let cells: Vec<_> =
                line.trim_matches('|').split(" |").map(|cell| unescaped(cell.trim())).collect();
            match section.tables.last_mut().filter(|table| table.heads.len() == cells.len()) {
                _ if cells.iter().all(|cell| cell.contains("--")) => {}
                // The head of a table has the alignment below it.
                Some(table) if !text[text_end(text, line)..].trim_start_matches('\n').starts_with("| -") => {
                    table.rows.push(cells);
                }
                _ => section.tables.push(Table {
                    title: section.title().to_owned(),
                    heads: cells,
                    rows: Vec::new(),
                }),
            }
        } else if !line.is_empty() && !is_code {
            section.push_text(&unescaped(line));
        }
    }
    Page { sections }
}

/// Returns the position at which a line of a text ends.
fn text_end(text: &str, line: &str) -> usize {
    line.as_ptr() as usize - text.as_ptr() as usize + line.len()
}

fn unescaped(text: &str) -> String {
    let mut letters = text.chars();
    let mut plain = String::new();
    while let Some(letter) = letters.next() {
        plain.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_and_markdown_have_the_same_cells() {
        let terminal = [
            "title",
            " #  row             p50  from-to",
            "────────────────────────────────",
            "=1  pipe/block  10.0 us",
            "=1  a/b ^        100 us  0.9-1.1",
            "note",
            "  of it",
        ]
        .join("\n");
        let markdown = [
            "# x",
            "### title",
            "",
            "| \\# | row | p50 | from-to |",
            "| --: | :-- | --: | --: |",
            "| =1 | pipe/block | 10.0 us |  |",
            "| =1 | a/b ^ | 100 us | 0.9-1.1 |",
            "",
            "- note of it",
        ]
        .join("\n");
        for text in [terminal, markdown] {
            let page = Page::read(&text);
            let table = page.rankings().next().expect("a ranking");
            assert_eq!((table.title.as_str(), table.rows.len()), ("title", 2));
            assert_eq!(table.cell(&table.rows[0], "from-to"), Some(""));
            assert_eq!(table.rows[1], ["=1", "a/b ^", "100 us", "0.9-1.1"]);
            assert_eq!(name(&table.rows[1][1]), "a/b");
            assert!(page.texts().any(|text| text == "note of it"), "{:?}", page.texts().collect::<Vec<_>>());
        }
    }
}
