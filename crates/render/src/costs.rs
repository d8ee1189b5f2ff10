//! What the machine charges, for a terminal and for programs.

use super::{
    document::{Column, Document, Row, Section, Table},
    object::object,
};
use furlong_analysis::text::{plain, times_between};
use furlong_analysis::{CostEstimate, Costs, describe_cost as describe};
use furlong_model::{Cost, format_bytes, format_ns};

/// The columns; the last one gives way where the terminal is narrow.
const COLUMNS: [Column; 4] = [
    Column::words("cost"),
    Column::figures("time"),
    Column::figures("95 %"),
    Column::words("what").expendable(1),
];

/// One JSON object: [`Costs`] says what each field means, and reads it back.
pub fn costs_json(costs: &Costs) -> String {
    object(costs, &[])
}

/// A line a cost with its interval, then where those come from that were not measured by themselves.
pub(crate) fn document(costs: &Costs) -> Document {
    if costs.figures.is_empty() {
        return [Section::default().paragraph("No cost was measured.")].into_iter().collect();
    }
    let rows = costs.figures.iter().map(|figure| Row::neutral(cells(figure))).collect();
    let notes = sizes(costs).into_iter().chain(costs.figures.iter().filter_map(origin)).collect();
    [Section::default().table(Table::new(COLUMNS, rows)), Section::default().footnotes(notes)]
        .into_iter()
        .collect()
}

fn cells(figure: &CostEstimate) -> Vec<String> {
    let name = plain(&figure.name);
    let (name, what) = match figure.size_bytes {
        None => (name, plain(&figure.what)),
        Some(size) => (format!("{name} {}", format_bytes(size)), rate(figure, size)),
    };
    vec![name, format_ns(figure.ns), interval(figure).unwrap_or_else(|| "?".to_owned()), what]
}

/// Bytes a nanosecond are gigabytes a second. A difference of two times is no time for the bytes.
fn rate(figure: &CostEstimate, size_bytes: usize) -> String {
    if figure.name == describe(Cost::CopyAcrossAsleep).0 || figure.ns <= 0.0 {
        return String::new();
    }
    format!("{:.1} GB/s", size_bytes as f64 / figure.ns)
}

/// The interval, from low to high.
pub(crate) fn interval(figure: &CostEstimate) -> Option<String> {
    figure.ci95.map(times_between)
}

/// What the costs that depend on the size are, once for all of their lines.
fn sizes(costs: &Costs) -> Vec<String> {
    let by_size: Vec<_> = costs.figures.iter().filter(|figure| figure.size_bytes.is_some()).collect();
    let kinds = by_size.chunk_by(|a, b| a.name == b.name);
    kinds.map(|kind| format!("{}: {}.", plain(&kind[0].name), plain(&kind[0].what))).collect()
}

/// The rows that a cost comes from, and what they say by themselves.
fn origin(figure: &CostEstimate) -> Option<String> {
    Some(format!("{}: {}.", plain(&figure.name), rows(figure)?))
}

/// `from` rows, in words; `None` for a cost that was measured by itself.
fn rows(figure: &CostEstimate) -> Option<String> {
    let [least, most] = figure.spread?.map(format_ns);
    let names: Vec<_> = figure.from.iter().map(|row| plain(row)).collect();
    Some(match names.as_slice() {
        [name] => format!("from the row {name}"),
        names => {
            format!("the median of the rows {}, which say {least} to {most} by themselves", names.join(", "))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, costs_table};
    use furlong_analysis::{DecodedRun, fixture::costs::RunBuilder};

    fn costs() -> Costs {
        Costs::of(&DecodedRun::of(&RunBuilder::with_references().run()))
    }

    #[test]
    fn costs_for_a_terminal() {
        insta::assert_snapshot!(costs_table(&costs(), Style::default()));
    }

    #[test]
    fn costs_for_programs() {
        let mut costs = costs();
        assert_eq!(serde_json::from_str::<Costs>(&costs_json(&costs)).unwrap(), costs);
        costs.figures.retain(|figure| !figure.from.is_empty() || figure.size_bytes == Some(64));
        insta::assert_snapshot!(costs_json(&costs));
    }

    #[test]
    fn a_narrow_terminal_gets_no_explanations_beside_the_figures() {
        let text = costs_table(&costs(), Style { width: 60, ..Style::default() });
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(text.contains("wake-up"), "{text}");
    }

    #[test]
    fn no_costs_are_said_to_be_none() {
        let none = Costs { schema: 1, figures: Vec::new() };
        assert_eq!(costs_table(&none, Style::default()), "No cost was measured.\n");
    }

    #[test]
    fn hostile_names_and_figures_stay_text() {
        let evil = "\u{1b}[2J\u{202e}\n".to_owned();
        let figure = CostEstimate {
            name: evil.clone(),
            what: evil.clone(),
            size_bytes: Some(usize::MAX),
            ns: -0.0,
            ci95: Some([0.0, 0.0]),
            looks: 0,
            from: vec![evil.clone(), evil],
            spread: Some([-1.0, 1e308]),
        };
        let text = costs_table(&Costs { schema: 1, figures: vec![figure] }, Style::default());
        assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text}");
    }
}
