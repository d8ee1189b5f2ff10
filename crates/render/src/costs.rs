//! Costs of the machine, for a terminal and for programs.

use super::words::IN_RUN;
use super::{
    document::{Column, Document, Row, Section, Table},
    object::{JudgedSentences, object},
};
use furlong_analysis::text::{plain, times_between};
use furlong_analysis::{CONTEXT_SWITCH, CostEstimate, Costs, WAKE_UP, cost_name};
use furlong_model::{Cost, format_bytes, format_ns};
use serde::Deserialize;
use serde::de::value::{Error as Unknown, StrDeserializer};

/// Columns of the table; the last one is dropped on a narrow terminal.
const COLUMNS: [Column; 4] = [
    Column::words("cost"),
    Column::figures("time"),
    Column::figures(IN_RUN),
    Column::words("what").expendable(1),
];

/// Returns one JSON object; [`Costs`] documents its fields.
pub fn costs_json(costs: &Costs) -> String {
    object(costs, vec![whats("figures.size_bytes", costs)])
}

/// Returns the meaning of each cost, for programs.
pub(crate) fn whats(at: &'static str, costs: &Costs) -> JudgedSentences {
    JudgedSentences::new(at, "what", costs.figures.iter().map(|figure| what(&figure.name).into()))
}

/// Describes the cost of this name in a few words.
fn what(name: &str) -> &'static str {
    let cost = Cost::deserialize(StrDeserializer::<Unknown>::new(name));
    match cost {
        Ok(Cost::ClockRead) => "one reading of the clock",
        Ok(Cost::SystemCall) => "a system call that does nothing",
        Ok(Cost::FutexWake) => "waking a futex without waiters",
        Ok(Cost::FutexWait) => "waiting on a futex whose word has already changed",
        Ok(Cost::PosixSemaphore) => "posting and acquiring a POSIX semaphore",
        Ok(Cost::SysvSemaphore) => "posting and acquiring a System V semaphore",
        Ok(Cost::PipeTransfer) => "writing 8 bytes to a pipe and reading them back",
        Ok(Cost::SocketTransfer) => "writing 8 bytes to a UNIX socket and reading them back",
        Ok(Cost::Poll) => "a poll of a readable descriptor",
        Ok(Cost::PageFault) => "the first touch of a page of memory",
        Ok(Cost::Copy) => {
            "copying a message of this size within the caches of one core, as far as they reach"
        }
        Ok(Cost::CopyAcross) => "a message of this size from core to core, if the reader spins",
        Ok(Cost::CopyAcrossAsleep) => {
            "additional time of that message over one of 8 bytes, if the reader sleeps"
        }
        Err(_) if name == CONTEXT_SWITCH => "a switch from one role to the other on one core",
        Err(_) if name == WAKE_UP => "waking a role on another core, including its exit from idle",
        Err(_) => "",
    }
}

/// Returns one line per cost with its interval, then the sources of the costs that were derived from
/// benchmarks.
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
        None => (name, what(&figure.name).to_owned()),
        Some(size) => (format!("{name} {}", format_bytes(size)), rate(figure, size)),
    };
    vec![name, format_ns(figure.ns), interval(figure).unwrap_or_else(|| "?".to_owned()), what]
}

/// Returns bytes per nanosecond, which equal gigabytes per second. Returns an empty text for a cost
/// that is the difference of two times, because that difference is not the time to copy the bytes.
fn rate(figure: &CostEstimate, size_bytes: usize) -> String {
    if figure.name == cost_name(Cost::CopyAcrossAsleep) || figure.ns <= 0.0 {
        return String::new();
    }
    format!("{:.1} GB/s", size_bytes as f64 / figure.ns)
}

/// Formats the interval, from low to high.
pub(crate) fn interval(figure: &CostEstimate) -> Option<String> {
    figure.ci95.map(times_between)
}

/// Describes each size-dependent cost once for all of its lines.
fn sizes(costs: &Costs) -> Vec<String> {
    let by_size: Vec<_> = costs.figures.iter().filter(|figure| figure.size_bytes.is_some()).collect();
    let kinds = by_size.chunk_by(|a, b| a.name == b.name);
    kinds.map(|kind| format!("{}: {}.", plain(&kind[0].name), what(&kind[0].name))).collect()
}

/// Returns the benchmarks that a cost was derived from, with the range of their values.
fn origin(figure: &CostEstimate) -> Option<String> {
    Some(format!("{}: {}.", plain(&figure.name), rows(figure)?))
}

/// Lists the `from` benchmarks of a cost. Returns `None` for a cost that was measured directly.
fn rows(figure: &CostEstimate) -> Option<String> {
    let [least, most] = figure.spread?.map(format_ns);
    let names: Vec<_> = figure.from.iter().map(|row| plain(row)).collect();
    Some(match names.as_slice() {
        [name] => format!("from the benchmark {name}"),
        names => {
            format!("the median of the benchmarks {} ({least} to {most})", names.join(", "))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::assert_has_all;
    use crate::{Style, costs_table};
    use furlong_analysis::DecodedRun;
    use furlong_fixture::costs::RunBuilder;

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
        assert_has_all(&costs_json(&costs), &costs);
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
