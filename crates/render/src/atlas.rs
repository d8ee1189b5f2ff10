//! The atlas of published comparisons: questions, contradictions with the axes that explain them, and claims in all settings.

use super::document::{Block, Column, Document, Layout, Line, Row, Section, Table};
use super::markdown::page;
use super::object::object;
use super::style::Style;
use super::terminal::terminal;
use furlong_analysis::text::{format_ratio, listed, plain};
use furlong_analysis::{Atlas, AtlasClaim, PublishedAnswer, Question, Setting, SettingResult};

/// Title of the atlas.
pub const ATLAS_TITLE: &str = "Atlas of published comparisons";

/// Names in one line of a list.
const NAMED: usize = 6;

/// Returns the atlas for a terminal.
pub fn atlas_table(atlas: &Atlas, style: Style) -> String {
    terminal(&document(atlas), style)
}

/// Returns the atlas in Markdown.
pub fn atlas_markdown(atlas: &Atlas) -> String {
    page(&document(atlas))
}

/// Returns the atlas as JSON; [`Atlas`] documents the fields.
pub fn atlas_json(atlas: &Atlas) -> String {
    object(atlas, Vec::new())
}

fn document(atlas: &Atlas) -> Document {
    let title = Section::chapter(ATLAS_TITLE).with(Block::Paragraph(Line::neutral(counts(atlas))));
    let title = title.paragraph_if(missing(atlas)).paragraph_if(provisional(atlas));
    let mut document = Document { sections: vec![title] };
    document.sections.extend(questions(atlas).sections);
    document.push(claim_list(&atlas.claims));
    document
}

/// Returns the numbers of questions and of missing settings.
pub fn atlas_verdict(atlas: &Atlas) -> Document {
    let section = Section::default().paragraph(counts(atlas)).paragraph_if(missing(atlas));
    Document { sections: vec![section.paragraph_if(provisional(atlas))] }
}

/// Returns the chapters of the atlas: the contradictions, the other questions, and the claims.
pub fn atlas_chapters(atlas: &Atlas) -> Document {
    let mut document = questions(atlas);
    document.push(claim_table(&atlas.claims));
    document
}

fn questions(atlas: &Atlas) -> Document {
    let mut document = Document::default();
    let (open, agreed): (Vec<_>, Vec<_>) =
        atlas.questions.iter().partition(|question| question.is_contradictory);
    let question = |question: &&Question| {
        let lines = [Some(published(question)), Some(here(question)), explanation(question)];
        let lines = lines.into_iter().flatten().map(Line::neutral);
        let heading = heading(question);
        Section::list(&heading, lines).anchored(heading.as_str())
    };
    if !open.is_empty() {
        let chapter = Section::chapter("Contradictions").anchored("contradictions");
        document.push(chapter.paragraph(
            "Each ratio is the factor of the faster mechanism, over the sizes of the publication. Where the faster one depends on the size, 1/2 \
             means that the second is twice as fast.",
        ));
        document.sections.extend(open.iter().map(question));
    }
    document.push(agreements(&agreed));
    document
}

fn counts(atlas: &Atlas) -> String {
    let contradictions = atlas.questions.iter().filter(|question| question.is_contradictory);
    let explained = contradictions.clone().filter(|question| !question.explained_by.is_empty()).count();
    format!(
        "Questions that several publications answer: {}. Contradictory answers: {}. Explained by an axis: {explained}.",
        atlas.questions.len(),
        contradictions.count(),
    )
}

/// Returns the number of settings whose results are provisional, if there are any.
fn provisional(atlas: &Atlas) -> Option<String> {
    let Atlas { unreliable, measured, .. } = atlas;
    (*unreliable > 0).then(|| {
        format!(
            "Provisional: the machine was unreliable in {unreliable} of {measured} settings. Repeat them on a quiet machine."
        )
    })
}

/// Returns the number of settings that a later command measures, if there are any.
fn missing(atlas: &Atlas) -> Option<String> {
    let Atlas { missing, measured, .. } = atlas;
    let all = missing + measured;
    (*missing > 0).then(|| {
        format!("Settings that are not measured yet: {missing} of {all}. Repeat the command to continue.")
    })
}

fn heading(question: &Question) -> String {
    let [first, second] = &question.mechanisms;
    format!("{} or {}?", plain(first), plain(second))
}

