//! The page that lists saved runs, from which a user selects some to show together.

use super::{PageError, STYLE, filled_in};
use furlong_model::format_bytes;
use furlong_render::{ListedRun, date, plain, shell};
use serde::Serialize;

const NAME: &str = "list.html";
const TEMPLATE: &str = include_str!("list.html");

/// Content of the list page.
#[derive(Debug, Clone, Copy)]
pub struct RunList<'a> {
    /// Directory of the runs.
    pub folder: &'a str,
    /// Runs in the order of the list, each with a flag that is set while it is still being measured.
    pub runs: &'a [(ListedRun<'a>, bool)],
    /// Number of runs in the directory.
    pub of: usize,
    /// Words that the name or command of the listed runs must contain; empty for all runs.
    pub find: &'a str,
    /// Files of the directory that cannot be read as runs, each with the reason.
    pub unreadable: &'a [(&'a str, &'a str)],
}

#[derive(Serialize)]
struct Page<'a> {
    version: &'a str,
    style: &'a str,
    folder: String,
    of: usize,
    find: &'a str,
    lines: Vec<Line<'a>>,
    unreadable: &'a [(&'a str, &'a str)],
}

#[derive(Serialize)]
struct Line<'a> {
    run: &'a str,
    date: String,
    size: String,
    command: String,
    under_way: bool,
}

/// Returns the page.
///
/// # Errors
/// Returns an error of the template engine. No record can cause one.
pub fn run_list<'a>(list: &RunList<'a>) -> Result<String, PageError> {
    let line = |&(listed, under_way): &'a (ListedRun<'a>, bool)| Line {
        run: listed.run,
        date: date(listed.header.started_unix_s),
        size: format_bytes(usize::try_from(listed.bytes).unwrap_or(usize::MAX)),
        command: shell(&listed.header.argv),
        under_way,
    };
    let page = Page {
        version: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        folder: plain(list.folder),
        of: list.of,
        find: list.find,
        lines: list.runs.iter().map(line).collect(),
        unreadable: list.unreadable,
    };
    filled_in(NAME, TEMPLATE, &page)
}
