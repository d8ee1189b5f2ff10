//! `furlong driver status`: what there is of the driver, and what is missing.

use crate::cause::cause;
use crate::device::Device;
use crate::facts::{self, Facts};
use crate::options::DriverStatusOptions;
use crate::places::Places;
use comfy_table::{ContentArrangement, Table, presets};
use furlong_console::ListFormat;
use furlong_console::exit::Outcome;
use furlong_console::output;
use furlong_model::{Unavailable, format_bytes};
use serde_json::json;
use std::path::PathBuf;

/// Says how things stand.
pub fn status(places: &Places, options: &DriverStatusOptions) -> anyhow::Result<Outcome> {
    let facts = facts::look(places);
    let cause = cause(&facts);
    output::print(&match options.format {
        ListFormat::Table => text(&facts, cause.as_ref(), output::width()),
        ListFormat::Json => json_text(&facts, cause.as_ref())?,
    })?;
    Ok(if cause.is_none() { Outcome::Done } else { Outcome::Missing })
}

fn text(facts: &Facts, cause: Option<&Unavailable>, width: usize) -> String {
    let mut text = String::new();
    match &facts.loaded {
        Some(loaded) => {
            let version = loaded.version.as_deref().unwrap_or("unknown");
            text.push_str(&format!(
                "furlong's driver is loaded: version {version}, Linux {}\n",
                facts.kernel
            ));
        }
        None => text.push_str(&format!("furlong's driver is not loaded: Linux {}\n", facts.kernel)),
    }
    for (name, values) in lines(facts) {
        for (number, value) in values.iter().enumerate() {
            text.push_str(&format!("  {:<11} {value}\n", if number == 0 { name } else { "" }));
        }
    }
    if !facts.devices.is_empty() {
        text.push_str(&format!("\n{}", table(&facts.devices, width)));
    }
    if let Some(Unavailable { reason, remedy }) = cause {
        text.push_str(&format!("\n{reason}\n    remedy: {remedy}\n"));
    }
    text
}

/// What is known beside the devices.
fn lines(facts: &Facts) -> Vec<(&'static str, Vec<String>)> {
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let or_none = |values: Vec<String>| if values.is_empty() { vec!["no".to_owned()] } else { values };
    let mut lines = Vec::new();
    if let Some(loaded) = &facts.loaded {
        let all: Vec<_> = loaded.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        lines.push(("parameters", vec![all.join(" ")]));
        lines.push(("users", loaded.users.iter().map(u64::to_string).collect()));
        if loaded.version.as_ref().is_some_and(|version| *version != facts.version) {
            let newer =
                format!("this furlong brings {}: sudo furlong driver install replaces it", facts.version);
            lines.push(("other", vec![newer]));
        }
    }
    lines.push(("installed", or_none(paths(&facts.installed))));
    lines.push(("built", or_none(facts.built.iter().map(|path| path.display().to_string()).collect())));
    lines.push(("DKMS", or_none(facts.dkms.clone())));
    lines.push(("headers", or_none(facts.headers.iter().map(|path| path.display().to_string()).collect())));
    lines.push(("signed only", facts.only_signed.iter().cloned().collect()));
    lines.push(("plain files", paths(&facts.impostors)));
    lines
}

fn table(devices: &[Device], width: usize) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width.clamp(60, 140) as u16)
        .set_header([
            "DEVICE", "MODE", "OWNER", "YOU", "QUEUED", "SIZE", "OPEN", "MAPPED", "SENT", "RECEIVED",
        ]);
    for device in devices {
        let (mode, owner, you) = match &device.node {
            None => ("–".to_owned(), "–".to_owned(), "not in /dev"),
            Some(node) => {
                let you = match (node.is_device, node.may_open) {
                    (false, _) => "no device",
                    (true, true) => "may",
                    (true, false) => "may not",
                };
                (node.mode.clone(), format!("{}:{}", node.owner, node.group), you)
            }
        };
        let figure =
            |name: &str| device.figure(name).map_or_else(|| "–".to_owned(), |value| value.to_string());
        let queued = match device.figure("depth") {
            Some(depth) => format!("{} of {depth}", figure("queued")),
            None => "–".to_owned(),
        };
        let size = device.figure("size").map_or_else(|| "–".to_owned(), |size| format_bytes(size as usize));
        // Each who has shared memory open is a peer.
        let open = device.figure("openers").or(device.figure("peers"));
        let open = open.map_or_else(|| "–".to_owned(), |open| open.to_string());
        let name = device.name.clone();
        let figures = ["mappings", "sent", "received"].map(figure);
        table.add_row([name, mode, owner, you.to_owned(), queued, size, open].into_iter().chain(figures));
    }
    format!("{}\n", table.trim_fmt())
}

