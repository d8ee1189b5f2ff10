//! Tests of the page in a browser: drawn without an error or a request, sorted, toggled, on a phone, without scripts,
//! printed.
//!
//! With `FURLONG_SHOTS=DIRECTORY` each test saves a screenshot there. `FURLONG_REPORT=FILE` tests another report than
//! that of the test data.

use crate::common::{Chromium, Tab};
use furlong_testing::skip;
use serde_json::json;
use std::path::PathBuf;

/// Returns the page under test and its directory.
fn page() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = match std::env::var_os("FURLONG_REPORT") {
        Some(path) => PathBuf::from(path),
        None => crate::common::page(folder.path()),
    };
    (folder, path)
}

#[test]
fn every_chart_is_drawn_without_an_error_or_a_request() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1200, 900);
    tab.open(&path);
    tab.draw_all_charts();
    let charts = tab.value("document.querySelectorAll('figure.chart').length");
    assert!(charts.as_u64() > Some(3), "{charts}");
    assert_eq!(tab.value("document.querySelectorAll('figure.chart[data-state=live]').length"), charts);
    // Each chart has content and is drawn once for this window.
    let empty = "[...document.querySelectorAll('figure.chart')].filter(figure =>
        !figure.querySelector('.wide .series :is(polyline, circle, path, rect)') ||
        figure.querySelector('.wide').offsetHeight < 100 ||
        figure.querySelector('.narrow').offsetHeight > 0).map(figure => figure.id)";
    assert_eq!(tab.value(empty), json!([]));
    assert_eq!(tab.troubles(), Vec::<serde_json::Value>::new());
    let requests = tab.requests();
    assert!(requests.len() == 1 && requests[0].starts_with("file://"), "{requests:?}");
    tab.value("scrollTo({ top: 0, behavior: 'instant' })");
    tab.picture("desktop-light", true);
}

#[test]
fn the_page_forbids_itself_every_request() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1200, 900);
    tab.open(&path);
    let refused = tab.value("fetch('http://localhost:9/').then(() => 'asked', error => String(error))");
    assert!(refused.as_str().is_some_and(|text| text.contains("TypeError")), "{refused}");
    tab.value("document.body.append(Object.assign(new Image(), { src: 'http://localhost:9/x.png' }))");
    tab.wait_for("new Promise(done => setTimeout(() => done(true), 100))");
    // The browser reports every attempted request, and the page's own policy must have blocked each one.
    let stopped =
        tab.events("Network.loadingFailed").iter().filter(|event| event["blockedReason"] == "csp").count();
    let tried = tab.requests().iter().filter(|url| url.starts_with("http")).count();
    assert!(tried > 0 && stopped == tried, "{tried} tried, {stopped} stopped: {:?}", tab.requests());
}

