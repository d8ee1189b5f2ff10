//! Chart of predictions of the cost model against measured times.

use furlong_analysis::{Explained, Explanation};
use furlong_chart::{Axis, Chart, Guide, Kind, Look, Measure, Point, Series, look_of};
use furlong_render::{agreement, plain};

/// Returns one chart of all explained benchmarks; `None` without any.
pub fn chart(explanation: &Explanation) -> Option<Chart> {
    let point = |row: &Explained, ns: f64| Point {
        x_ends: row.measured_ci95,
        look: Some(look_of(&row.case.row())),
        ..Point::new(plain(&row.case.to_string()), row.measured_ns, ns)
    };
    // The predicted sum of a program with a separate loop leaves out the time spent in the program.
    let rows = || explanation.rows.iter().filter(|row| !row.own_loop);
    let ours = rows().map(|row| point(row, row.predicted_ns)).collect();
    let formula = rows().filter_map(|row| Some(point(row, row.article_ns?))).collect();
    Chart {
        id: "predicted".to_owned(),
        title: "Predicted against measured".to_owned(),
        says: agreement(explanation).unwrap_or_default(),
        notes: vec![
            "On the line, prediction and measurement are the same; the thin lines are 20 % off. The published formula is \
             T = size/bandwidth + N*switch + M*call, with the same costs."
                .to_owned(),
        ],
        x: Axis::log("measured", Measure::Time),
        y: Axis::log("predicted", Measure::Time),
        kind: Kind::Scatter,
        series: vec![
            Series { name: "this model".to_owned(), look: Look::Sample { mark: None, hollow: false }, points: ours },
            Series { name: "published formula".to_owned(), look: Look::Sample { mark: None, hollow: true }, points: formula },
        ],
        guides: vec![
            Guide::Times(1.0, "the same".to_owned()),
            Guide::Times(1.2, "20 % too much".to_owned()),
            Guide::Times(0.8, "20 % too little".to_owned()),
        ],
    }
    .drawable()
}
