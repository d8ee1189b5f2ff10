//! Rows put together from their parts, for a terminal and for programs.

use super::{
    costs::whats,
    document::{Cell, Column, Document, Layout, Line, Row, Section, Table, Tone},
    explain_sentences::{advice, explained, how, left_out, not_explained},
    noise::reasons,
    object::object,
    summary::with_noise,
    timeline,
    unmeasured::unmeasured,
    used_costs::used_costs,
    words::{count as counted, signed},
};
use furlong_analysis::text::{plain, times_between};
use furlong_analysis::{Agreement, ExplainedRow, Explanation, Level, Part, Term};
use furlong_model::{format_bytes, format_ns};

/// The columns of a row's parts; their names are not shown, since they speak for themselves.
const COLUMNS: [Column; 6] = [
    Column::words("part"),
    Column::words("bar").expendable(1),
    Column::figures("time"),
    Column::figures("share"),
    Column::figures("count"),
    Column::words("how").expendable(2),
];
/// The published formula that explanations are held against.
const FORMULA: &str = "T = size/bandwidth + N*switch + M*call";
/// Where the unexplained time of a program with a separate loop is spent.
const IN_PROGRAM: &str = "The remainder is spent in the program and its libraries (serialising, framing, additional \
                          copies), and in calls that do more than the measured calls of their kind.";
/// Group number of the tables of parts, which have equal columns and widths.
const PARTS: usize = 0;

/// Returns one JSON object; [`Explanation`] documents its fields.
pub fn explanation_json(explanation: &Explanation) -> String {
    let said = [reasons([&explanation.noise]), whats("costs.figures.size_bytes", &explanation.costs)];
    object(explanation, said.into_iter().chain(explained(explanation)).collect())
}

/// Returns the parts of each benchmark with sentences, a table of all benchmarks, and the costs used.
pub(crate) fn document(explanation: &Explanation) -> Document {
    let mut document = Document::default();
    if explanation.noise.level != Level::Quiet && !explanation.rows.is_empty() {
        document.push(with_noise(Section::default(), &explanation.noise));
    }
    explanation.rows.iter().map(section).for_each(|section| document.push(section));
    if explanation.rows.is_empty() {
        document.push(Section::default().paragraph("Nothing could be explained."));
    }
    if explanation.rows.len() > 1 {
        document.push(agreement(explanation).into_iter().fold(overview(explanation), Section::paragraph));
    }
    document.push(timeline::section(explanation));
    document.push(used_costs(explanation));
    let unmodelled = explanation.unmodelled.iter();
    let unmodelled = unmodelled.map(|entry| {
        Line::neutral(format!("{}: {}", plain(&entry.case.to_string()), plain(&not_explained(&entry.reason))))
    });
    document.push(Section::list("Not explained", unmodelled));
    document.push(unmeasured(&explanation.skipped));
    document
}

/// Returns the parts of a benchmark with the conclusions from them.
fn section(row: &ExplainedRow) -> Section {
    let rows = row.terms.iter().map(|term| part(row, term)).chain([unexplained(row)]).collect();
    let parts = Table { layout: Layout::Nameless, alike: Some(PARTS), ..Table::new(COLUMNS, rows) };
    let sentences = article(row).into_iter().chain(sentences(row));
    sentences.fold(Section::titled(title(row)).table(parts), Section::paragraph)
}

fn title(row: &ExplainedRow) -> String {
    let ends = row.measured_ci95.map_or_else(String::new, |ends| format!(" ({})", times_between(ends)));
    let [measured, predicted] = [row.measured_ns, row.predicted_ns].map(format_ns);
    let sum = match (row.is_missed(), signed(row.error)) {
        (false, _) if row.is_left_in_program() => {
            format!("{predicted} attributed ({:.1} %)", (1.0 + row.error) * 100.0)
        }
        (false, error) if row.own_loop => format!("fully attributed: the parts sum to {predicted} ({error})"),
        (false, error) => format!("{predicted} explained ({error})"),
        (true, error) => format!("not explained: the parts sum to {predicted} ({error})"),
    };
    format!("{}: {measured} measured{ends}, {sum}", plain(&row.case.to_string()))
}