#[test]
fn series_are_switched_off_and_points_say_what_they_are() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1200, 900);
    tab.open(&path);
    tab.draw_all_charts();
    let first = "figure.chart:has(.wide .entry)";
    let shown = format!(
        "[...document.querySelectorAll('{first}')][0].querySelectorAll('.wide .series:not([display])').length"
    );
    let entry = format!("{first} .wide .entry");
    let pressed = format!("document.querySelector('{entry}').getAttribute('aria-pressed')");
    let before = tab.value(&shown).as_u64().expect("a number");
    assert_eq!(tab.value(&pressed), "true");
    tab.click(&entry);
    let after = tab.value(&shown).as_u64().expect("a number");
    assert!(after < before && tab.value(&pressed) == "false", "{after} of {before}");
    // A hidden series stays hidden in another theme, and in the drawing for a phone.
    tab.click("#theme");
    assert_eq!(tab.value(&shown), json!(after));
    assert_eq!(tab.value(&shown.replace(".wide", ".narrow")), json!(after));
    // The keyboard also works.
    tab.value(&format!("document.querySelector('{entry}').focus()"));
    tab.press("Enter", "\r");
    assert_eq!((tab.value(&shown), tab.value(&pressed)), (json!(before), json!("true")));
    let marked = "figure.chart:has(.wide .series circle[data-told])";
    let place = tab.value(&format!(
        "(() => {{ const point = document.querySelector('{marked} .wide .series circle[data-told]');
            point.scrollIntoView({{ behavior: 'instant', block: 'center' }});
            const box = point.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
    ));
    tab.point_at(place[0].as_f64().unwrap() - 3.0, place[1].as_f64().unwrap());
    tab.point_at(place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    let told = tab.value("document.querySelector('.tip:not([hidden])')?.textContent");
    // The row, the figure, and its interval.
    assert!(told.as_str().is_some_and(|text| text.contains(": ") && text.contains(" to ")), "{told}");
    tab.picture("hover", false);
    assert_eq!(tab.troubles(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_drag_zooms_with_its_own_ticks_and_a_double_click_shows_all_again() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1200, 900);
    tab.open(&path);
    tab.draw_all_charts();
    // A curve over two logarithmic axes.
    tab.value(
        "(() => { const line = document.querySelector('.wide .series polyline:not([data-told])');
            window.svg = line.closest('.wide > svg'); window.plot = svg.querySelector('.plot'); window.line = line;
            svg.scrollIntoView({ behavior: 'instant', block: 'center' }); })()",
    );
    let state =
        "JSON.stringify([line.getAttribute('points'), [...svg.querySelectorAll('.x-axis text, .y-axis text')]
        .map(text => text.textContent)])";
    let whole = tab.value(state);
    let corner = |tab: &mut Tab, share: f64| {
        let place = tab.value(&format!(
            "(() => {{ const [box, scale] = [svg.getBoundingClientRect(), svg.getBoundingClientRect().width / svg.viewBox.baseVal.width];
                const at = name => Number(plot.getAttribute(name));
                return [box.left + (at('x') + {share} * at('width')) * scale, box.top + (at('y') + {share} * at('height')) * scale]; }})()"
        ));
        (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
    };
    let (from, to) = (corner(&mut tab, 0.35), corner(&mut tab, 0.95));
    tab.drag(from, to);
    assert_eq!(tab.value("svg.classList.contains('zoomed') && !svg.querySelector('.brush')"), true);
    let zoomed = tab.value(state);
    assert_ne!(zoomed, whole);
    // Marks keep their size, labels are apart, and each axis has some.
    for axis in ["x", "y"] {
        let overlapping = tab.value(&format!(
            "[...svg.querySelectorAll('.{axis}-axis text')].map(text => text.getBoundingClientRect()).filter((box, at, all) =>
                at > 0 && box.left < all[at - 1].right && all[at - 1].left < box.right && box.top < all[at - 1].bottom
                && all[at - 1].top < box.bottom).length"
        ));
        assert_eq!(overlapping, 0);
        let ticks = tab.value(&format!("svg.querySelectorAll('.{axis}-axis text').length"));
        assert!((2..=9).contains(&ticks.as_u64().unwrap()), "{axis}: {ticks}");
    }
    tab.picture("zoomed", false);
    tab.double_click(to);
    assert_eq!(tab.value(state), whole);
    assert_eq!(tab.troubles(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_chart_is_saved_as_it_is_shown() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1200, 900);
    tab.open(&path);
    tab.draw_all_charts();
    // Instead of a download, the page keeps what it would save.
    tab.value(
        "window.saved = []; HTMLAnchorElement.prototype.click = function () {
            saved.push({ name: this.download, blob: window.lastBlob }); };
        const make = URL.createObjectURL; URL.createObjectURL = blob => { window.lastBlob = blob; return make(blob); };",
    );
    tab.click("figure.chart .wide .entry");
    for number in [2, 3] {
        tab.click(&format!("figure.chart .tools button:nth-child({number})"));
        tab.wait_for(&format!("saved.length === {}", number - 1));
    }
    let png = tab
        .value("createImageBitmap(saved[0].blob).then(image => [saved[0].name, image.width, image.height])");
    assert!(
        png[0].as_str().unwrap().ends_with(".png") && png[1] == 1720 && png[2].as_u64() > Some(400),
        "{png}"
    );
    let svg = tab.value("saved[1].blob.text()");
    let svg = svg.as_str().unwrap();
    assert!(
        svg.starts_with("<svg ")
            && svg.contains("xmlns=\"http://www.w3.org/2000/svg\"")
            && !svg.contains("var(")
    );
    assert!(svg.contains("display=\"none\""), "hidden series are not saved");
    let parsed =
        "new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') === null";
    assert_eq!(tab.value(&format!("saved[1].blob.text().then(text => {parsed})")), true);
    assert_eq!(tab.troubles(), Vec::<serde_json::Value>::new());
}

#[test]
fn tables_are_sorted_by_hand_and_by_key() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1200, 900);
    tab.open(&path);
    // The table of all rows of the first run, by its medians.
    let table = "[...document.querySelectorAll('table.sortable')].find(table => table.caption.textContent.startsWith('All benchmarks'))";
    tab.value(&format!("{table}.id = 'under-test'"));
    let column =
        "[...document.querySelectorAll('#under-test th')].findIndex(head => head.textContent === 'p50')";
    tab.value(&format!("document.querySelectorAll('#under-test th')[{column}].id = 'median'"));
    let medians = format!(
        "[...document.querySelectorAll('#under-test tbody tr')].map(row => Number(row.cells[{column}].dataset.by))"
    );
    let values = |value: serde_json::Value| -> Vec<f64> { serde_json::from_value(value).expect("numbers") };
    tab.click("#median button");
    let up = values(tab.value(&medians));
    assert!(up.len() > 2 && up.is_sorted(), "{up:?}");
    assert_eq!(tab.value("document.querySelector('#median').ariaSort"), "ascending");
    tab.click("#median button");
    let down = values(tab.value(&medians));
    assert!(down.iter().rev().is_sorted() && down.first() > down.last(), "{down:?}");
    assert_eq!(tab.value("document.querySelector('#median').ariaSort"), "descending");
    // Sort with the keyboard, and sort words.
    tab.value("document.querySelector('#under-test th button').focus()");
    tab.press("Enter", "\r");
    let names: Vec<String> = serde_json::from_value(tab.value(
        "[...document.querySelectorAll('#under-test tbody tr')].map(row => row.cells[0].textContent)",
    ))
    .unwrap();
    assert!(names.is_sorted() && names.first() != names.last(), "{names:?}");
    assert_eq!(tab.value("document.querySelector('#median').ariaSort"), json!(null));
}

