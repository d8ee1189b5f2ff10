//! The HTML page of many hosts: outliers first, then every benchmark and every cost of each host.

use super::super::document::{Cell, Column, Document, Row, Section, Table, Tone};
use super::{against_first, groups, outliers, prose, rows, unused};
use furlong_analysis::text::plain;
use furlong_analysis::{FleetBy, FleetComparison, FleetMap, MappedCost, MappedHost};
use furlong_model::{format_bytes, format_ns};

/// Returns the title of the page.
pub fn fleet_title(found: &FleetComparison) -> String {
    prose::runs(found.runs, found.hosts)
}

/// Returns the number of files read, and the outliers or the differences between groups.
pub fn fleet_verdict(found: &FleetComparison) -> Document {
    let said = if found.by == FleetBy::Host { outliers(found) } else { groups(found) };
    [Section::chapter("The verdict").anchored("verdict").paragraph(prose::read(found)), said]
        .into_iter()
        .collect()
}

/// Returns the chapters with all figures.
pub fn fleet_chapters(found: &FleetComparison, map: &FleetMap) -> Document {
    let mut document = Document::default();
    if found.by == FleetBy::Host {
        hosts(found, map).into_iter().for_each(|section| document.push(section));
    } else {
        for (number, group) in found.groups.iter().enumerate().skip(1) {
            document.push(against_first(found, group).anchored(format!("group {number}")));
        }
    }
    let over_hosts = rows(found);
    document.push(
        Section { heading: Some((2, "Benchmarks over hosts".to_owned())), ..over_hosts }.anchored("rows"),
    );
    document.push(Section::chapter("Unused files").anchored("unused").bullets(unused(found)));
    document
}

fn hosts(found: &FleetComparison, map: &FleetMap) -> [Section; 4] {
    let titled = |title: &str, anchor: &str| Section::titled(title).anchored(format!("hosts {anchor}"));
    [
        Section::chapter("Hosts").anchored("hosts").paragraph(prose::SHADES),
        titled("Every benchmark of each host", "rows").table(ratios(found, map)),
        apart(found)
            .map_or_else(Section::default, |table| titled("Outliers by benchmark", "apart").table(table)),
        titled("Costs of each host", "costs").table(costs(found, map)),
    ]
}

/// Returns a table of hosts with the outliers marked.
fn host_table(map: &FleetMap, columns: Vec<Column>, cells: impl Fn(&MappedHost) -> Vec<Cell>) -> Table {
    let row = |host: &MappedHost| {
        let name = Cell::Text(plain(&host.name));
        let tone = if host.stands_out { Tone::Bad } else { Tone::Neutral };
        Row { tone, cells: [name].into_iter().chain(cells(host)).collect() }
    };
    let columns: Vec<_> = [Column::words("host")].into_iter().chain(columns).collect();
    Table::new(columns, map.hosts.iter().map(row).collect())
}

/// Returns the ratio of each benchmark to its median over hosts.
fn ratios(found: &FleetComparison, map: &FleetMap) -> Table {
    let columns =
        found.rows.iter().map(|row| Column::named(plain(&row.case.to_string())).upright()).collect();
    let cell = |ratio: &Option<f64>| match ratio {
        Some(ratio) => Cell::shaded(format!("{ratio:.2}"), *ratio, *ratio, found.margin),
        None => Cell::none(),
    };
    host_table(map, columns, |host| host.ratios.iter().map(cell).collect())
}

/// Returns a table of each cost as a time.
fn costs(found: &FleetComparison, map: &FleetMap) -> Table {
    let name = |cost: &MappedCost| {
        let size = cost.size_bytes.map(|bytes| format!(", {}", format_bytes(bytes))).unwrap_or_default();
        Column::named(plain(&format!("{}{size}", cost.name))).upright()
    };
    let cell = |(ns, cost): (&Option<f64>, &MappedCost)| match ns {
        Some(ns) => Cell::shaded(format_ns(*ns), *ns, ns / cost.fleet_ns, found.margin),
        None => Cell::none(),
    };
    host_table(map, map.costs.iter().map(name).collect(), |host| {
        host.costs_ns.iter().zip(&map.costs).map(cell).collect()
    })
}

/// Returns the benchmarks in which hosts are outliers, if there are any.
fn apart(found: &FleetComparison) -> Option<Table> {
    let columns = [
        Column::words("host"),
        Column::words("row"),
        Column::figures("here"),
        Column::figures("median over hosts"),
        Column::figures("ratio"),
        Column::figures("p, corrected"),
    ];
    let rows: Vec<Row> = found
        .outliers
        .iter()
        .flat_map(|host| host.apart.iter().map(move |row| (host, row)))
        .map(|(host, row)| {
            let time = |ns: f64| Cell::figure(format_ns(ns), ns);
            Row::neutral([
                Cell::Text(plain(&host.host)),
                Cell::Text(plain(&row.case.to_string())),
                time(row.ns),
                time(row.fleet_ns),
                Cell::shaded(format!("{:.2}x", row.ratio), row.ratio, row.ratio, found.margin),
                Cell::figure(format!("{:.1e}", row.p_adjusted), row.p_adjusted),
            ])
        })
        .collect();
    (!rows.is_empty()).then(|| Table::new(columns, rows))
}
