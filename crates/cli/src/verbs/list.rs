//! `furlong list`: mechanisms with their capabilities.

use crate::arguments::{ListFormat, ListOptions};
use crate::mechanisms::{is_named, with_installed};
use crate::{output, selection};
use furlong_bench::{MechanismEntry, session};
use furlong_console::exit::Outcome;
use furlong_model::{Limits, OwnedCapabilities, Unavailable, display_width, format_bytes, listing, wrap};
use serde_json::json;

/// A mechanism with all its wait strategies.
struct Entry {
    capabilities: OwnedCapabilities,
    /// The limits on this machine, or why the mechanism cannot run, as its default wait strategy finds them.
    here: Result<Limits, Unavailable>,
}

/// Prints the list.
pub fn list(options: &ListOptions) -> anyhow::Result<Outcome> {
    // The limits in the list must be those of a run, which enters this namespace.
    let _ = session::enter_private_namespace();
    let names = &options.names;
    let mechanisms = with_installed(|name| names.is_empty() || is_named(names, name))?;
    let entries = entries(&selection::requested(mechanisms, names)?);
    let table = |entries: &[Entry]| table(entries, output::width());
    let text = match options.format {
        ListFormat::Json => json_text(&entries)?,
        ListFormat::Table if options.why => format!("{}\n{}", table(&entries), reasons(&entries)),
        ListFormat::Table => table(&entries),
    };
    output::print(&text)?;
    Ok(Outcome::Done)
}

fn entries(mechanisms: &[MechanismEntry]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for entry in mechanisms {
        match entries.iter_mut().find(|known| known.capabilities.name == entry.capabilities.name) {
            Some(known) => known.capabilities.waits.extend(entry.capabilities.waits),
            None => {
                entries.push(Entry { capabilities: entry.capabilities.owned(), here: entry.probe() });
            }
        }
    }
    entries
}

/// Returns the largest message on this machine as text.
fn largest(entry: &Entry) -> String {
    match (&entry.here, entry.capabilities.fixed_size_bytes) {
        (Err(_), _) => "cannot run".to_owned(),
        (Ok(_), Some(size)) => format!("{} only", format_bytes(size)),
        (Ok(Limits { max_size_bytes: Some(size), .. }), _) => format_bytes(*size),
        (Ok(_), _) => "memory".to_owned(),
    }
}

/// Returns a table, or paragraphs if the terminal is too narrow for it.
fn table(entries: &[Entry], width: usize) -> String {
    const HEADER: [&str; 6] = ["MECHANISM", "WHAT IT IS", "WAITS", "BOUNDARIES", "LARGEST", "REACH"];
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            vec![
                entry.capabilities.name.clone(),
                entry.capabilities.summary.clone(),
                entry.capabilities.waits.iter().map(|wait| wait.name()).collect::<Vec<_>>().join(" "),
                if entry.capabilities.boundaries { "kept" } else { "none" }.to_owned(),
                largest(entry),
                entry.capabilities.reach.describe().to_owned(),
            ]
        })
        .collect();
    let table = listing(&HEADER, rows.clone(), width);
    if table.lines().all(|line| display_width(line) <= width) {
        return table;
    }
    let paragraph = |row: Vec<String>| {
        let line = |(head, cell): (&&str, &String)| {
            let text = format!("{}: {cell}", head.to_lowercase());
            format!("  {}\n", wrap(&text, width.saturating_sub(2), 4))
        };
        row[0].clone() + "\n" + &HEADER.iter().zip(&row).skip(1).map(line).collect::<String>()
    };
    rows.into_iter().map(paragraph).collect()
}

/// Returns the reason and the remedy for each mechanism that cannot run or whose message size is limited.
fn reasons(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        let name = &entry.capabilities.name;
        let (what, remedy) = match &entry.here {
            Err(unavailable) => (format!("cannot run: {}", unavailable.reason), &unavailable.remedy),
            Ok(Limits { max_size_bytes: Some(size), limited_by, remedy, .. }) => {
                (format!("at most {} per message: {limited_by}", format_bytes(*size)), remedy)
            }
            Ok(_) => continue,
        };
        text.push_str(&format!("{name}: {what}\n"));
        if !remedy.is_empty() {
            text.push_str(&format!("    remedy: {remedy}\n"));
        }
    }
    if text.is_empty() {
        text.push_str("All of them can run here, and the message size is limited only by memory.\n");
    }
    text
}

fn json_text(entries: &[Entry]) -> anyhow::Result<String> {
    let entries = entries.iter().map(|entry| {
        let (available, max_size_bytes, reason, remedy) = match &entry.here {
            Ok(limits) => (true, limits.max_size_bytes, &limits.limited_by, &limits.remedy),
            Err(unavailable) => (false, None, &unavailable.reason, &unavailable.remedy),
        };
        json!({
            "mechanism": entry.capabilities.name, "capabilities": entry.capabilities, "available": available,
            "max_size_bytes": max_size_bytes, "reason": reason, "remedy": remedy,
        })
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&serde_json::Value::Array(entries.collect()))?))
}
