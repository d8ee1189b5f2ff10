//! Text laid out for a terminal: wrapped lines and aligned columns.

use unicode_width::UnicodeWidthStr;

/// Space between two columns of a table.
const GAP: &str = "  ";

/// Returns the columns that a terminal needs for `text`: 2 for a wide character, such as a Chinese one.
pub fn display_width(text: &str) -> usize {
    text.width()
}

/// Returns the longest beginning of a text with which an ellipsis fits into `width` columns; `None` if the whole text fits.
pub fn beginning(text: &str, width: usize) -> Option<&str> {
    if display_width(text) <= width {
        return None;
    }
    let is_too_wide = |(at, c): &(usize, char)| {
        display_width(&text[..*at]) + display_width(c.encode_utf8(&mut [0; 4])) >= width
    };
    let end = text.char_indices().find(is_too_wide).map_or(text.len(), |(at, _)| at);
    Some(&text[..end])
}

/// Returns a text of at most `width` columns. An ellipsis replaces the rest.
pub fn shortened(text: &str, width: usize) -> String {
    beginning(text, width).map_or_else(|| text.to_owned(), |kept| kept.to_owned() + "…")
}

/// Returns `text` in lines of at most `width` columns, all but the first indented by `indent` spaces. Words are not split.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in words(text) {
        let length = display_width(&word);
        if used > 0 && used + 1 + length > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            used = indent;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(&word);
        used += length;
    }
    lines
}

/// Returns the words of `text`; a number and its unit are one word.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_unit = matches!(word.trim_end_matches(['.', ',', ':', ')']), "ns" | "us" | "ms" | "s" | "%");
        match words.last_mut().filter(|last| is_unit && last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(number) => *number += &format!(" {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Returns the rows of a table as lines with aligned columns, those of figures to the right.
///
/// If lines would be longer than `width`, the widest columns are wrapped between words. The first column, which has the names, never
/// is. Words are never split, so lines may remain longer than `width`.
pub fn table_lines(rows: &[Vec<String>], is_figures: impl Fn(usize) -> bool, width: usize) -> Vec<String> {
    let mut limits = widest(rows, display_width);
    let longest_words =
        widest(rows, |cell| words(cell).iter().map(|word| display_width(word)).max().unwrap_or(0));
    let gaps = GAP.len() * limits.len().saturating_sub(1);
    while limits.iter().sum::<usize>() + gaps > width {
        let shrinkable = (1..limits.len()).rev().filter(|at| limits[*at] > longest_words[*at]);
        let Some(at) = shrinkable.max_by_key(|at| limits[*at]) else { break };
        limits[at] -= 1;
    }
    let rows: Vec<_> = rows.iter().flat_map(|row| wrap_cells(row, &limits)).collect();
    let widths = widest(&rows, display_width);
    let cell = |(at, cell): (usize, &String)| {
        let space = " ".repeat(widths[at] - display_width(cell));
        if is_figures(at) { space + cell } else { cell.clone() + &space }
    };
    let line = |row: &Vec<String>| row.iter().enumerate().map(cell).collect::<Vec<_>>().join(GAP);
    rows.iter().map(|row| line(row).trim_end().to_owned()).collect()
}

/// Returns a table of words below a header, for a terminal with `width` columns, as text that ends with a line break.
pub fn listing(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>, width: usize) -> String {
    let header = header.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<_> = std::iter::once(header).chain(rows).collect();
    table_lines(&rows, |_| false, width.min(140)).join("\n") + "\n"
}

/// Returns the largest width of each column's cells.
fn widest(rows: &[Vec<String>], width: fn(&str) -> usize) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    (0..columns).map(|at| rows.iter().map(|row| width(&row[at])).max().unwrap_or(0)).collect()
}

/// Returns a row as one row for each line of its cells.
fn wrap_cells(row: &[String], limits: &[usize]) -> Vec<Vec<String>> {
    let wrapped = |(cell, limit): (&String, &usize)| match display_width(cell) > *limit {
        true => wrap(cell, *limit, 0),
        false => cell.clone(),
    };
    let cells: Vec<_> = row.iter().zip(limits).map(wrapped).collect();
    let height = cells.iter().map(|cell| cell.lines().count()).max().unwrap_or(0).max(1);
    let line = |at| cells.iter().map(|cell| cell.lines().nth(at).unwrap_or("").to_owned()).collect();
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three four", 9, 2), "one two\n  three\n  four");
        assert_eq!(wrap("unbreakable", 4, 2), "unbreakable");
        assert_eq!(wrap("", 4, 2), "");
        assert_eq!(wrap("took 12 ns, or so", 7, 0), "took\n12 ns,\nor so");
    }

    fn table(width: usize) -> Vec<String> {
        let rows =
            [["NAME", "TEXT", "N"], ["a long name", "unbreakables and 12 ns", "1"], ["名", "µ ±", "10"]];
        table_lines(&rows.map(|row| row.map(str::to_owned).to_vec()), |at| at == 2, width)
    }

    #[test]
    fn columns_are_aligned_by_display_width() {
        let first = "NAME         TEXT                     N";
        assert_eq!(
            table(39),
            [first, "a long name  unbreakables and 12 ns   1", "名           µ ±                     10"]
        );
    }

    #[test]
    fn long_cells_are_wrapped_and_words_are_not_split() {
        let name = "a long name";
        assert_eq!(table(38)[1..3], [format!("{name}  unbreakables and   1"), " ".repeat(13) + "12 ns"]);
        assert_eq!(table(0)[1..3], [format!("{name}  unbreakables   1"), " ".repeat(13) + "and 12 ns"]);
    }
}
