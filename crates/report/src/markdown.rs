//! The report as Markdown, for a README or a pull request: the verdict first, then tables, with pictures if there are.

use crate::report::{Report, file_of};
use furlong_chart::Chart;
use furlong_render::{escape_markdown as escape, markdown_with_charts};

impl Report {
    /// Markdown for a document or a pull request, with pictures from `folder` if it is given.
    pub fn markdown(&self, folder: Option<&str>) -> String {
        let charts = |chart: &Chart| folder.map_or_else(String::new, |folder| picture(chart, folder));
        markdown_with_charts(&self.text(), &charts)
    }
}

/// A chart with what it says.
fn picture(chart: &Chart, folder: &str) -> String {
    let path = format!("{}/{}", folder.trim_end_matches('/'), file_of(chart));
    // In angle brackets a path may have spaces, but no bracket and no line's end.
    let path = path.replace(['<', '>', '\n', '\r'], "_");
    let says = if chart.says.is_empty() { String::new() } else { format!("\n{}\n", escape(&chart.says)) };
    format!("![{}](<{path}>)\n{says}", escape(&chart.title))
}