fn json_text(facts: &Facts, cause: Option<&Unavailable>) -> anyhow::Result<String> {
    let mut value = serde_json::to_value(facts)?;
    // A name each is easier to ask for than a list of pairs.
    for (place, device) in facts.devices.iter().enumerate() {
        value["devices"][place]["figures"] =
            device.figures.iter().map(|(name, value)| (*name, *value)).collect();
    }
    if let Some(loaded) = &facts.loaded {
        value["loaded"]["parameters"] = loaded.parameters.iter().cloned().collect();
    }
    value["usable"] = json!(cause.is_none());
    value["reason"] = json!(cause.map(|cause| &cause.reason));
    value["remedy"] = json!(cause.map(|cause| &cause.remedy));
    Ok(format!("{}\n", serde_json::to_string_pretty(&value)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::look;
    use crate::facts::tests::{KERNEL, system, with_driver};

    #[test]
    fn a_loaded_driver_is_shown_with_what_its_devices_hold() {
        let (_folder, places) = with_driver();
        let mut facts = look(&places);
        let shown = text(&facts, None, 130);
        assert!(
            shown.starts_with("furlong's driver is loaded: version 0.1.0, Linux 6.1.0-56-amd64\n"),
            "{shown}"
        );
        assert!(shown.contains("  parameters  channels=1 log_bytes=0\n"), "{shown}");
        let rows: Vec<_> =
            shown.lines().map(str::trim_start).filter(|line| line.starts_with("furlong-")).collect();
        assert_eq!(rows.len(), 2, "{shown}");
        for part in ["0666", "root:root", " may ", "3 of 64", " 8KiB ", " 12 ", " 8"] {
            assert!(rows[0].contains(part), "no {part} in {}", rows[0]);
        }
        assert!(rows[1].contains(" –        1MiB  1     0 "), "{}", rows[1]);
        assert!(!shown.contains("remedy") && !shown.contains("other"), "{shown}");
        facts.version = "0.2.0".to_owned();
        assert!(text(&facts, None, 130).contains("this furlong brings 0.2.0"));
    }

    #[test]
    fn json_says_the_same() {
        let (_folder, places) = with_driver();
        let facts = look(&places);
        let value: serde_json::Value = serde_json::from_str(&json_text(&facts, None).unwrap()).unwrap();
        assert_eq!(value["usable"], true);
        assert_eq!(value["loaded"]["parameters"]["channels"], "1");
        assert_eq!(value["devices"][0]["figures"]["queued"], 3);
        assert_eq!(value["devices"][0]["node"]["mode"], "0666");
    }

    #[test]
    fn what_is_missing_comes_with_a_reason_and_a_remedy() {
        let facts = look(&system(&[KERNEL]).1);
        let cause = cause(&facts).unwrap();
        let shown = text(&facts, Some(&cause), 80);
        assert!(shown.contains("is not loaded") && shown.contains("  installed   no\n"), "{shown}");
        assert!(shown.contains(&cause.reason) && shown.contains("\n    remedy: start a kernel"), "{shown}");
        let value: serde_json::Value =
            serde_json::from_str(&json_text(&facts, Some(&cause)).unwrap()).unwrap();
        assert_eq!((&value["usable"], &value["barrier"]), (&json!(false), &json!("no-modules")));
        assert_eq!(value["remedy"], json!(cause.remedy));
    }
}
