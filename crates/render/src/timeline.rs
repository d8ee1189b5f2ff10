//! The timelines of traced messages: a picture, a table of all steps, and checks against other measurements.

use super::document::{Block, Cell, Column, Layout, Line, Row, Section, Table, Tone};
use super::words::{count, signed};
use furlong_analysis::text::plain;
use furlong_analysis::{Explanation, MessagePath, NoTimeline, Part, Timeline, TimelineStep};
use furlong_chart::{Axis, Chart, Kind, Look, Measure, Point, Series};
use furlong_model::{Role, format_ns};

/// Differences above which a check is a warning: of the sum of the steps, and of the cost model.
const FAR_FROM_CLOCK: f64 = 0.05;
const FAR_FROM_MODEL: f64 = 0.15;

/// Returns the section of all timelines; empty if none was requested.
pub(crate) fn section(explanation: &Explanation) -> Section {
    let untraced = explanation.untraced.iter().map(|row| {
        let text =
            format!("{}: no timeline, because {}", plain(&row.case.to_string()), no_timeline(&row.reason));
        Line { tone: Tone::Warning, text }
    });
    let timelines = &explanation.timelines[..];
    let Some(chart) = timeline_chart(timelines) else { return Section::default().bullets(untraced) };
    let notes = timelines.iter().flat_map(notes);
    Section::titled(format!("{}: {}", chart.title, chart.x.label))
        .with(Block::Chart(chart))
        .table(steps(timelines))
        .table(checks(timelines))
        .bullets(notes.chain(untraced))
}

/// Returns the picture of the timelines, all on one scale; `None` without any.
pub fn timeline_chart(timelines: &[Timeline]) -> Option<Chart> {
    const SERIES: [&str; 4] = ["sender", "wake-up and switch", "receiver", "sender in parallel"];
    let mut series = SERIES.map(|_| Vec::new());
    let mut names = Vec::new();
    for timeline in timelines {
        let (mut before_ns, mut message_ns) = (0.0, 0.0);
        for path in &timeline.paths {
            let benchmark =
                if timelines.len() > 1 { short_name(timeline, timelines) + ", " } else { String::new() };
            names.push(format!("{benchmark}{}", message(path)));
            let mut add = |step: &TimelineStep, start_ns: f64, series: &mut Vec<Point>| {
                let point = Point::new(step.step.name(), start_ns + step.ns, names.len() as f64);
                series.push(Point { x_ends: Some([start_ns, start_ns + step.ns]), ..point });
                names.push(format!("{} {:>8}", step.step.name(), format_ns(step.ns)));
            };
            for step in &path.steps {
                add(step, before_ns + message_ns, &mut series[step.step.actor() as usize]);
                message_ns += step.ns;
            }
            for step in &path.parallel {
                add(step, before_ns + step.start_ns, &mut series[SERIES.len() - 1]);
            }
            before_ns += std::mem::take(&mut message_ns);
        }
    }
    let series = (0..).zip(SERIES).zip(series);
    let series = series.map(|((number, name), points)| Series {
        name: name.to_owned(),
        look: Look::Part(number),
        points,
    });
    let title = match timelines {
        [timeline] => format!("Messages of {}", plain(&timeline.case.to_string())),
        _ => format!("Messages of {}", count(timelines.len(), "benchmark")),
    };
    let chart = Chart {
        id: "timeline".to_owned(),
        title,
        says: String::new(),
        notes: Vec::new(),
        x: Axis::linear("traced time since the first send call", Measure::Time),
        y: Axis::named(names),
        kind: Kind::Spans,
        series: series.collect(),
        guides: Vec::new(),
    };
    chart.drawable()
}

/// Returns the name of a message for users.
fn message(path: &MessagePath) -> &'static str {
    if path.sender == Role::Initiator { "request" } else { "reply" }
}