#[test]
fn the_theme_can_be_chosen_and_follows_the_system_until_then() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1200, 900);
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    let paper = "getComputedStyle(document.body).backgroundColor";
    tab.open(&path);
    let light = tab.value(paper);
    tab.call("Emulation.setEmulatedMedia", dark);
    tab.draw_all_charts();
    let night = tab.value(paper);
    assert_ne!(light, night);
    let ink = "getComputedStyle(document.querySelector('.wide .x-axis text')).fill";
    let night_ink = tab.value(ink);
    tab.value("scrollTo({ top: 0, behavior: 'instant' })");
    tab.picture("desktop-dark", true);
    tab.click("#theme");
    assert_eq!(tab.value(paper), light);
    tab.wait_for(&format!("{ink} !== {night_ink}"));
    assert_eq!(tab.value("document.getElementById('theme').textContent"), "Dark");
    assert_eq!(tab.troubles(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_phone_scrolls_tables_and_not_the_page() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    for scripts in [true, false] {
        let mut tab = browser.tab(360, 740);
        tab.call("Emulation.setScriptExecutionDisabled", json!({ "value": !scripts }));
        tab.open(&path);
        if scripts {
            tab.draw_all_charts();
        }
        tab.value("document.querySelectorAll('details').forEach(details => { details.open = true; })");
        let width = tab.value("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)");
        assert!(width.as_f64() <= Some(360.0), "{width} with scripts: {scripts}");
        let small = "[...document.querySelectorAll('p, li, td, th, dd, dt, summary, h1, h2, h3, h4')]
            .filter(element => element.textContent.trim() && parseFloat(getComputedStyle(element).fontSize) < 12)
            .map(element => element.tagName + ': ' + element.textContent.slice(0, 40))";
        assert_eq!(tab.value(small), json!([]));
        tab.value("document.querySelectorAll('details').forEach(details => { details.open = false; })");
        tab.value("scrollTo({ top: 0, behavior: 'instant' })");
        tab.picture(if scripts { "phone" } else { "phone-no-script" }, true);
        assert_eq!(tab.troubles(), Vec::<serde_json::Value>::new());
    }
}

#[test]
fn without_scripts_charts_and_tables_are_there() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1200, 900);
    tab.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    tab.open(&path);
    assert_eq!(tab.value("document.querySelectorAll('[data-state], th button').length"), 0);
    let unseen = "[...document.querySelectorAll('figure.chart')].filter(figure => {
        const svg = figure.querySelector('.wide svg');
        return !svg || svg.getBoundingClientRect().height < 100 || !svg.querySelector('text') ||
            !svg.querySelector('polyline, circle, polygon, rect'); }).map(figure => figure.id)";
    assert_eq!(tab.value(unseen), json!([]));
    // The tables are readable immediately, and each chart's figures after a click, which needs no script.
    assert!(tab.value("document.querySelector('[id$=-rows] table').offsetHeight").as_f64() > Some(50.0));
    tab.click("figure.chart details summary");
    assert!(
        tab.value("document.querySelector('figure.chart details table').offsetHeight").as_f64() > Some(20.0)
    );
    assert_eq!(tab.value("document.getElementById('theme').hidden"), true);
    tab.value("scrollTo({ top: 0, behavior: 'instant' })");
    tab.picture("no-script", true);
    assert_eq!(tab.troubles(), Vec::<serde_json::Value>::new());
}

#[test]
fn paper_gets_pictures_and_whole_tables() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page();
    let mut tab = browser.tab(1200, 900);
    tab.open(&path);
    tab.draw_all_charts();
    tab.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let shown =
        "[...document.querySelectorAll('.tip, .tools, .narrow')].filter(one => one.offsetHeight > 0).length";
    assert_eq!(tab.value(shown), 0);
    let unseen = "[...document.querySelectorAll('.wide')].filter(one => one.offsetHeight < 100).length";
    assert_eq!(tab.value(unseen), 0);
    let cut = "[...document.querySelectorAll('[id$=-rows] .scroll')]
        .filter(box => box.scrollHeight > box.clientHeight + 1).length";
    assert_eq!(tab.value(cut), 0);
    let pdf = tab.call("Page.printToPDF", json!({ "printBackground": false }));
    assert!(pdf["data"].as_str().is_some_and(|data| data.len() > 10_000));
}
