//! Chart of predictions of the cost model against measured times.

use furlong_analysis::{ExplainedRow, Explanation, Summary};
use furlong_chart::{Axis, Chart, Guide, Kind, Look, Measure, Point, Series};
use furlong_model::Family;
use furlong_render::plain;

/// Returns one chart of all explained benchmarks; `None` without any.
pub fn chart(summary: &Summary, explanation: &Explanation) -> Option<Chart> {
    let point = |look: fn(Option<Family>) -> Look, row: &ExplainedRow, ns: f64| Point {
        x_ends: row.measured_ci95,
        look: Some(look(summary.family_of(&row.case.mechanism))),
        ..Point::new(plain(&row.case.to_string()), row.measured_ns, ns)
    };
    // The predicted sum of a program with a separate loop leaves out the time spent in the program.
    let rows = || explanation.rows.iter().filter(|row| !row.own_loop);
    let ours = rows().map(|row| point(Look::Filled, row, row.predicted_ns)).collect();
    let formula = rows().filter_map(|row| Some(point(Look::Hollow, row, row.article_ns?))).collect();
    Chart {
        id: "predicted".to_owned(),
        title: "Predicted against measured".to_owned(),
        says: String::new(),
        notes: vec![
            "On the line, prediction and measurement are the same; the thin lines are 20 % off. The published formula is \
             T = size/bandwidth + N*switch + M*call, with the same costs."
                .to_owned(),
        ],
        x: Axis::log("measured", Measure::Time),
        y: Axis::log("predicted", Measure::Time),
        kind: Kind::Scatter,
        series: vec![
            Series { name: "this model".to_owned(), look: Look::Filled(None), points: ours },
            Series { name: "published formula".to_owned(), look: Look::Hollow(None), points: formula },
        ],
        guides: vec![
            Guide::Times(1.0, "the same".to_owned()),
            Guide::Times(1.2, "20 % too much".to_owned()),
            Guide::Times(0.8, "20 % too little".to_owned()),
        ],
    }
    .drawable()
}
