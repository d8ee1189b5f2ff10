//! Shared parts of the page tests: a browser, and reports of real records.

mod chromium;

pub use chromium::{Chromium, Tab};

use furlong_analysis::{DecodedRun, Run};
use furlong_report::{NamedRun, Report};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Returns the run of this name among the test's data.
pub fn run(name: &str) -> Run {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{name}.jsonl"));
    Run::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a report of runs under these names.
pub fn report(runs: &[(&str, &Run)]) -> Report {
    let decoded: Vec<_> = runs.iter().map(|(name, run)| (name, DecodedRun::of(run))).collect();
    let named: Vec<_> = decoded.iter().map(|(name, run)| NamedRun { name, run }).collect();
    Report::of(&named, 0.05)
}

/// Opens a page in a window of this width, with a light or a dark colour scheme, and checks that it fits.
pub fn open_in<'a>(browser: &'a mut Chromium, path: &Path, width: u32, scheme: &str) -> Tab<'a> {
    let mut tab = browser.tab(width, 740);
    let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    tab.call("Emulation.setEmulatedMedia", media);
    tab.open(path);
    let needed = tab.value("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)");
    assert!(needed.as_f64() <= Some(f64::from(width)), "{needed} of {width}");
    tab
}

/// Writes a report with every kind of chart to a file.
pub fn page(folder: &Path) -> PathBuf {
    let runs = ["sizes", "stream", "model", "past"].map(|name| (name, run(name)));
    let again = run("sizes");
    let mut named: Vec<_> = runs.iter().map(|(name, run)| (*name, run)).collect();
    named.push(("sizes-again", &again));
    let path = folder.join("report.html");
    std::fs::write(&path, report(&named).html().expect("a page")).expect("a temporary file");
    path
}
