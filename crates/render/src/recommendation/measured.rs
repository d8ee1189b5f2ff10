//! The table of a recommendation: the rows that were measured at the workload, with the figure that orders them.

use super::super::document::{Column, Row, Table};
use super::super::figures::UNKNOWN;
use super::prose;
use furlong_analysis::text::{plain, times_between};
use furlong_analysis::{Ranked, Recommendation, places};
use furlong_model::{Objective, format_ns};

/// Returns the table; `None` if nothing was measured.
pub(crate) fn measured(recommendation: &Recommendation) -> Option<Table> {
    recommendation.ranked.first()?;
    let objective = recommendation.workload.objective;
    let is_of_cpu = objective == Objective::Cpu;
    let name = if is_of_cpu { "CPU" } else { "p50" };
    let effort = Column::figures("effort");
    // The effort decides the order if the objective is the least integration effort.
    let effort = if objective == Objective::Simplicity { effort } else { effort.expendable(2) };
    let columns = [
        Column::figures("#"),
        Column::words("row"),
        Column::figures(name),
        Column::figures("interval").expendable(1),
        Column::figures(if is_of_cpu { "p50" } else { "p99" }),
        Column::figures("CPU share"),
        effort,
        Column::figures("vs first").expendable(3),
    ];
    let places = places(&recommendation.ranked, objective);
    let line = |(index, row): (usize, &Ranked)| {
        let (place, shared) = (places[index], places.iter().filter(|place| **place == places[index]).count());
        let fails = match row.meets() {
            false => " !",
            true if row.may_miss() => " *",
            true => "",
        };
        let tie = if recommendation.ties.contains(&row.name()) { "~ " } else { "" };
        Row::neutral(vec![
            format!("{}{place}", if shared > 1 { "=" } else { "" }),
            format!("{}{fails}", plain(&row.name())),
            format_ns(row.figure),
            row.figure_ci95.map_or_else(|| "?".to_owned(), times_between),
            if is_of_cpu { Some(row.p50_ns) } else { row.p99_ns }
                .map_or_else(|| UNKNOWN.to_owned(), format_ns),
            prose::share(row.cpu_share),
            row.effort.to_string(),
            match index {
                0 => "1.00x".to_owned(),
                // A ratio without an interval is no evidence of a difference.
                _ if row.times_interval.is_none() => "?".to_owned(),
                _ => format!("{tie}{}", prose::factor(row.times, row.times_interval)),
            },
        ])
    };
    let rows = recommendation.ranked.iter().enumerate().map(line).collect();
    Some(Table::new(columns, rows))
}
