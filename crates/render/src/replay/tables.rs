//! The tables of a replay: the figure that decides, the other figures, system calls, best sizes and process starts.

use super::{
    figures::{NONE, both_of, interval, now, now_of, ratio, then, then_of, title},
    matrix::matrix,
    sheet::Sheet,
};
use crate::words::{IN_RUN, in_run};
use furlong_analysis::text::plain;
use furlong_analysis::{BestSize, MeasuredFigure, Replay, ReplayRow, ReplayStart, ReplayStatus};
use furlong_model::{Figure, PublishedMachine, format_bytes};
use furlong_stats::{coverage, distinct};

/// Maximum number of sizes that have separate tables.
const FEW_SIZES: usize = 3;

/// Returns all tables in their printed order.
pub(crate) fn sheets(replay: &Replay) -> Vec<Sheet> {
    let sizes = &replay.measure.sizes_bytes;
    let mut sheets = Vec::new();
    if sizes.len() <= FEW_SIZES {
        for size in sizes {
            sheets.push(deciding(replay, *size));
            sheets.extend(others(replay, *size));
        }
    } else {
        sheets.push(matrix(replay));
    }
    sheets.extend(elsewhere(replay));
    sheets.extend(best_sizes(replay));
    sheets.extend(system_calls(replay));
    sheets.extend(starts(replay));
    sheets
}

/// Returns the table of the deciding figure with its interval and ratios, and of the median if it is the only other
/// figure.
fn deciding(replay: &Replay, size_bytes: usize) -> Sheet {
    let figure = replay.measure.order_by;
    let median = (other_figures(replay, size_bytes) == [Figure::MedianUs]).then_some(Figure::MedianUs);
    let cells = |row: &ReplayRow| {
        let measured_as = match row.status {
            ReplayStatus::Measured => target(row.row.as_deref()),
            status => status.name().to_owned(),
        };
        let cells = [
            plain(&row.mechanism),
            measured_as,
            then_of(row, figure),
            now_of(row, figure),
            interval(row.measured.get(&figure)),
            ratio(row.ratio_then),
            ratio(row.ratio_now),
        ];
        cells.into_iter().chain(median.map(|median| now_of(row, median))).collect()
    };
    let reference = replay.rows_of(size_bytes).find(|row| row.ratio_then == Some(1.0));
    let note = reference.map_or_else(String::new, |row| {
        format!("x: how many times as long as {}, which was the fastest.", plain(&row.mechanism))
    });
    let of_size = || replay.rows_of(size_bytes).filter(|row| row.measured.contains_key(&figure));
    let (known, unknown): (Vec<_>, Vec<_>) = of_size().partition(|row| row.measured[&figure].ci95.is_some());
    let interval_head = confidence(&known);
    let note =
        if !unknown.is_empty() { format!("{note} {NO_INTERVAL}").trim_start().to_owned() } else { note };
    let heads = ["then", "now", &interval_head, "x then", "x now"].map(str::to_owned).into_iter();
    Sheet {
        title: title(figure, &replay.measure, size_bytes),
        keys: vec!["row", "measured as"],
        figures: heads.chain(median.map(|median| median.label().to_owned())).collect(),
        rows: replay.rows_of(size_bytes).map(cells).collect(),
        note,
    }
}

/// Meaning of `?` in the column of intervals.
const NO_INTERVAL: &str = "?: fewer than three trials have no confidence interval.";

/// Returns the heading of the intervals of these rows: the coverage that the fewest trials have.
fn confidence(rows: &[&ReplayRow]) -> String {
    let fewest = rows.iter().map(|row| row.trials).min();
    fewest.map_or_else(|| "interval".to_owned(), |fewest| in_run(coverage(fewest)))
}

/// Returns the figures of a size that decide nothing.
fn other_figures(replay: &Replay, size_bytes: usize) -> Vec<Figure> {
    let is_there = |figure: &Figure| {
        *figure != replay.measure.order_by && replay.rows_of(size_bytes).any(|row| has(row, *figure))
    };
    replay.figures.iter().copied().filter(is_there).collect()
}

fn has(row: &ReplayRow, figure: Figure) -> bool {
    row.published.contains_key(&figure) || row.measured.contains_key(&figure)
}

fn target(name: Option<&str>) -> String {
    name.map_or_else(|| NONE.to_owned(), plain)
}

/// Returns the table of figures that decide nothing. Returns `None` without such figures, or if the only one is the
/// median, which another table shows.
fn others(replay: &Replay, size_bytes: usize) -> Option<Sheet> {
    let figures = Some(other_figures(replay, size_bytes)).filter(|figures| *figures != [Figure::MedianUs])?;
    let cells = |row: &ReplayRow| {
        [plain(&row.mechanism)]
            .into_iter()
            .chain(figures.iter().map(|figure| both_of(row, *figure)))
            .collect()
    };
    let shown = |row: &&ReplayRow| figures.iter().any(|figure| has(row, *figure));
    (!figures.is_empty()).then(|| Sheet {
        title: format!("other figures of {}, then → now", format_bytes(size_bytes)),
        keys: vec!["row"],
        figures: figures.iter().map(|figure| figure.label().to_owned()).collect(),
        rows: replay.rows_of(size_bytes).filter(shown).map(cells).collect(),
        note: String::new(),
    })
}

