//! Prints every kind of document through the back ends.

use super::document::{Document, drawn};
use super::recommendation::RecommendationDetail;
use super::style::{Charts, Style};
use super::terminal::terminal;
use super::{
    brief, capacity, charts, comparison, costs, count, explain, fleet, markdown::page, recommendation,
    replay, self_check, standings as leading, summary, sweep, tails,
};
use furlong_analysis::{
    Comparison, Costs, CountSummary, DecodedRun, Explanation, FleetComparison, Leaders, OverTime,
    Recommendation, Replay, SelfCheck, Summary,
};
use furlong_chart::Chart;

/// Returns the machine, the noise verdict, one table per group, the unmeasured cases, and the
/// conclusions.
pub fn table(found: &Summary, style: Style) -> String {
    terminal(&summary_document(found, style.charts), style)
}

/// Returns the figures of [`table`] in brief, with all placements side by side; `None` unless all benchmarks are round
/// trips of one pair, back to back.
pub fn brief_table(found: &Summary, style: Style) -> Option<String> {
    brief::document(found).map(|document| terminal(&document, style))
}

/// Returns the text of `table`, plus charts of data that a summary does not hold: the distributions of
/// single round trips.
pub fn table_of_run(run: &DecodedRun, style: Style) -> String {
    let mut charts = charts_of_summary(&run.summary, style.charts);
    if run.summary.capacities.is_empty() {
        charts.extend(tails::charts(run, style.charts));
    }
    terminal(&summary::document(&run.summary, charts), style)
}

/// Returns a chart of the trials over the time of the run. Returns none if fewer than two trials can be
/// drawn.
pub fn over_time(rows: &[OverTime], style: Style) -> String {
    let chart = charts::over_time::chart(rows);
    chart.map_or_else(String::new, |chart| terminal(&drawn([chart]).collect(), style))
}

/// Returns the leading benchmarks while a run is in progress.
pub fn standings(groups: &[Leaders], style: Style) -> String {
    terminal(&leading::document(groups), style)
}

/// Returns the tables of the terminal as Markdown, with every column.
pub fn markdown(found: &Summary) -> String {
    page(&summary_document(found, Charts::Never))
}

fn summary_document(found: &Summary, charts: Charts) -> Document {
    summary::document(found, charts_of_summary(found, charts))
}

/// Returns the charts of sweeps. Adds the rankings only if charts are always wanted, because the tables
/// already show them.
fn charts_of_summary(found: &Summary, when: Charts) -> Vec<Chart> {
    if !found.capacities.is_empty() {
        return capacity::chart(found).filter(|_| when != Charts::Never).into_iter().collect();
    }
    let mut charts = match when {
        Charts::Always => charts::ranking::charts(found).0,
        Charts::Auto | Charts::Never => Vec::new(),
    };
    charts.extend(sweep::charts(found, when));
    charts
}

/// Returns one line per cost, with its interval and its sources.
pub fn costs_table(found: &Costs, style: Style) -> String {
    terminal(&costs::document(found), style)
}

/// Returns one table per case, the reason for a weaker counting method, and the cases that could not be
/// counted.
pub fn count_table(found: &CountSummary, style: Style) -> String {
    terminal(&count::document(found), style)
}

/// Returns the parts of each benchmark with sentences, a table of all benchmarks, and the costs used.
pub fn explanation_table(found: &Explanation, style: Style) -> String {
    terminal(&explain::document(found), style)
}

/// Returns a document that another crate has built, with an empty line between two sections.
pub fn document_text(document: &Document, style: Style) -> String {
    terminal(document, style)
}

/// Returns one line per case with its ties, the cases that could not be compared, and the verdict.
pub fn self_check_table(found: &SelfCheck, style: Style) -> String {
    terminal(&self_check::document(found), style)
}

/// Returns each run compared with the baseline, and the verdict.
pub fn comparison_table(found: &Comparison, style: Style) -> String {
    terminal(&comparison::document(found), style)
}

/// Returns the comparison as Markdown, for a pull request or a note.
pub fn comparison_markdown(found: &Comparison) -> String {
    page(&comparison::document(found))
}

/// Returns the benchmarks over hosts, and the outliers or changes.
pub fn fleet_table(found: &FleetComparison, style: Style) -> String {
    terminal(&fleet::document(found), style)
}

/// Returns the fleet comparison as Markdown, for a note.
pub fn fleet_markdown(found: &FleetComparison) -> String {
    page(&fleet::document(found))
}

