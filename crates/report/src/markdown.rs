//! The report as Markdown, for a README or a pull request: the verdict first, then tables, with pictures if there are.

use crate::part::Part;
use crate::report::{Report, file_of};
use crate::table::Table;
use furlong_analysis::Explanation;
use furlong_chart::Chart;
use furlong_model::format_ns;
use furlong_render as render;
use furlong_render::words::fitness;
use furlong_render::{escape_markdown as escape, plain};

impl Report {
    /// Markdown for a document or a pull request, with pictures from `folder` if it is given.
    pub fn markdown(&self, folder: Option<&str>) -> String {
        text(self, folder)
    }
}

fn text(report: &Report, folder: Option<&str>) -> String {
    let mut text = format!("# {}\n", escape(&report.title()));
    for sentence in &report.not_compared {
        text += &format!("\n{}\n", escape(sentence));
    }
    if let Some(compared) = &report.compared {
        text += &format!("\n## Compared with {}\n\n", escape(&plain(&compared.comparison.baseline)));
        text += &render::comparison_markdown(&compared.comparison);
        text += &pictures(compared.charts.iter(), folder);
    }
    for part in &report.parts {
        text += &part_text(part, folder);
    }
    text
}

fn part_text(part: &Part, folder: Option<&str>) -> String {
    let summary = &part.summary;
    let mut text = format!("\n## {}\n\n", escape(&part.name));
    text += &format!(
        "{}: `{}`\n\n",
        render::date(summary.run.started_unix_s),
        code(&render::shell(&summary.run.argv))
    );
    text += &format!("**{}**\n\n", fitness(summary.run.noise.level));
    text += &part.verdict.iter().map(|sentence| format!("- {}\n", escape(sentence))).collect::<String>();
    if let Some(explanation) = &part.explanation {
        text += &explained(explanation);
    }
    text += &pictures(part.charts(), folder);
    for (title, table) in part.sections.iter().flat_map(|section| &section.tables) {
        text += &format!("\n### {}\n\n{}", escape(title), grid(table));
    }
    match &part.replay {
        Some(replay) => text += &format!("\n### Then and now\n\n{}", render::replay_markdown(replay)),
        None => text += &format!("\n### Every row\n\n{}", render::markdown(summary)),
    }
    text
}

/// What is between backticks cannot be escaped, so a backtick in it becomes another sign.
fn code(text: &str) -> String {
    text.replace('`', "'")
}

fn explained(explanation: &Explanation) -> String {
    let mut text = "\n### Where the time goes\n\n| row | measured | explained | error | largest part |\n\
                    | :-- | --: | --: | --: | :-- |\n"
        .to_owned();
    for row in &explanation.rows {
        let largest = row.dominant.map_or("–", |part| part.name());
        let name = escape(&plain(&row.case.to_string()));
        let (measured, predicted) = (format_ns(row.measured_ns), format_ns(row.predicted_ns));
        text += &format!("| {name} | {measured} | {predicted} | {:+.1} % | {largest} |\n", row.error * 100.0);
    }
    text
}

/// Each chart with what it says; nothing without a folder of pictures.
fn pictures<'a>(charts: impl Iterator<Item = &'a Chart>, folder: Option<&str>) -> String {
    let Some(folder) = folder else { return String::new() };
    let picture = |chart: &Chart| {
        let path = format!("{}/{}", folder.trim_end_matches('/'), file_of(chart));
        // In angle brackets a path may have spaces, but no bracket and no line's end.
        let path = path.replace(['<', '>', '\n', '\r'], "_");
        format!("\n![{}](<{path}>)\n\n{}\n", escape(&chart.title), escape(&chart.says))
    };
    charts.map(picture).collect()
}

fn grid(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = line(table.heads.iter().map(|head| escape(&head.text)).collect());
    let rule = table.heads.iter().map(|head| if head.figures { "--:" } else { ":--" }.to_owned()).collect();
    let lines = table.lines.iter().map(|cells| line(cells.iter().map(|cell| escape(&cell.text)).collect()));
    heads + &line(rule) + &lines.collect::<String>()
}
