//! Name conflicts of mechanisms, and lines of files that are too long to be quoted. No program is started.

use crate::common::Place;
use std::fs;

/// Writes the manifest of an adapter with one row.
fn write(place: &Place, folder: &str, row: &str, more: &str) {
    fs::create_dir_all(place.path(folder)).unwrap();
    let text = format!(
        "name = \"x\"\ncommand = [\"false\"]\nlicence = \"MIT\"\n{more}\n[[rows]]\nname = \"{row}\"\n"
    );
    fs::write(place.path(folder).join("adapter.toml"), text).unwrap();
}

#[test]
fn mechanisms_of_one_name_are_explained() {
    let place = Place::new();
    write(&place, "one", "mine", "");
    write(&place, "other", "mine", "");
    write(&place, "taken", "pipe", "");
    for (adapters, why) in [
        (["one", "one"], "one/adapter.toml is specified twice; specify it once"),
        (["one", "other"], "other/adapter.toml; rename one of them"),
        (["one", "taken"], "a built-in mechanism and a benchmark of"),
    ] {
        let words = adapters.iter().flat_map(|adapter| ["--adapter", adapter]);
        let refused = place.run(["run", "--no-save"].into_iter().chain(words)).expect_code(2);
        refused.expect_complaint("two mechanisms are called ").expect_complaint(why);
    }
    place
        .run(["adapter", "new", "--lang", "c", "pipe"])
        .expect_code(2)
        .expect_complaint("choose another name");
    assert!(!place.path("pipe").exists());
}

#[test]
fn long_line_of_a_file_is_not_repeated_in_an_error() {
    let place = Place::new();
    let long = "y".repeat(20_000);
    write(&place, "long", "mine", &format!("expected = 1 # {long}"));
    fs::write(place.path("workload.toml"), format!("size = {{ a = 1 }} # {long}\n")).unwrap();
    fs::write(place.path("experiment.toml"), format!("{long} = 1\n")).unwrap();
    for words in [
        &["run", "--adapter", "long", "--no-save"][..],
        &["adapter", "check", "long"],
        &["recommend", "--workload", "workload.toml"],
        &["replay", "./experiment.toml"],
    ] {
        let refused = place.run(words.iter().copied()).expect_code(2);
        assert!(refused.stderr.len() < 4000, "{} bytes: {:.300}", refused.stderr.len(), refused.stderr);
    }
}