/// Returns the workload, the choice with its figures, and the changes that would change the answer.
pub fn recommendation_table(found: &Recommendation, detail: RecommendationDetail, style: Style) -> String {
    terminal(&recommendation::document(found, detail), style)
}

/// Returns the published and the measured figures next to each other.
pub fn replay_table(found: &Replay, style: Style) -> String {
    terminal(&replay::document(found, style.charts), style)
}

/// Returns the replay as Markdown, for an issue or a note.
pub fn replay_markdown(found: &Replay) -> String {
    page(&replay::document(found, Charts::Never))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Cell, Column, Fact, Row, Section, Table};
    use furlong_analysis::{Run, explain as explained, recommend, self_check as checked};
    use furlong_fixture as fixture;
    use furlong_fixture::{
        comparison::{STEADY, TrialBuilder, against, numbered},
        costs::{EVERYWHERE, PIPE, RunBuilder, SPINNER},
        recommendation::{MEMORY, POLLED, SOCKET, records},
        replay::{itmedia, ka2yan, qiita, racehorse},
    };
    use furlong_model::{Placement, Workload};

    /// Returns a document of each kind, with charts if there are any.
    fn all() -> Vec<Document> {
        let costs = RunBuilder::with_references().row(&PIPE, &EVERYWHERE).row(&SPINNER, &EVERYWHERE).run();
        let costs = DecodedRun::of(&costs);
        let asked = [PIPE, SPINNER].map(|recipe| recipe.case(Placement::OtherCore));
        let explanation = explained(&costs, &asked);
        let workload = Run::from_records(records(Workload::default(), &[SOCKET, MEMORY, POLLED])).unwrap();
        let recommended = recommend(&DecodedRun::of(&workload)).unwrap();
        let mut builder = TrialBuilder::default();
        let mut run = |times: f64| builder.run(&[(numbered(0), 5e4), (numbered(1), 5e4 * times)], &STEADY);
        let measured = Run::from_records(fixture::records()).unwrap();
        let measured = DecodedRun::of(&measured);
        let tails = tails::charts(&measured, Charts::Always);
        let replays = [ka2yan(), itmedia(), qiita(), racehorse()].map(|run| run.replay());
        let documents = [
            summary::document(&fixture::summary(), tails),
            costs::document(&explanation.costs),
            count::document(&CountSummary::of(&costs)),
            explain::document(&explanation),
            self_check::document(&checked(&measured)),
            comparison::document(&against(&run(1.0), &run(1.4))),
            recommendation::document(&recommended, RecommendationDetail::WHOLE),
            recommendation::document(&recommended, RecommendationDetail::default()),
        ];
        documents
            .into_iter()
            .chain([facts_and_figures()])
            .chain(replays.iter().map(|found| replay::document(found, Charts::Always)))
            .collect()
    }

    /// Returns blocks that reports use, but no terminal output yet.
    fn facts_and_figures() -> Document {
        let facts = [
            Fact::new("Processor", "a processor | with a name that is longer than most names are"),
            Fact::command("Command", "furlong run pipe unix-stream posix-shm --save `name`"),
        ];
        let rows = vec![Row::neutral([Cell::figure("1.50 us", 1500.0), Cell::figure("inf", f64::INFINITY)])];
        let table = Table::new([Column::figures("median"), Column::figures("depth")], rows);
        [Section::default().facts(facts).table(table)].into_iter().collect()
    }

    /// Returns the words and figures of a text, without drawings and markup.
    fn words(text: &str) -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }

    #[test]
    fn a_terminal_and_markdown_say_the_same_words() {
        let wide = Style { width: 10_000, ..Style::default() };
        for document in all() {
            let said = words(&terminal(&document, wide));
            let mut written = words(&page(&document));
            // A drawing in Markdown is fenced as text.
            written.retain(|word| word != "text");
            assert!(said.len() > 20, "{said:?}");
            assert_eq!(said.into_iter().filter(|word| word != "text").collect::<Vec<_>>(), written);
        }
    }

    #[test]
    fn what_is_printed_has_the_width_and_colour_of_its_style() {
        for document in all() {
            let plain = terminal(&document, Style { width: 100, ..Style::default() });
            assert!(plain.lines().all(|line| line.chars().count() <= 100), "{plain}");
            assert!(
                !plain.contains('\u{1b}') && !plain.contains("\n\n\n") && plain.ends_with('\n'),
                "{plain}"
            );
        }
    }
}
