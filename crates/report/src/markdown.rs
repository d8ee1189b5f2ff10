//! The report as Markdown, for a README or a pull request: the verdict first, then tables, with pictures if there are.

use crate::report::{Report, file_of};
use furlong_chart::Chart;
use furlong_render::{escape_markdown as escape, markdown_with_charts};

impl Report {
    /// Returns Markdown for a document or a pull request. Pictures are linked from the directory `folder`, or left
    /// out without one.
    pub fn markdown(&self, folder: Option<&str>) -> String {
        let charts = |chart: &Chart| folder.map_or_else(String::new, |folder| picture(chart, folder));
        markdown_with_charts(&self.text(), &charts)
    }
}

/// Returns the picture of a chart with its summary.
fn picture(chart: &Chart, folder: &str) -> String {
    let path = format!("{}/{}", folder.trim_end_matches('/'), file_of(chart));
    // A path in angle brackets may contain spaces, but no brackets and no line breaks.
    let path = path.replace(['<', '>', '\n', '\r'], "_");
    let says = if chart.says.is_empty() { String::new() } else { format!("\n{}\n", escape(&chart.says)) };
    format!("![{}](<{path}>)\n{says}", escape(&chart.title))
}
