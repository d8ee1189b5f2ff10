//! Leading benchmarks while a run is in progress, one or two lines for each group.

use super::document::{Document, Line, Section};
use furlong_analysis::text::plain;
use furlong_analysis::{Leader, Leaders};
use furlong_model::format_ns;

/// Returns each group with its fastest benchmarks.
pub(crate) fn document(groups: &[Leaders]) -> Document {
    let line = |group: &Leaders| {
        let mut rows: Vec<String> = group.rows.iter().map(leader).collect();
        if group.others > 0 {
            rows.push(format!("{} more", group.others));
        }
        Line::neutral(format!("{}: {}", group.title, rows.join(", ")))
    };
    Document { sections: vec![Section::default().bullets(groups.iter().map(line))] }
}

fn leader(leader: &Leader) -> String {
    let precision = leader.precision.map_or_else(String::new, |precision| match precision {
        // A single trial during which the machine was stopped is not a usable figure.
        1.0.. => " ±100 % or more".to_owned(),
        _ => format!(" ±{:.0} %", precision * 100.0),
    });
    format!("{} {}{precision}", plain(&leader.row), format_ns(leader.median_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use crate::terminal::terminal;

    #[test]
    fn the_fastest_of_each_group_stand_beside_each_other() {
        let row = |name: &str, median_ns, precision| Leader { row: name.to_owned(), median_ns, precision };
        let group = |title: &str, rows, others| Leaders { title: title.to_owned(), rows, others };
        let groups = [
            group(
                "sleeping",
                vec![row("pipe/block", 5_000.0, Some(0.042)), row("tcp/block", 9_000.0, None)],
                3,
            ),
            group("spinning", vec![row("pipe/spin", 1_000.0, Some(2800.0))], 0),
        ];
        assert_eq!(
            terminal(&document(&groups), Style::default()),
            "- sleeping: pipe/block 5.00 us ±4 %, tcp/block 9.00 us, 3 more\n- spinning: pipe/spin 1.00 us ±100 % or more\n"
        );
    }
}
