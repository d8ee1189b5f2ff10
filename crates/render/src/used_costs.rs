//! The costs that rows were put together with, in a few lines; `furlong costs` has all of them.

use super::{
    costs::interval,
    document::{Column, Row, Section, Table},
    words::IN_RUN,
};
use furlong_analysis::text::plain;
use furlong_analysis::{CONTEXT_SWITCH, CostEstimate, Costs, Explanation, Part, Term, WAKE_UP, cost_name};
use furlong_model::{Cost, format_bytes, format_ns, mechanism_of};
use furlong_stats::distinct;

/// Columns of the table; the last one is dropped on a narrow terminal.
const COLUMNS: [Column; 4] = [
    Column::words("cost in this run"),
    Column::figures("time"),
    Column::figures(IN_RUN),
    Column::words("from").expendable(1),
];
/// Rows that a cost comes from, if they are named one by one.
const NAMED: usize = 4;

/// Returns one line per cost, and for copying one of the smallest and one of the largest size.
pub(crate) fn used_costs(explanation: &Explanation) -> Section {
    let costs = &explanation.costs;
    let named = [cost_name(Cost::SystemCall), CONTEXT_SWITCH, WAKE_UP, cost_name(Cost::PageFault)];
    let by_kind = [Cost::PipeTransfer, Cost::SocketTransfer, Cost::Poll].map(cost_name);
    let has_own_loop = explanation.rows.iter().any(|row| row.own_loop);
    let by_kind = by_kind.iter().filter(|_| has_own_loop);
    let named = named.iter().chain(by_kind).filter_map(|name| costs.figure(name)).map(line);
    let sizes = copied_sizes(explanation);
    let ends = distinct([sizes.first(), sizes.last()].into_iter().flatten());
    let copies = ends.into_iter().filter_map(|size| copying(costs, *size));
    let rows: Vec<_> = named.chain(copies).collect();
    if rows.is_empty() {
        return Section::default().paragraph("The run has no costs of this machine.");
    }
    Section::default().table(Table::new(COLUMNS, rows.into_iter().map(Row::neutral).collect()))
}

fn copied_sizes(explanation: &Explanation) -> Vec<usize> {
    let copies = |term: &Term| term.name == Part::Copying && term.count > 0.0;
    let rows = explanation.rows.iter().filter(|row| row.terms.iter().any(copies));
    distinct(rows.map(|row| row.case.size_bytes))
}

/// Returns the name of a cost, its time, its interval if it has one, and its source.
fn cells(name: String, ns: f64, interval: Option<String>, from: String) -> Vec<String> {
    vec![name, format_ns(ns), interval.unwrap_or_else(|| "?".to_owned()), from]
}

fn line(figure: &CostEstimate) -> Vec<String> {
    cells(plain(&figure.name), figure.ns, interval(figure), origin(figure))
}

/// Returns the cost of copying a message of this size once, even if this size was not measured.
fn copying(costs: &Costs, size_bytes: usize) -> Option<Vec<String>> {
    let ns = costs.copy_ns(size_bytes)?;
    let name = cost_name(Cost::Copy);
    let is_it = |figure: &&CostEstimate| figure.name == name && figure.size_bytes == Some(size_bytes);
    let figure = costs.figures.iter().find(is_it);
    let from = figure.map_or_else(|| "interpolated".to_owned(), origin);
    Some(cells(format!("{name} {}", format_bytes(size_bytes)), ns, figure.and_then(interval), from))
}

/// Returns the mechanisms that a cost was derived from, with the range of their values.
fn origin(figure: &CostEstimate) -> String {
    let Some([least, most]) = figure.spread else {
        return "measured directly".to_owned();
    };
    let mechanism = |row: &String| plain(mechanism_of(row));
    let rows = match figure.from.len() {
        1..=NAMED => figure.from.iter().map(mechanism).collect::<Vec<_>>().join(", "),
        count => format!("{count} benchmarks"),
    };
    match figure.from.len() {
        1 => rows,
        _ => format!("{rows}: {} to {}", format_ns(least), format_ns(most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, terminal::terminal};
    use furlong_analysis::{DecodedRun, explain};
    use furlong_fixture::{costs::EVERYWHERE, costs::PIPE, costs::Recipe, costs::RunBuilder};
    use furlong_model::Placement;

    fn lines(explanation: &Explanation) -> Vec<String> {
        terminal(&[used_costs(explanation)].into_iter().collect(), Style::default())
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn many_sizes_take_no_more_than_eight_lines() {
        let recipes = [64, 100, 512, 4096].map(|size| Recipe { size, ..PIPE });
        let made =
            recipes.iter().fold(RunBuilder::with_references(), |made, recipe| made.row(recipe, &EVERYWHERE));
        let asked = recipes.map(|recipe| recipe.case(Placement::SameCore));
        let lines = lines(&explain(&DecodedRun::of(&made.run()), &asked));
        assert_eq!(lines.len(), 8, "{lines:#?}");
        assert!(lines[6].starts_with("copy 64B ") && lines[7].starts_with("copy 4KiB "), "{lines:#?}");
    }

    #[test]
    fn many_rows_are_not_named() {
        let mut explanation = explain(&DecodedRun::of(&RunBuilder::with_references().run()), &[]);
        let line = |explanation: &Explanation| lines(explanation).swap_remove(3);
        assert!(line(&explanation).ends_with("  eventfd, posix-semaphore, signal: 1.60 us to 1.60 us"));
        let figure =
            explanation.costs.figures.iter_mut().find(|figure| figure.name == CONTEXT_SWITCH).unwrap();
        figure.from = (0..5).map(|row| format!("{row}/{row}")).collect();
        assert!(line(&explanation).ends_with("  5 benchmarks: 1.60 us to 1.60 us"), "{}", line(&explanation));
        let figure =
            explanation.costs.figures.iter_mut().find(|figure| figure.name == CONTEXT_SWITCH).unwrap();
        figure.from.truncate(1);
        assert!(line(&explanation).ends_with("  0"), "{}", line(&explanation));
    }

    #[test]
    fn no_costs_are_said_to_be_none() {
        let explanation = explain(&DecodedRun::of(&RunBuilder::with_references().run()), &[]);
        let none = Explanation { costs: Costs { schema: 1, figures: Vec::new() }, ..explanation };
        assert_eq!(lines(&none), ["The run has no costs of this machine."]);
    }
}
