//! `furlong adapter list`: all adapters, whether each is installed, and its missing requirements.

use crate::arguments::{AdapterListOptions, ListFormat};
use crate::mechanisms::installed;
use crate::output;
use furlong_adapter_files::{Manifest, sources};
use furlong_console::exit::Outcome;
use furlong_model::listing;
use furlong_stats::sort_by;
use serde_json::{Value, json};

/// Prints the list.
pub fn list(options: &AdapterListOptions) -> anyhow::Result<Outcome> {
    let installed = installed()?;
    let mut manifests = sources::manifests();
    manifests.extend(
        installed
            .iter()
            .filter(|one| !manifests.iter().any(|known| known.name == one.name))
            .cloned()
            .collect::<Vec<_>>(),
    );
    sort_by(&mut manifests, |one, other| one.name.cmp(&other.name));
    let is_installed = |manifest: &Manifest| installed.iter().any(|other| other.name == manifest.name);
    output::print(&match options.format {
        ListFormat::Table => table(&manifests, is_installed),
        ListFormat::Json => {
            let entries = manifests.iter().map(|manifest| object(manifest, is_installed(manifest)));
            format!("{}\n", serde_json::to_string_pretty(&Value::Array(entries.collect()))?)
        }
    })?;
    Ok(Outcome::Done)
}

fn table(manifests: &[Manifest], is_installed: impl Fn(&Manifest) -> bool) -> String {
    let rows = manifests.iter().map(|manifest| {
        let benchmarks: Vec<_> = manifest.rows.iter().map(|row| row.name.as_str()).collect();
        let missing: Vec<_> =
            manifest.missing().iter().map(|need| format!("{} ({})", need.command, need.get)).collect();
        let here = if is_installed(manifest) {
            "installed".to_owned()
        } else if missing.is_empty() {
            "can be installed".to_owned()
        } else {
            format!("needs {}", missing.join(", "))
        };
        vec![manifest.name.clone(), benchmarks.join(" "), here, manifest.licence.clone()]
    });
    let lines = listing(&["ADAPTER", "ROWS", "HERE", "LICENCE"], rows, output::width());
    lines + "Next: furlong adapter install NAME, then furlong run with its benchmarks.\n"
}

fn object(manifest: &Manifest, installed: bool) -> Value {
    let rows = manifest
        .rows
        .iter()
        .map(|row| json!({ "mechanism": row.name, "does": row.does, "expectation": row.expectation }));
    let missing =
        manifest.missing().into_iter().map(|need| json!({ "command": need.command, "get": need.get }));
    json!({
        "adapter": manifest.name, "licence": manifest.licence, "installed": installed,
        "missing": missing.collect::<Vec<_>>(), "rows": rows.collect::<Vec<_>>(),
    })
}
