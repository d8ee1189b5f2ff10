//! A recommendation for a terminal: the choice first, then what it rests on.

use super::super::{
    fit::fitting, grid::Head, prose as shared, style::Paint, style::Style, table::bullet, table::noise,
    table::partial, table::titled,
};
use super::prose;
use furlong_analysis::text::{plain, plus_minus, three_digits, wrap};
use furlong_analysis::{Ranked, Recommendation};
use furlong_model::format_ns;
use furlong_stats::uncertainty;

/// The machine, the choice and what speaks for it, every row that was measured, and what would change the answer.
pub fn recommendation_table(recommendation: &Recommendation, style: Style) -> String {
    let mut text =
        wrap(&shared::machine(&recommendation.run.machine, &recommendation.run.harness), style.width, 2)
            + "\n";
    if recommendation.run.partial {
        text += &partial(style);
    }
    text += &noise(&recommendation.run.noise, style);
    text += &format!("\n{}\n", wrap(&prose::asked(&recommendation.workload), style.width, 2));
    if let Some(line) = prose::tried(recommendation) {
        text += &format!("{}\n", wrap(&line, style.width, 2));
    }
    let heading = prose::heading(recommendation);
    let reasons = prose::reasons(recommendation).into_iter().map(|line| bullet(&line, style));
    text += &titled(&heading, reasons, style);
    let list = |title: &str, lines: Vec<String>| {
        titled(title, lines.into_iter().map(|line| bullet(&line, style)), style)
    };
    text += &list("Instead", prose::instead(recommendation));
    text += &measured(recommendation, style);
    text += &list("What would change the answer", prose::sensitivities(recommendation));
    text += &list("Not measured", prose::not_measured(recommendation));
    text + &list("Left out", prose::left_out(recommendation))
}

const HEADS: [Head<'static>; 8] = [
    Head::figures("#"),
    Head::words("row"),
    Head::figures("p50"),
    Head::figures("95 %").expendable(1),
    Head::figures("p99"),
    Head::figures("CPU share"),
    Head::figures("effort").expendable(2),
    Head::figures("vs first").expendable(3),
];

/// The rows that were measured at the workload.
fn measured(recommendation: &Recommendation, style: Style) -> String {
    let Some(first) = recommendation.ranked.first() else { return String::new() };
    let line = |(index, row): (usize, &Ranked)| {
        let tie = recommendation.ties.contains(&row.name());
        let shares_first = tie || (index == 0 && !recommendation.ties.is_empty());
        let place = if shares_first { "=1".to_owned() } else { (index + 1).to_string() };
        let fails = if row.meets() { "" } else { " !" };
        let times = match index {
            0 => "1.00x".to_owned(),
            _ if tie => "~".to_owned(),
            _ => three_digits(row.figure / first.figure) + "x",
        };
        let width = row.p50_ci95.map(|ends| uncertainty(row.p50_ns, ends));
        let interval = width.map_or_else(|| "?".to_owned(), plus_minus);
        vec![
            place,
            format!("{}{fails}", plain(&row.name())),
            format_ns(row.p50_ns),
            interval,
            format_ns(row.p99_ns),
            prose::share(row.cpu_share),
            row.effort.to_string(),
            times,
        ]
    };
    let rows: Vec<_> = recommendation.ranked.iter().enumerate().map(line).collect();
    let title = style.paint(Paint::Bold, &prose::measured(recommendation));
    let notes: String = prose::footnotes(recommendation)
        .into_iter()
        .map(|note| style.paint(Paint::Dim, &wrap(&note, style.width, 2)) + "\n")
        .collect();
    format!("\n{title}\n{}{notes}", fitting(&HEADS, &rows, style))
}
