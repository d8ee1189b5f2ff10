//! A summary for a spreadsheet: a line a case, with or without a speed.

use super::columns::{Value, columns, lines};
use furlong_analysis::Summary;
use furlong_analysis::text::plain;

/// Returns a header, then a line per benchmark by group and rank, then a line for each skipped case.
///
/// A case that lost some of its trials is in both parts: once with its figures, once with the reason.
pub fn csv(summary: &Summary) -> String {
    table(columns().map(|(name, _)| name).collect(), lines(summary))
}

/// Formats a header and lines of equal length, whose cells may be empty.
pub(crate) fn table(header: Vec<String>, lines: impl Iterator<Item = Vec<Option<Value>>>) -> String {
    let lines = lines.map(|cells| cells.into_iter().map(written).collect());
    sheet([header].into_iter().chain(lines))
}

/// Formats a cell.
pub(crate) fn written(cell: Option<Value>) -> String {
    match cell {
        None => String::new(),
        Some(Value::Text(text)) => words(&text),
        Some(Value::Truth(truth)) => truth.to_string(),
        Some(Value::Whole(number)) => number.to_string(),
        Some(Value::Figure(figure)) => figure.to_string(),
    }
}

/// Formats lines of several cells, quoted as RFC 4180 demands.
pub(crate) fn sheet(lines: impl Iterator<Item = Vec<String>>) -> String {
    let quoted = |cell: String| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    };
    lines.map(|cells| cells.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect()
}

/// Returns text of a record, escaped so that a spreadsheet does not interpret it as a formula.
pub(crate) fn words(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::sheet;

    #[test]
    fn cells_are_quoted_if_a_reader_would_split_them() {
        let lines = [["a,b", "say \"yes\"", ""], ["two\nlines", "a\r", "\""], ["plain", " ", "\u{fc};'"]];
        let written = sheet(lines.iter().map(|cells| cells.map(str::to_owned).to_vec()));
        let first = "\"a,b\",\"say \"\"yes\"\"\",\n";
        assert_eq!(written, first.to_owned() + "\"two\nlines\",\"a\r\",\"\"\"\"\n" + "plain, ,\u{fc};'\n");
    }
}
