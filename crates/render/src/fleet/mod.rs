//! Runs of many hosts compared: as a document, for a spreadsheet and for programs.

mod csv;
mod page;
mod prose;

pub use csv::fleet_csv;
pub use page::{fleet_chapters, fleet_title, fleet_verdict};

use super::comparison::NAMED;
use super::document::{Cell, Column, Document, Line, Row, Section, Table, Tone};
use super::object::object;
use super::words;
use furlong_analysis::text::{listed, plain};
use furlong_analysis::{
    Change, FleetBy, FleetChange, FleetComparison, FleetGroup, FleetRow, Unit, UnusedRun,
};
use furlong_model::format_ns;
use furlong_stats::distinct;

/// Hosts that are named with their reasons, and files that were not used.
const MOST_NAMED: usize = 20;

/// Returns one JSON object; [`FleetComparison`] documents its fields.
pub fn fleet_json(found: &FleetComparison) -> String {
    object(found, prose::said(found))
}

/// Returns the files read, the outlier hosts or the comparison of groups, each benchmark over the hosts, and the unused
/// files.
pub fn document(found: &FleetComparison) -> Document {
    let mut document: Document = [Section::default().paragraph(prose::read(found))].into_iter().collect();
    if found.by == FleetBy::Host {
        document.push(outliers(found));
    } else {
        document.push(groups(found));
        found.groups.iter().skip(1).for_each(|group| document.push(against_first(found, group)));
    }
    document.push(rows(found));
    document.push(Section::list("Not used", first_lines(unused(found).collect())));
    document
}

/// Returns the unused files, one line each.
fn unused(found: &FleetComparison) -> impl Iterator<Item = Line> {
    let line = |run: &UnusedRun| format!("{}: {}", plain(&run.run), prose::unused(&run.reason));
    found.unused.iter().map(line).map(Line::neutral)
}

/// Returns the first of many lines, and the number of further ones.
fn first_lines(mut lines: Vec<Line>) -> Vec<Line> {
    let more = lines.len().saturating_sub(MOST_NAMED);
    lines.truncate(MOST_NAMED);
    lines.extend((more > 0).then(|| Line::neutral(format!("and {more} more (--format json has all)"))));
    lines
}

fn outliers(found: &FleetComparison) -> Section {
    const HEADING: &str = "Outlier hosts";
    if found.outliers.is_empty() {
        return Section::titled(HEADING).paragraph(prose::no_outlier(found));
    }
    let lines = found.outliers.iter().map(|host| Line { tone: Tone::Bad, text: prose::outlier(host) });
    Section::list(HEADING, first_lines(lines.collect()))
}

fn groups(found: &FleetComparison) -> Section {
    let line = |group: &FleetGroup| {
        let disturbed = match (group.unreliable, group.noisy) {
            (0, 0) => String::new(),
            (unreliable, 0) => format!(", of which {unreliable} on an unreliable machine"),
            (0, noisy) => format!(", of which {noisy} on a noisy machine"),
            (unreliable, noisy) => {
                format!(", of which {unreliable} on an unreliable machine and {noisy} on a noisy one")
            }
        };
        let (name, runs) = (prose::group(group.name.as_deref()), prose::runs(group.runs, group.hosts));
        Line::neutral(format!("{name}: {runs}{disturbed}"))
    };
    let remedy = match found.by {
        FleetBy::Label => ": measure other runs with another --label",
        FleetBy::Kernel => ": measure other runs under another kernel",
        FleetBy::Host | FleetBy::Pairs => "",
    };
    let only =
        (found.groups.len() == 1).then(|| Line::neutral(format!("No other group to compare with{remedy}.")));
    Section::list("Groups", found.groups.iter().map(line).chain(only))
}