/// Returns the figures of all steps, with the benchmarks side by side.
fn steps(timelines: &[Timeline]) -> Table {
    let all = |timeline: &Timeline| -> Vec<(String, TimelineStep)> {
        let named = |path: &MessagePath| {
            let on_path =
                path.steps.iter().map(|step| (format!("{}: {}", message(path), step.step.name()), step));
            let parallel = path.parallel.iter();
            let parallel =
                parallel.map(|step| (format!("{}, in parallel: {}", message(path), step.step.name()), step));
            on_path.chain(parallel).map(|(name, step)| (name, step.clone())).collect::<Vec<_>>()
        };
        timeline.paths.iter().flat_map(named).collect()
    };
    let found: Vec<_> = timelines.iter().map(all).collect();
    let mut names: Vec<String> = Vec::new();
    for (at, (name, _)) in found.iter().flat_map(|all| (0..).zip(all)) {
        // A step that only another benchmark has keeps its place in the order.
        if !names.contains(name) {
            names.insert(names.len().min(at), name.clone());
        }
    }
    let mut columns = vec![Column::words("step")];
    for timeline in timelines {
        let median = if timelines.len() > 1 { short_name(timeline, timelines) } else { "median".to_owned() };
        columns.extend([Column::named(median), Column::figures("25-75 %")]);
    }
    let row = |name: String| {
        let step = |all: &[(String, TimelineStep)]| {
            figures(all.iter().find(|(own, _)| *own == name).map(|(_, step)| step))
        };
        let figures: Vec<_> = found.iter().flat_map(|all| step(all)).collect();
        Row::neutral([Cell::Text(name.clone())].into_iter().chain(figures))
    };
    let mut rows: Vec<Row> = names.into_iter().map(row).collect();
    let sums = timelines.iter().flat_map(|one| [Cell::Text(format_ns(one.sum_ns)), Cell::none()]);
    rows.push(Row::neutral([Cell::Text("sum of the medians".to_owned())].into_iter().chain(sums)));
    Table { layout: Layout::Continue(1), ..Table::new(columns, rows) }
}

fn figures(step: Option<&TimelineStep>) -> [Cell; 2] {
    step.map_or_else(
        || [Cell::none(), Cell::none()],
        |TimelineStep { ns, quartiles_ns: [low, high], .. }| {
            [format_ns(*ns), format!("{}-{}", format_ns(*low), format_ns(*high))].map(Cell::Text)
        },
    )
}

/// Returns the benchmark without its size and placement, unless that is ambiguous.
fn short_name(timeline: &Timeline, all: &[Timeline]) -> String {
    let row = timeline.case.row();
    let is_unique = all.iter().filter(|other| other.case.row() == row).count() == 1;
    plain(&if is_unique { row } else { timeline.case.to_string() })
}

/// Compares the steps with the clock of the initiator, with messages without tracing and with the cost model.
fn checks(timelines: &[Timeline]) -> Table {
    let mut rows = Vec::new();
    for timeline in timelines {
        let Timeline { sum_ns, path_ns, all_ns, traced_ns, untraced_ns, .. } = *timeline;
        let mut add = |check: &str, ns: f64, other_ns: f64, most: f64| {
            let difference = ns / other_ns - 1.0;
            let tone = if difference.abs() > most { Tone::Warning } else { Tone::Neutral };
            let times = [format_ns(ns), format_ns(other_ns), signed(difference)];
            let cells =
                [short_name(timeline, timelines), check.to_owned()].into_iter().chain(times).map(Cell::Text);
            rows.push(Row { tone, cells: cells.collect() });
        };
        add("sum of the medians: median of the sums", sum_ns, path_ns, FAR_FROM_CLOCK);
        add("all paths: initiator's clock", all_ns, traced_ns, FAR_FROM_CLOCK);
        add("clock: without tracing", traced_ns, untraced_ns, f64::INFINITY);
        for group in &timeline.model {
            let is_waiting = matches!(group.part, Part::WakeUps | Part::ContextSwitches | Part::Waiting);
            let check = if is_waiting { "waiting: untraced model" } else { "calls, code: untraced model" };
            add(check, group.steps_ns, group.model_ns, FAR_FROM_MODEL);
        }
    }
    let columns = [
        Column::words("benchmark").expendable(2),
        Column::words("check"),
        Column::figures("timeline"),
        Column::figures("compared"),
        Column::figures("difference"),
    ];
    Table::new(columns, rows)
}