fn part(row: &ExplainedRow, term: &Term) -> Row {
    // The share is relative to the measured time, like all percentages of an explanation.
    let share = term.ns / row.measured_ns;
    let name = term.name.name();
    let [name, time, percent, count, how] = [
        term.of.as_ref().map_or_else(|| name.to_owned(), |of| format!("{name}: {}", plain(of))),
        format_ns(term.ns),
        format!("{:.1} %", share * 100.0),
        format!("{} x {}", count(term.count), format_ns(term.cost_ns)),
        how(term.source).to_owned(),
    ]
    .map(Cell::Text);
    Row { tone: Tone::Neutral, cells: vec![name, Cell::Bar(share), time, percent, count, how] }
}

/// Returns the line of the unexplained time, with its sign.
fn unexplained(row: &ExplainedRow) -> Row {
    let ns = row.unexplained_ns;
    let sign = if ns > 0.0 { "+" } else { "" };
    let share = signed(ns / row.measured_ns);
    let name = if row.is_left_in_program() { Part::Program.name() } else { "unexplained" };
    let texts = [name.to_owned(), String::new(), format!("{sign}{}", format_ns(ns)), share];
    Row::neutral(texts.into_iter().chain([String::new(), String::new()]))
}

/// Formats a count; a whole number has no decimals.
fn count(count: f64) -> String {
    if (count - count.round()).abs() < 0.005 { format!("{count:.0}") } else { format!("{count:.2}") }
}

/// Reports the prediction of the published formula.
fn article(row: &ExplainedRow) -> Option<String> {
    let (ns, error) = row.article_ns.zip(row.article_error)?;
    Some(format!("The published formula {FORMULA}: {} ({})", format_ns(ns), signed(error)))
}

/// Reports what the model omits, what would help, and the size at which copying begins to matter.
fn sentences(row: &ExplainedRow) -> impl Iterator<Item = String> {
    let left_out = row.left_out.as_ref().map(left_out);
    let helps = row.helps.iter().map(advice);
    let overtakes = row.copying_overtakes_at_bytes.map(|size| {
        format!("Above about {}, moving the bytes takes longer than all other parts together.", about(size))
    });
    let is_of_library = |term: &Term| term.name == Part::LibraryThreads;
    let library = row.terms.iter().any(is_of_library).then(|| {
        "Library threads may run in parallel to the round trip: the sum includes their calls, which may not lengthen \
         it.".to_owned()
    });
    let program = row.is_left_in_program().then(|| IN_PROGRAM.to_owned());
    let without = row.costs_without.as_ref().map(|mechanism| {
        format!(
            "Costs exclude the benchmarks of {}: no cost is fitted to the benchmark that it explains.",
            plain(mechanism)
        )
    });
    left_out.into_iter().chain(program).chain(library).chain(helps).chain(overtakes).chain(without)
}

