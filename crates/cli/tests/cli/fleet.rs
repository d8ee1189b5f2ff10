//! Runs of many hosts: what they are called, and compared by.

use crate::common::Place;
use furlong_analysis::Run;

#[test]
fn a_run_carries_its_label_and_its_host() {
    let place = Place::new();
    let rows = ["run", "pipe", "--trials", "1", "--budget", "1ms", "--no-progress"];
    let named = ["--save", "named", "--label", "kernel 6.19", "--host", "node 7"];
    place.run(rows.iter().chain(&named).copied()).expect_code(0);
    place.run(rows.iter().chain(&["--save", "plain"]).copied()).expect_code(0);
    let [named, plain] = ["named", "plain"].map(|name| Run::read(place.saved(name)).unwrap().header);
    assert_eq!(
        (named.label.as_deref(), named.machine.host.as_deref()),
        (Some("kernel 6.19"), Some("node 7"))
    );
    assert_eq!((plain.label, plain.machine.host), (None, furlong_os::facts::host_name()));
    place.run(rows.iter().chain(&["--label", ""]).copied()).expect_code(2);
}