fn notes(timeline: &Timeline) -> Vec<Line> {
    let name = plain(&timeline.case.to_string());
    let Timeline { round_trips, incomplete, share, events, lost_events, traced_ns, untraced_ns, .. } =
        *timeline;
    let added_ns = traced_ns - untraced_ns;
    let mut lines = vec![Line::neutral(format!(
        "{name}: medians of {:.0} % of {}, which take the same path. Tracing adds {} per round trip ({}), in {events:.1} \
         events; the steps include that.",
        share * 100.0,
        count(round_trips, "round trip"),
        format_ns(added_ns),
        signed(added_ns / untraced_ns)
    ))];
    for path in timeline.paths.iter().filter(|path| !path.others.is_empty()) {
        let step = |step: &TimelineStep| {
            format!("{} {} ({:.0} %)", step.step.name(), format_ns(step.ns), step.share * 100.0)
        };
        let steps: Vec<_> = path.others.iter().map(step).collect();
        lines.push(Line::neutral(format!(
            "{name}: other paths of the {}: {}.",
            message(path),
            steps.join(", ")
        )));
    }
    let mut warn = |text: String| lines.push(Line { tone: Tone::Warning, text: format!("{name}: {text}") });
    if incomplete > 0 {
        warn(format!("{} left out, because events are missing.", count(incomplete, "round trip")));
    }
    if lost_events > 0 {
        warn(format!("{} did not fit into the buffer.", count(lost_events as usize, "event")));
    }
    if !timeline.missing.is_empty() {
        warn(format!("this kernel does not report {}.", timeline.missing.join(", ")));
    }
    lines
}

/// Returns why a benchmark has no timeline, in words that follow "because".
pub fn no_timeline(reason: &NoTimeline) -> String {
    match reason {
        NoTimeline::NoCalls => "it makes no system calls: its messages are stores to shared memory, which the kernel does not see".to_owned(),
        NoTimeline::OwnLoop => "its program runs its own loop, whose measured part is not marked in the trace".to_owned(),
        NoTimeline::NoMessages => "its system calls do not show where a message begins".to_owned(),
        NoTimeline::NotTraced { why } => plain(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, explanation_table};
    use furlong_analysis::{DecodedRun, ModelledSteps, Step, explain};
    use furlong_fixture::costs::{PIPE, RunBuilder, SMALL_PIPE};
    use furlong_model::{Case, Placement};

    fn timeline(case: Case) -> Timeline {
        let step = |step, start_ns, ns| TimelineStep {
            step,
            start_ns,
            ns,
            quartiles_ns: [ns - 1.0, ns + 1.0],
            share: 1.0,
        };
        let path = |sender| MessagePath {
            sender,
            steps: vec![
                step(Step::SendCall, 0.0, 300.0),
                step(Step::Switch, 300.0, 900.0),
                step(Step::ReceiveReturn, 1_200.0, 400.0),
            ],
            parallel: vec![step(Step::SendReturn, 300.0, 200.0)],
            others: vec![TimelineStep { share: 0.2, ..step(Step::IdleExit, 300.0, 2_000.0) }],
        };
        Timeline {
            case,
            round_trips: 5_000,
            incomplete: 3,
            share: 0.8,
            events: 20.0,
            lost_events: 9,
            paths: [Role::Initiator, Role::Responder].map(path).into(),
            sum_ns: 3_200.0,
            path_ns: 3_210.0,
            all_ns: 3_600.0,
            traced_ns: 3_650.0,
            untraced_ns: 2_000.0,
            model: vec![ModelledSteps { part: Part::ContextSwitches, steps_ns: 1_800.0, model_ns: 1_000.0 }],
            missing: vec!["cpu_idle".to_owned()],
        }
    }

    #[test]
    fn timelines_are_drawn_side_by_side_at_every_width() {
        let mut explanation = explain(&DecodedRun::of(&RunBuilder::quiet_machine().run()), &[]);
        explanation.timelines =
            [PIPE, SMALL_PIPE].map(|recipe| timeline(recipe.case(Placement::OtherCore))).into();
        let case = PIPE.case(Placement::SameCore);
        explanation.add_timeline(&case, Err(NoTimeline::NoCalls));
        for width in [80, 120] {
            let text = explanation_table(&explanation, Style { width, ..Style::default() });
            assert!(
                text.lines().all(|line| line.chars().count() <= width && line == line.trim_end()),
                "{text}"
            );
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for part in [
                "█ sender, ▒ wake-up and switch, ▓ receiver, ─ sender in parallel",
                "request, in parallel: send returns",
                "medians of 80 % of 5000 round trips, which take the same path. Tracing adds 1.65 us per round trip (+82.5 %)",
                "idle exit 2.00 us (20 %)",
                "3 round trips left out, because events are missing",
                "9 events did not fit into the buffer",
                "does not report cpu_idle",
                "stores to shared memory, which the kernel does not see",
            ] {
                assert!(words.contains(part), "{part} in {text}");
            }
        }
    }
}