/// Returns the deciding figure on the other machines of the publication; `None` if it has only one machine.
fn elsewhere(replay: &Replay) -> Option<Sheet> {
    let (figure, machines) = (replay.measure.order_by, &replay.machines_then);
    let cell = |row: &ReplayRow, machine: &PublishedMachine| {
        let published = row.published_elsewhere.get(&machine.name).and_then(|figures| figures.get(&figure));
        published.map_or_else(|| NONE.to_owned(), |value| then(*value))
    };
    let cells = |row: &ReplayRow| {
        let keys = [plain(&row.mechanism), format_bytes(row.size_bytes), then_of(row, figure)];
        keys.into_iter().chain(machines.iter().map(|machine| cell(row, machine))).collect()
    };
    let rows: Vec<_> =
        replay.rows.iter().filter(|row| !row.published_elsewhere.is_empty()).map(cells).collect();
    let names = machines.iter().map(|machine| plain(&machine.name));
    (!rows.is_empty()).then(|| Sheet {
        title: format!("{}, published on several machines", figure.label()),
        keys: vec!["row", "size"],
        figures: ["then".to_owned()].into_iter().chain(names).collect(),
        rows,
        note: String::new(),
    })
}

/// Returns the best size of each benchmark; `None` if sizes are not compared.
fn best_sizes(replay: &Replay) -> Option<Sheet> {
    let named = |sizes: &[usize]| match sizes {
        [] => NONE.to_owned(),
        sizes => sizes.iter().map(|size| format_bytes(*size)).collect::<Vec<_>>().join(" "),
    };
    let gigabytes = |best: &BestSize, size: usize| {
        let row = replay.rows_of(size).find(|row| row.mechanism == best.mechanism)?;
        row.measured.get(&Figure::GigabytesPerSecond).map(|measured| now(measured.value))
    };
    let cells = |best: &BestSize| {
        let mut cells = vec![plain(&best.mechanism), target(best.row.as_deref()), named(&best.then)];
        cells.extend(match &best.now {
            None => [NONE, NONE, NONE, NONE, NONE].map(str::to_owned),
            Some(found) => [
                format_bytes(found.size_bytes),
                now(found.figure.value),
                interval(Some(&found.figure)),
                gigabytes(best, found.size_bytes).unwrap_or_else(|| NONE.to_owned()),
                named(&found.tied_with),
            ],
        });
        cells
    };
    let best_row = |best: &BestSize| {
        let size_bytes = best.now.as_ref().filter(|now| now.figure.ci95.is_some())?.size_bytes;
        replay.rows_of(size_bytes).find(|row| row.mechanism == best.mechanism)
    };
    let interval_head = confidence(&replay.best_sizes.iter().filter_map(best_row).collect::<Vec<_>>());
    let label = replay.measure.order_by.label().to_owned();
    let figures = ["then", "now"].map(str::to_owned).into_iter().chain([label]);
    let is_known = |best: &&BestSize| best.now.is_some() || !best.then.is_empty();
    let rows: Vec<_> = replay.best_sizes.iter().filter(is_known).map(cells).collect();
    (!rows.is_empty()).then(|| Sheet {
        title: "the best block size of each benchmark".to_owned(),
        keys: vec!["row", "measured as"],
        figures: figures.chain([interval_head, "GB/s".to_owned(), "ties with".to_owned()]).collect(),
        rows,
        note: String::new(),
    })
}

/// Returns the system calls by name, of both processes; `None` if none were published or counted.
fn system_calls(replay: &Replay) -> Option<Sheet> {
    let made =
        |row: &ReplayRow| row.system_calls.iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let of =
        |row: &ReplayRow| row.system_calls_published.keys().cloned().chain(made(row)).collect::<Vec<_>>();
    let names = distinct(replay.rows.iter().flat_map(of));
    let cell = |row: &ReplayRow, name: &String| {
        let then = row.system_calls_published.get(name);
        let now = row.system_calls.as_ref().map(|calls| calls.get(name).copied().unwrap_or_default());
        let now = now.map_or_else(|| "?".to_owned(), |count| count.to_string());
        let is_published = !row.system_calls_published.is_empty();
        if is_published { format!("{} → {now}", then.copied().unwrap_or_default()) } else { now }
    };
    let has = |row: &&ReplayRow| row.system_calls.is_some() || !row.system_calls_published.is_empty();
    let cells = |row: &ReplayRow| {
        [plain(&row.mechanism)].into_iter().chain(names.iter().map(|name| cell(row, name))).collect()
    };
    (!names.is_empty()).then(|| Sheet {
        title: "system calls of both processes, then → now".to_owned(),
        keys: vec!["row"],
        figures: names.iter().map(|name| plain(name)).collect(),
        rows: replay.rows.iter().filter(has).map(cells).collect(),
        note: format!(
            "{}Then: the whole of both programs; now: the work of both processes.",
            if replay.rows.iter().filter(has).any(|row| row.system_calls.is_none()) {
                "? was not counted. "
            } else {
                ""
            }
        ),
    })
}

/// Returns the start times of processes; `None` if the experiment has none.
fn starts(replay: &Replay) -> Option<Sheet> {
    let published = |ms: Option<f64>| ms.map_or_else(|| NONE.to_owned(), then);
    let measured = |ms: &Option<MeasuredFigure>| ms.map_or_else(|| NONE.to_owned(), |ms| now(ms.value));
    let cells = |start: &ReplayStart| {
        vec![
            plain(&start.name),
            start.method.map_or_else(|| NONE.to_owned(), |method| method.to_string()),
            published(start.first_ms_then),
            measured(&start.first_ms),
            published(start.later_ms_then),
            measured(&start.later_ms),
            interval(start.later_ms.as_ref()),
        ]
    };
    (!replay.starts.is_empty()).then(|| Sheet {
        title: "process start in ms".to_owned(),
        keys: vec!["row", "started by"],
        figures: ["first then", "first now", "later then", "later now", IN_RUN].map(str::to_owned).into(),
        rows: replay.starts.iter().map(cells).collect(),
        note: String::new(),
    })
}
