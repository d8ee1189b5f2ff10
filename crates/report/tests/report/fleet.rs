//! The page of many hosts in a browser: on a phone, a tablet and a desk, light and dark, sorted, and with hostile names.

use crate::common::{Chromium, open_in};
use furlong_analysis::{FleetBy, FleetRun, UnusedReason, UnusedRun, compare_and_map_fleet};
use furlong_fixture::fleet::{MadeHost, made};
use furlong_report::fleet_page;
use furlong_testing::skip;
use std::path::PathBuf;

/// Returns the page of a generated fleet with `hosts` hosts.
fn page_of(hosts: usize, unused: Vec<UnusedRun>) -> String {
    let runs: Vec<FleetRun> = made(0, hosts, 60).iter().map(MadeHost::run).collect();
    let (found, map) = compare_and_map_fleet(runs, unused, FleetBy::Host, 0.05);
    assert!(found.outliers.len() >= 5, "{:?}", found.outliers);
    fleet_page(&found, &map).expect("a page")
}

fn page(hosts: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("fleet.html");
    std::fs::write(&path, page_of(hosts, Vec::new())).expect("a temporary file");
    (folder, path)
}

#[test]
fn hosts_that_stand_out_come_first_and_their_rows_have_colours() {
    let page = page_of(120, Vec::new());
    let (_, rows) = page.split_once("<caption>Every benchmark of each host</caption>").expect("the table");
    let (rows, _) = rows.split_once("</table>").expect("its end");
    let lines: Vec<_> =
        rows.lines().filter(|line| line.starts_with("<tr") && line.contains("node-")).collect();
    assert_eq!(lines.len(), 120);
    let marked = lines.iter().take_while(|line| line.starts_with("<tr class=\"bad\"")).count();
    assert_eq!(marked, lines.iter().filter(|line| line.contains("class=\"bad\"")).count());
    assert!(marked >= 5 && lines[..marked].iter().all(|line| line.contains(" longer-")), "{marked}");
    for part in [
        "Outliers by benchmark",
        "Costs of each host",
        "Benchmarks over hosts",
        "id=\"verdict\"",
        "instead of",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
}

#[test]
fn hostile_names_are_text() {
    let error = "<img src=x onerror=alert(1)>".to_owned();
    let unused =
        UnusedRun { run: "<b>\u{202e}.jsonl".to_owned(), reason: UnusedReason::Unreadable { error } };
    let page = page_of(60, vec![unused]);
    assert!(!page.contains("<img") && !page.contains("<b>") && !page.contains('\u{202e}'));
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
}

#[test]
fn it_fits_a_phone_a_tablet_and_a_desk_by_day_and_by_night() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page(60);
    for width in [360, 768, 1280] {
        for scheme in ["light", "dark"] {
            let mut tab = open_in(&mut browser, &path, width, scheme);
            // Words on the darkest colour can be read: at least 4.5 to 1 (WCAG 2.2, 1.4.3).
            let contrast = tab.value(
                "(() => {
                    const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
                    const context = canvas.getContext('2d', { willReadFrequently: true });
                    const light = (...colours) => {
                        context.clearRect(0, 0, 1, 1);
                        for (const colour of colours) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
                        const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map(value => value / 255)
                            .map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
                        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
                    };
                    const paper = getComputedStyle(document.body).backgroundColor;
                    const cells = [...document.querySelectorAll('td[class*=\"longer-\"], td[class*=\"shorter-\"]')];
                    return Math.min(...cells.map(cell => {
                        const style = getComputedStyle(cell);
                        const [dark, bright] = [light(paper, style.backgroundColor), light(style.color)].sort((a, b) => a - b);
                        return (bright + 0.05) / (dark + 0.05);
                    }));
                })()",
            );
            assert!(contrast.as_f64() >= Some(4.5), "{contrast} at {width} {scheme}");
            // The host column stays visible while its figures scroll.
            let beside = tab.value(
                "(() => {
                    const box = document.querySelector('table:has(th.upright)').parentElement;
                    box.scrollLeft = box.scrollWidth;
                    const first = box.querySelector('tbody td');
                    return Math.abs(first.getBoundingClientRect().left - box.getBoundingClientRect().left);
                })()",
            );
            assert!(beside.as_f64() < Some(3.0), "{beside}");
            tab.picture(&format!("fleet-{width}-{scheme}"), true);
            assert_eq!(tab.troubles(), Vec::<serde_json::Value>::new());
        }
    }
}

#[test]
fn its_hosts_are_sorted_by_a_row() {
    let Some(mut browser) = Chromium::start() else { skip!("needs Chromium") };
    let (_folder, path) = page(60);
    let mut tab = browser.tab(1280, 740);
    tab.open(&path);
    tab.value("document.querySelector('th.upright').id = 'row'");
    tab.value("document.querySelector('th.upright button').focus()");
    tab.press("Enter", "\r");
    let figures = "[...document.querySelector('table:has(th.upright)').tBodies[0].rows].map(row => Number(row.cells[1].dataset.by))";
    let figures: Vec<f64> = serde_json::from_value(tab.value(figures)).expect("figures");
    assert!(figures.len() == 60 && figures.is_sorted() && figures.first() < figures.last(), "{figures:?}");
}
