//! A workload in a file: the options of `furlong recommend` by name.

use crate::arguments::WorkloadOptions;
use furlong_console::exit::Usage;
use serde::Deserialize;
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

/// The options as text, as they would be typed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Written {
    size: Option<String>,
    rate: Option<String>,
    pattern: Option<String>,
    #[serde(alias = "ask")]
    request: Option<String>,
    objective: Option<String>,
    slo: Option<String>,
    boundary: Vec<String>,
    languages: Vec<String>,
    consumers: Option<u32>,
    needs: Vec<String>,
    trust: Option<String>,
    accept_shared_memory: bool,
    spin: bool,
    work: Option<String>,
}

/// Reads a workload.
///
/// # Errors
/// A file that cannot be read, and what in it says nothing that could be typed.
pub fn read(path: &Path) -> anyhow::Result<WorkloadOptions> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Usage(format!("--workload: cannot read {shown}: {error}")))?;
    let wrong = |what: String| Usage(format!("{shown}: {what}"));
    let written: Written = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    parsed(&written).map_err(|what| wrong(what).into())
}

fn parsed(written: &Written) -> Result<WorkloadOptions, String> {
    if written.consumers.is_some_and(|consumers| !(1..=1000).contains(&consumers)) {
        return Err("consumers: say 1 to 1000".to_owned());
    }
    Ok(WorkloadOptions {
        size: one("size", written.size.as_deref())?,
        rate: one("rate", written.rate.as_deref())?,
        pattern: one("pattern", written.pattern.as_deref())?,
        request: one("request", written.request.as_deref())?,
        objective: one("objective", written.objective.as_deref())?,
        slo: one("slo", written.slo.as_deref())?,
        boundary: several("boundary", &written.boundary)?,
        languages: several("languages", &written.languages)?,
        consumers: written.consumers,
        needs: several("needs", &written.needs)?,
        trust: one("trust", written.trust.as_deref())?,
        accept_shared_memory: written.accept_shared_memory,
        spin: written.spin,
        work: one("work", written.work.as_deref())?,
    })
}

fn one<T: FromStr<Err: Display>>(key: &str, text: Option<&str>) -> Result<Option<T>, String> {
    text.map(|text| text.parse().map_err(|error| format!("{key}: {error}"))).transpose()
}

fn several<T: FromStr<Err: Display>>(key: &str, texts: &[String]) -> Result<Vec<T>, String> {
    texts.iter().map(|text| text.parse().map_err(|error| format!("{key}: {error}"))).collect()
}
