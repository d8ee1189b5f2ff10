//! `furlong driver status`: reports the state of the driver and what is missing.

use crate::device::Device;
use crate::diagnosis::diagnose;
use crate::options::DriverStatusOptions;
use crate::state::{self, State};
use crate::system_files::SystemFiles;
use furlong_console::ListFormat;
use furlong_console::exit::Outcome;
use furlong_console::output;
use furlong_model::{Unavailable, format_bytes, listing};
use serde_json::json;
use std::path::PathBuf;

/// Prints the state of the driver.
pub fn status(files: &SystemFiles, options: &DriverStatusOptions) -> anyhow::Result<Outcome> {
    let state = state::read(files);
    let cause = diagnose(&state);
    output::print(&match options.format {
        ListFormat::Table => text(&state, cause.as_ref(), output::width()),
        ListFormat::Json => json_text(&state, cause.as_ref())?,
    })?;
    Ok(if cause.is_none() { Outcome::Done } else { Outcome::Missing })
}

fn text(state: &State, cause: Option<&Unavailable>, width: usize) -> String {
    let mut text = String::new();
    match &state.loaded {
        Some(loaded) => {
            let version = loaded.version.as_deref().unwrap_or("unknown");
            text.push_str(&format!(
                "furlong's driver is loaded: version {version}, Linux {}\n",
                state.kernel
            ));
        }
        None => text.push_str(&format!("furlong's driver is not loaded: Linux {}\n", state.kernel)),
    }
    for (name, values) in lines(state) {
        for (number, value) in values.iter().enumerate() {
            text.push_str(&format!("  {:<11} {value}\n", if number == 0 { name } else { "" }));
        }
    }
    if !state.devices.is_empty() {
        text.push_str(&format!("\n{}", table(&state.devices, width)));
    }
    if let Some(Unavailable { reason, remedy }) = cause {
        text.push_str(&format!("\n{reason}\n    remedy: {remedy}\n"));
    }
    text
}

/// Returns the state of the driver except for its devices, as names with values.
fn lines(state: &State) -> Vec<(&'static str, Vec<String>)> {
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let or_none = |values: Vec<String>| if values.is_empty() { vec!["no".to_owned()] } else { values };
    let mut lines = Vec::new();
    if let Some(loaded) = &state.loaded {
        let all: Vec<_> = loaded.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        lines.push(("parameters", vec![all.join(" ")]));
        lines.push(("users", loaded.users.iter().map(u64::to_string).collect()));
        if loaded.version.as_ref().is_some_and(|version| *version != state.version) {
            let newer = format!(
                "this furlong contains {}; to replace it: sudo furlong driver install",
                state.version
            );
            lines.push(("other", vec![newer]));
        }
    }
    lines.push(("installed", or_none(paths(&state.installed))));
    lines.push(("built", or_none(state.built.iter().map(|path| path.display().to_string()).collect())));
    lines.push(("DKMS", or_none(state.dkms.clone())));
    lines.push(("headers", or_none(state.headers.iter().map(|path| path.display().to_string()).collect())));
    lines.push(("signed only", state.only_signed.iter().cloned().collect()));
    lines.push(("plain files", paths(&state.plain_files)));
    lines
}

fn table(devices: &[Device], width: usize) -> String {
    let names = ["DEVICE", "MODE", "OWNER", "YOU", "QUEUED", "SIZE", "OPEN", "MAPPED", "SENT", "RECEIVED"];
    let rows = devices.iter().map(|device| {
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
        // Each opener of shared memory is a peer.
        let open = device.figure("openers").or(device.figure("peers"));
        let open = open.map_or_else(|| "–".to_owned(), |open| open.to_string());
        let name = device.name.clone();
        let figures = ["mappings", "sent", "received"].map(figure);
        [name, mode, owner, you.to_owned(), queued, size, open].into_iter().chain(figures).collect()
    });
    listing(&names, rows, width)
}

fn json_text(state: &State, cause: Option<&Unavailable>) -> anyhow::Result<String> {
    let mut value = serde_json::to_value(state)?;
    // A name each is easier to ask for than a list of pairs.
    for (place, device) in state.devices.iter().enumerate() {
        value["devices"][place]["figures"] =
            device.figures.iter().map(|(name, value)| (*name, *value)).collect();
    }
    if let Some(loaded) = &state.loaded {
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
    use crate::state::read;
    use crate::state::tests::{KERNEL, system, with_driver};

    #[test]
    fn a_loaded_driver_is_shown_with_what_its_devices_hold() {
        let (_folder, files) = with_driver();
        let mut state = read(&files);
        let shown = text(&state, None, 130);
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
        state.version = "0.2.0".to_owned();
        assert!(text(&state, None, 130).contains("this furlong contains 0.2.0"));
    }

    #[test]
    fn json_says_the_same() {
        let (_folder, files) = with_driver();
        let state = read(&files);
        let value: serde_json::Value = serde_json::from_str(&json_text(&state, None).unwrap()).unwrap();
        assert_eq!(value["usable"], true);
        assert_eq!(value["loaded"]["parameters"]["channels"], "1");
        assert_eq!(value["devices"][0]["figures"]["queued"], 3);
        assert_eq!(value["devices"][0]["node"]["mode"], "0666");
    }

    #[test]
    fn what_is_missing_comes_with_a_reason_and_a_remedy() {
        let state = read(&system(&[KERNEL]).1);
        let cause = diagnose(&state).unwrap();
        let shown = text(&state, Some(&cause), 80);
        assert!(shown.contains("is not loaded") && shown.contains("  installed   no\n"), "{shown}");
        assert!(shown.contains(&cause.reason) && shown.contains("\n    remedy: boot a kernel"), "{shown}");
        let value: serde_json::Value =
            serde_json::from_str(&json_text(&state, Some(&cause)).unwrap()).unwrap();
        assert_eq!((&value["usable"], &value["loading_blocked"]), (&json!(false), &json!("no-modules")));
        assert_eq!(value["remedy"], json!(cause.remedy));
    }
}