/// Names the publications for each answer.
fn published(question: &Question) -> String {
    let [first, second] = &question.mechanisms;
    let those = |favours: [bool; 2], name: &str| {
        let answers = question.published.iter().filter(|answer| answer.favours() == favours);
        let answers: Vec<_> = answers.map(named).collect();
        (!answers.is_empty()).then(|| format!("{}: {}", plain(name), listed(&answers, NAMED)))
    };
    let parts = [
        those([true, false], first),
        those([false, true], second),
        those([true, true], "depends on the size"),
        those([false, false], "alike"),
    ];
    format!("Published as faster: {}.", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// Returns the name of a publication with its ratios, as a factor of the faster mechanism.
fn named(answer: &PublishedAnswer) -> String {
    let [least, most] = match answer.ratios {
        [least, most] if most < 1.0 => [1.0 / most, 1.0 / least],
        ratios => ratios,
    };
    // The second mechanism is faster by the divisor.
    let factor = |ratio: f64| match ratio < 1.0 {
        true => format!("1/{}", format_ratio(1.0 / ratio)),
        false => format_ratio(ratio),
    };
    let name = plain(&answer.experiment);
    if most / least < 1.005 {
        format!("{name} ({})", factor(least))
    } else {
        format!("{name} ({} to {})", factor(least), factor(most))
    }
}

fn here(question: &Question) -> String {
    let [first, second] = &question.mechanisms;
    let [more, less, tied] = question.here;
    if more + less + tied == 0 {
        return "Here: not measured, because one of the two is unavailable (see furlong list).".to_owned();
    }
    format!(
        "Here: of {} comparisons, {} is faster in {more}, {} in {less}, and {tied} are undecided.",
        more + less + tied,
        plain(first),
        plain(second)
    )
}

/// Names the axes that explain contradictory publications; `None` if they agree.
fn explanation(question: &Question) -> Option<String> {
    if !question.is_contradictory {
        return None;
    }
    let [first, second] = &question.mechanisms;
    let always = |name: &str| {
        format!(
            "No axis explains it: {} is faster here in every decided comparison. The machine or the program of the other publications differs.",
            plain(name)
        )
    };
    let mut axes = question.explained_by.iter();
    Some(match (axes.next(), question.here) {
        (Some(axis), _) => {
            let others: Vec<_> =
                axes.map(|axis| format!("the {} {}", axis.axis, times(axis.changes))).collect();
            let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
            format!(
                "The {} explains it: it alone changes the faster mechanism {}{others}.",
                axis.axis,
                times(axis.changes)
            )
        }
        (None, [0, 0, _]) => "No axis explains it: nothing is decided here.".to_owned(),
        (None, [_, 0, _]) => always(first),
        (None, [0, _, _]) => always(second),
        (None, _) => "Only several axes together change the faster mechanism here.".to_owned(),
    })
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Returns the table of questions whose publications agree.
fn agreements(questions: &[&Question]) -> Section {
    let columns = vec![
        Column::words("question"),
        Column::named("publications".to_owned()),
        Column::named("first faster".to_owned()),
        Column::named("second faster".to_owned()),
        Column::named("undecided".to_owned()),
    ];
    let row = |question: &&Question| {
        let here = question.here.map(|count| count.to_string());
        Row::neutral([heading(question), question.published.len().to_string()].into_iter().chain(here))
    };
    let rows: Vec<_> = questions.iter().map(row).collect();
    let section = Section::chapter("Questions on which publications agree, and comparisons here");
    let section = section.anchored("agreements");
    if rows.is_empty() { Section::default() } else { section.table(Table::new(columns, rows)) }
}

/// Returns the heading of a setting.
fn heading_of(setting: Setting) -> String {
    if setting == Setting::Published { "as published".to_owned() } else { setting.name().to_owned() }
}

/// Meaning of the results of claims.
const RESULTS: &str = "as published: in the placement and with the wait strategy of the publication. holds 2/3: at two of three sizes. false: the figures \
                       here contradict the claim. open: the intervals allow both.";

/// Returns the claims with their results, which a line of a terminal has no room for as columns.
fn claim_list(claims: &[AtlasClaim]) -> Section {
    let lines = claims.iter().map(|claim| {
        let tested = claim.results.iter().filter(|result| result.holds + result.falls + result.undecided > 0);
        let result = |result: &SettingResult| format!("{}: {}", heading_of(result.setting), status(result));
        let results: Vec<_> = tested.map(result).collect();
        let results = if results.is_empty() { vec!["not tested".to_owned()] } else { results };
        Line::neutral(format!(
            "{}, \"{}\" {}",
            plain(&claim.experiment),
            plain(&claim.text),
            results.join("; ")
        ))
    });
    let section = Section::list("Claims", lines);
    if claims.is_empty() { section } else { section.footnotes(vec![RESULTS.to_owned()]) }
}

/// Returns the table of claims in every setting.
fn claim_table(claims: &[AtlasClaim]) -> Section {
    let settings = Setting::ALL.map(|setting| Column::named(heading_of(setting)));
    let columns: Vec<_> =
        [Column::words("experiment"), Column::words("claim")].into_iter().chain(settings).collect();
    let row = |claim: &AtlasClaim| {
        let cells = Setting::ALL.map(|setting| {
            let result = claim.results.iter().find(|result| result.setting == setting);
            result.map_or_else(|| "–".to_owned(), status)
        });
        Row::neutral([plain(&claim.experiment), plain(&claim.text)].into_iter().chain(cells))
    };
    let rows: Vec<_> = claims.iter().map(row).collect();
    let notes =
        vec![format!("{RESULTS} –: not measured in this setting, or the setting is the published one.")];
    let table = Table { layout: Layout::Continue(2), notes, ..Table::new(columns, rows) };
    if claims.is_empty() {
        Section::default()
    } else {
        Section::chapter("Claims").anchored("claims").table(table)
    }
}

fn status(result: &SettingResult) -> String {
    let all = result.holds + result.falls + result.undecided;
    let (count, word) = match *result {
        SettingResult { holds: 0, falls: 0, undecided: 0, .. } => return "–".to_owned(),
        SettingResult { holds, falls: 0, .. } if holds > 0 => (holds, "holds"),
        SettingResult { holds: 0, falls, .. } if falls > 0 => (falls, "false"),
        SettingResult { holds: 0, undecided, .. } => (undecided, "open"),
        SettingResult { holds, .. } => (holds, "holds"),
    };
    if count == all { word.to_owned() } else { format!("{word} {count}/{all}") }
}