/// Formats a size with two digits, in the largest unit that does not exceed it.
fn about(bytes: u64) -> String {
    let unit = bytes.max(1).ilog2() / 10;
    let (factor, name) =
        [(1_u64, "B"), (1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB")][unit.min(3) as usize];
    let value = bytes as f64 / factor as f64;
    if value < 9.95 && factor > 1 { format!("{value:.1}{name}") } else { format!("{value:.0}{name}") }
}

/// Columns of the table of all benchmarks; those of the formula are dropped on a narrow terminal.
const OVERVIEW: [Column; 9] = [
    Column::words("row"),
    Column::figures("size"),
    Column::words("placement"),
    Column::figures("measured"),
    Column::figures("explained"),
    Column::figures("error"),
    Column::figures("formula").expendable(1),
    Column::figures("error").expendable(1),
    Column::words("largest part").expendable(2),
];

/// Returns a table of all benchmarks.
pub fn overview(explanation: &Explanation) -> Section {
    let missing = || "?".to_owned();
    let cells = |row: &ExplainedRow| {
        Row::neutral(vec![
            plain(&row.case.row()),
            format_bytes(row.case.size_bytes),
            row.case.placement.to_string(),
            format_ns(row.measured_ns),
            format_ns(row.predicted_ns),
            signed(row.error),
            row.article_ns.map_or_else(missing, format_ns),
            row.article_error.map_or_else(missing, signed),
            row.dominant.map_or_else(missing, |part| part.name().to_owned()),
        ])
    };
    let rows = explanation.rows.iter().map(cells).collect();
    Section::default().table(Table::new(OVERVIEW, rows))
}

/// Reports how many predictions are close; `None` without any.
pub fn agreement(explanation: &Explanation) -> Option<String> {
    let within = |agreement: Agreement| {
        let Agreement { rows, within_10_percent, within_20_percent } = agreement;
        let rows = counted(rows, "benchmark");
        format!("{within_10_percent} of {rows} within 10 %, {within_20_percent} within 20 %")
    };
    let article = match explanation.article_agreement {
        Agreement { rows: 0, .. } => "predicts no time here".to_owned(),
        agreement => within(agreement),
    };
    (explanation.agreement.rows > 0).then(|| {
        format!("Explained: {}. The published formula {FORMULA}: {article}.", within(explanation.agreement))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::assert_has_all;
    use crate::{Style, explanation_table};
    use furlong_analysis::{Advice, DecodedRun, Run, explain};
    use furlong_fixture::{
        costs::EVENTFD, costs::EVERYWHERE, costs::PIPE, costs::RunBuilder, costs::SMALL_PIPE, costs::SPINNER,
        own_loop, own_loop::PROGRAM,
    };
    use furlong_model::{Case, NoiseReading, Placement};

    #[test]
    fn a_sum_that_misses_is_not_called_an_explanation() {
        let mut explanation = explain(&DecodedRun::of(&run()), &asked()[..1]);
        let row = &mut explanation.rows[0];
        (row.predicted_ns, row.error) = (row.measured_ns * 1.27, 0.27);
        let text = explanation_table(&explanation, Style { width: 200, ..Style::default() });
        assert!(text.contains("not explained: the parts sum to ") && text.contains("(+27.0 %)"), "{text}");
    }

    #[test]
    fn table_and_sentence_divide_by_the_measured_time() {
        let mut explanation = explain(&DecodedRun::of(&run()), &asked()[..1]);
        let row = &mut explanation.rows[0];
        // The sum is 10 % above the measured time.
        row.measured_ns = row.predicted_ns / 1.1;
        (row.error, row.unexplained_ns) = (0.1, row.measured_ns - row.predicted_ns);
        let largest = row.terms.iter().max_by(|a, b| a.ns.total_cmp(&b.ns)).unwrap();
        let share = largest.ns / row.measured_ns;
        row.helps = vec![Advice { term: largest.name, share, helps: true }];
        let text = explanation_table(&explanation, Style { width: 200, ..Style::default() });
        let share = format!("{:.1} %", share * 100.0);
        assert!(text.contains(&format!("are {share} of the latency")), "{share} in {text}");
        assert!(text.matches(&share).count() == 2 && text.contains("-10.0 %"), "{share} in {text}");
    }

    fn run() -> Run {
        RunBuilder::with_references()
            .row(&SMALL_PIPE, &EVERYWHERE)
            .row(&PIPE, &EVERYWHERE)
            .row(&SPINNER, &EVERYWHERE)
            .run()
    }

    fn asked() -> Vec<Case> {
        let placements = [Placement::SameCore, Placement::OtherCore];
        let recipes = [SMALL_PIPE, PIPE, SPINNER, EVENTFD];
        recipes.iter().flat_map(|recipe| placements.map(|placement| recipe.case(placement))).collect()
    }

    #[test]
    fn explanations_for_a_terminal() {
        insta::assert_snapshot!(explanation_table(
            &explain(&DecodedRun::of(&run()), &asked()),
            Style::default()
        ));
    }

    #[test]
    fn one_row_needs_no_overview() {
        let text = explanation_table(
            &explain(&DecodedRun::of(&run()), &asked()[..1]),
            Style { width: 140, ..Style::default() },
        );
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_program_with_a_loop_of_its_own_has_its_calls_by_kind_and_its_librarys_threads() {
        let run = own_loop::run();
        let asked = [Placement::SameCore, Placement::OtherCore].map(|placement| PROGRAM.case(placement));
        let mut explanation = explain(&DecodedRun::of(&run), &asked);
        let style = Style { width: 140, ..Style::default() };
        insta::assert_snapshot!(explanation_table(&explanation, style));
        let row = &mut explanation.rows[0];
        (row.left_out, row.unexplained_ns) = (Some(furlong_analysis::LeftOut::AtTheSameTime), -100.0);
        explanation.rows.truncate(1);
        let text = explanation_table(&explanation, style);
        assert!(
            text.contains("not explained: the parts sum to ") && text.contains("at the same time"),
            "{text}"
        );
        assert!(text.contains("\n  unexplained ") && !text.contains("program and libraries"), "{text}");
    }

    #[test]
    fn an_explanation_for_programs() {
        let explanation = explain(&DecodedRun::of(&run()), &asked()[..1]);
        let json = explanation_json(&explanation);
        assert_has_all(&json, &explanation);
        let row =
            Explanation { costs: furlong_analysis::Costs { schema: 1, figures: vec![] }, ..explanation };
        insta::assert_snapshot!(explanation_json(&row));
    }

    #[test]
    fn every_width_is_kept() {
        let explanation = explain(&DecodedRun::of(&run()), &asked());
        for width in [72, 80, 100, 140] {
            let text = explanation_table(&explanation, Style { width, ..Style::default() });
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(widest.chars().count() <= width, "{width}: {widest}");
            assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
        }
    }

    #[test]
    fn a_noisy_machine_is_named() {
        let mut run = run();
        run.noise.push(NoiseReading { core_to_core_ns: Some(30.0), ..NoiseReading::default() });
        let text = explanation_table(
            &explain(&DecodedRun::of(&run), &asked()[..1]),
            Style { colour: true, ..Style::default() },
        );
        assert!(text.contains("\u{1b}[31mThe machine was UNRELIABLE"), "{text}");
    }

    #[test]
    fn what_the_model_leaves_out_is_said() {
        let mut explanation = explain(&DecodedRun::of(&run()), &asked()[..1]);
        explanation.rows[0].left_out = Some(furlong_analysis::LeftOut::Overlap);
        let text = explanation_table(&explanation, Style::default());
        assert!(
            text.contains("\nThe work of the two roles overlaps, which the model does not cover.\n"),
            "{text}"
        );
    }

    #[test]
    fn nothing_to_explain_is_said() {
        let text = explanation_table(
            &explain(&DecodedRun::of(&RunBuilder::quiet_machine().run()), &[]),
            Style::default(),
        );
        assert!(text.starts_with("Nothing could be explained.\n"), "{text}");
    }

    #[test]
    fn sizes_are_said_in_two_digits() {
        for (bytes, text) in
            [(0, "0B"), (7, "7B"), (1000, "1000B"), (1536, "1.5KiB"), (37_123, "36KiB"), (1 << 30, "1.0GiB")]
        {
            assert_eq!(about(bytes), text);
        }
    }

    #[test]
    fn hostile_text_stays_text() {
        let mut run = run();
        let evil = "\u{1b}[2J\u{202e}\n";
        run.trials.iter_mut().for_each(|trial| trial.case.mechanism += evil);
        run.counts.iter_mut().for_each(|count| count.case.mechanism += evil);
        let asked: Vec<_> = run.trials.iter().map(|trial| trial.case.clone()).collect();
        let text = explanation_table(&explain(&DecodedRun::of(&run), &asked), Style::default());
        assert!(text.contains("wake-ups"), "{text}");
        assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text}");
    }
}
