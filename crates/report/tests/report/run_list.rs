//! Tests of the list of saved runs in a browser: on a phone, a tablet and a desktop, light and dark, with the
//! keyboard alone, and as a screen reader sees it.

use crate::common::{Chromium, Tab, open_in, run};
use furlong_render::{ListedRun, date, shell};
use furlong_report::{RunList, run_list};
use furlong_testing::skip;
use serde_json::json;
use std::path::PathBuf;

/// Returns the file of the list, and its directory.
fn page() -> (tempfile::TempDir, PathBuf) {
    let runs = ["sizes", "model"].map(|name| (name, run(name)));
    let list = |(name, run)| ListedRun { run: name, file: "", bytes: 57_000, header: run };
    let listed: Vec<_> =
        runs.iter().map(|(name, run)| (list((*name, &run.header)), *name == "sizes")).collect();
    let html =
        run_list(&RunList { folder: "/home/me/runs", runs: &listed, of: 2, find: "", unreadable: &[] })
            .expect("a page");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("list.html");
    std::fs::write(&path, html).expect("a temporary file");
    (folder, path)
}

#[test]
fn it_fits_a_phone_a_tablet_and_a_desk_by_day_and_by_night() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    for width in [360, 500, 1280] {
        let mut papers = Vec::new();
        for scheme in ["light", "dark"] {
            let mut tab = open_in(&mut browser, &path, width, scheme);
            let small = "[...document.querySelectorAll('button, input')].map(element => element.getBoundingClientRect())
                .filter(box => box.width < 16 || box.height < 16).length";
            assert_eq!(tab.value(small), 0);
            papers.push(tab.value("getComputedStyle(document.body).backgroundColor"));
            tab.picture(&format!("list-{width}-{scheme}"), true);
            assert_eq!(tab.troubles(), Vec::<serde_json::Value>::new());
        }
        assert_ne!(papers[0], papers[1]);
    }
}

/// Returns the element that the next Tab focuses.
fn next(tab: &mut Tab) -> String {
    tab.press("Tab", "");
    let name = "(element => element.ariaLabel ?? element.labels?.[0]?.textContent ?? element.textContent)(document.activeElement)";
    tab.value(name).as_str().expect("a name").trim().to_owned()
}

#[test]
fn runs_are_chosen_by_keys_alone() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1280, 740);
    tab.open(&path);
    for expected in ["Name or command contains", "Find", "Saved runs"] {
        assert_eq!(next(&mut tab), expected);
    }
    // Radio buttons are one stop, and its arrows move in it.
    assert_eq!(next(&mut tab), "sizes is the baseline");
    tab.press(" ", " ");
    assert_eq!(next(&mut tab), "Show sizes");
    tab.press(" ", " ");
    let command = |name: &str| shell(&run(name).header.argv);
    for expected in [&command("sizes"), "Show model"] {
        assert_eq!(next(&mut tab), expected);
    }
    tab.press(" ", " ");
    for expected in [&command("model"), "Show the chosen runs"] {
        assert_eq!(next(&mut tab), expected);
    }
    let asked = "new URLSearchParams(new FormData(document.forms[1])).toString()";
    assert_eq!(tab.value(asked), "baseline=sizes&run=sizes&run=model");
}

#[test]
fn a_screen_reader_is_told_of_all_that_can_be_used() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1280, 740);
    tab.open(&path);
    let tree = tab.call("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().expect("a tree");
    let said = |node: &serde_json::Value| {
        let text = |key: &str| node[key]["value"].as_str().unwrap_or_default().to_owned();
        (text("role"), text("name"))
    };
    let all: Vec<_> = nodes.iter().filter(|node| node["ignored"] == false).map(said).collect();
    let used =
        ["heading", "search", "searchbox", "button", "radio", "checkbox", "link", "table", "rowheader"];
    let unnamed: Vec<_> = all
        .iter()
        .filter(|(role, name)| used.contains(&role.as_str()) && role != "search" && name.is_empty())
        .collect();
    assert!(unnamed.is_empty(), "{unnamed:?}");
    let header = run("sizes").header;
    let (command, measured) = (shell(&header.argv), date(header.started_unix_s));
    let is_there = |role: &str, name: &str| all.iter().any(|(r, n)| r == role && n == name);
    for (role, name) in [
        ("heading", "Saved runs"),
        ("search", ""),
        ("searchbox", "Name or command contains"),
        ("table", "Saved runs, the newest first"),
        ("rowheader", &format!("{command} in progress {measured}, sizes")),
        ("link", &command),
        ("radio", "model is the baseline"),
        ("checkbox", "Show model"),
        ("button", "Show the chosen runs"),
    ] {
        assert!(is_there(role, name), "{role} {name}: {all:?}");
    }
}