fn against_first(found: &FleetComparison, group: &FleetGroup) -> Section {
    let first = found.groups.first().and_then(|first| first.name.as_deref());
    let heading = format!("{} against {}", prose::group(group.name.as_deref()), prose::group(first));
    let rows: Vec<&FleetChange> = found.changes.iter().filter(|row| row.group == group.name).collect();
    if rows.is_empty() {
        return Section::chapter(heading).paragraph("No benchmark was measured in both.");
    }
    let why = distinct(rows.iter().filter_map(|row| row.reason).map(|why| prose::inconclusive(&why)));
    let of = |why: &String| {
        let is_it =
            |row: &&&FleetChange| row.reason.is_some_and(|reason| prose::inconclusive(&reason) == *why);
        let names: Vec<_> = rows.iter().filter(is_it).map(|row| plain(&row.case.to_string())).collect();
        format!("inconclusive: {}: {why}", listed(&names, NAMED))
    };
    let of_runs = rows.iter().any(|row| row.runs.is_some());
    let compared = if of_runs { prose::COMPARED_RUNS } else { prose::COMPARED };
    let notes = why.iter().map(of).chain([compared.to_owned()]).collect();
    let columns = [
        Column::words("verdict"),
        Column::words("row"),
        Column::figures("then").expendable(2),
        Column::figures("now").expendable(2),
        Column::figures("ratio"),
        Column::figures("interval").expendable(1),
        Column::words(if of_runs { "runs" } else { "hosts" }).expendable(3),
    ];
    let verdicts = Change::ALL.map(|of| (rows.iter().filter(|row| row.verdict == of).count(), of.name()));
    let verdicts: Vec<_> = verdicts.iter().filter(|(count, _)| *count > 0).collect();
    let verdicts: Vec<_> = verdicts.iter().map(|(count, name)| format!("{count} {name}")).collect();
    let total = words::count(rows.len(), "benchmark");
    let said =
        format!("Of {total} that both have, with a margin of {} %: {}.", margin(found), verdicts.join(", "));
    let table = Table { notes, ..Table::new(columns, rows.into_iter().map(change).collect()) };
    Section::chapter(heading).paragraph(said).table(table)
}

/// Returns the margin in percent.
fn margin(found: &FleetComparison) -> f64 {
    (found.margin * 1e6).round() / 1e4
}

fn change(row: &FleetChange) -> Row {
    let tone = match row.verdict {
        Change::Worse => Tone::Bad,
        Change::Better => Tone::Good,
        Change::Inconclusive => Tone::Warning,
        Change::Same => Tone::Neutral,
    };
    let hosts = match (row.runs, row.paired_hosts) {
        (Some([before, after]), _) => format!("{before} and {after}"),
        (None, Some(hosts)) => format!("the same {hosts}"),
        (None, None) => format!("{} and {}", row.baseline_hosts, row.new_hosts),
    };
    let interval =
        row.interval.map_or_else(|| "?".to_owned(), |[low, high]| format!("{low:.3} to {high:.3}"));
    let cells = [
        row.verdict.name().to_owned(),
        plain(&row.case.to_string()),
        format_ns(row.baseline_ns),
        format_ns(row.new_ns),
        format!("{:.3}x", row.ratio),
        interval,
        hosts,
    ];
    Row { tone, ..Row::neutral(cells) }
}

fn rows(found: &FleetComparison) -> Section {
    // Over one host there is nothing to spread.
    if found.rows.is_empty() || (found.by != FleetBy::Host && found.hosts == 1) {
        return Section::default();
    }
    let columns = [
        Column::words("row"),
        Column::figures("hosts"),
        Column::figures("median"),
        Column::figures("half of the hosts").expendable(1),
        Column::figures("least").expendable(2),
        Column::figures("most").expendable(2),
        Column::words("on").expendable(3),
    ];
    let line = |row: &FleetRow| {
        let [low, high] = row.quartiles_ns.map(format_ns);
        let time = |ns: f64| Cell::figure(format_ns(ns), ns);
        Row::neutral([
            Cell::Text(plain(&row.case.to_string())),
            Cell::figure(row.hosts.to_string(), row.hosts as f64),
            time(row.median_ns),
            Cell::Text(format!("{low} to {high}")),
            time(row.least.ns),
            time(row.most.ns),
            Cell::Text(plain(&row.most.host)),
        ])
    };
    let one_way = found.rows.iter().any(|row| row.unit != Unit::RoundTrip);
    let notes =
        one_way.then_some(prose::ONE_WAY.to_owned()).into_iter().chain([prose::MOST.to_owned()]).collect();
    Section::titled("Benchmarks over hosts")
        .table(Table { notes, ..Table::new(columns, found.rows.iter().map(line).collect()) })
}

#[cfg(test)]
mod tests;
