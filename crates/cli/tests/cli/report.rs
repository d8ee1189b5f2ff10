//! Reports of saved runs: their files and rejected arguments. No partly written file is left.

use crate::common::{FinishedCommand, Place};
use furlong_analysis::Run;
use furlong_model::Record;
use furlong_testing::skip;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn report(place: &Place, words: &[&str]) -> FinishedCommand {
    place.run(["report"].iter().chain(words).copied()).expect_no_panic()
}

/// Returns the names in furlong's working directory, without those that every place has.
fn names(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.path(".")).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !["tmp", "home", "data", "out"].contains(&name.as_str()));
    names.sort();
    names
}

#[test]
fn a_page_is_written_in_the_place_of_what_was_there() {
    let place = Place::with_runs();
    fs::write(place.path("report.html"), "old").unwrap();
    fs::set_permissions(place.path("report.html"), fs::Permissions::from_mode(0o640)).unwrap();
    let finished = report(&place, &["before", "after", "-o", "report.html"]).expect_code(0);
    assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("", "report written to report.html\n"));
    let page = fs::read_to_string(place.path("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("Compared with before") && page.len() < 300_000);
    let mode = fs::metadata(place.path("report.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640, "the rights are those of the file that it replaces");
    assert_eq!(names(&place), ["report.html"], "nothing else is left");
    // A missing directory may be a mistake and is not created. If the path is a link, its target is replaced.
    let missing = report(&place, &["before", "-o", "new/deep/report.html"]).expect_code(1);
    missing.expect_complaint("cannot write into new/deep: No such file or directory");
    assert!(!place.path("new").exists());
    fs::create_dir_all(place.path("new/deep")).unwrap();
    symlink("new/deep/report.html", place.path("link.html")).unwrap();
    fs::write(place.path("new/deep/report.html"), "old").unwrap();
    report(&place, &["before", "-o", "link.html"]).expect_code(0);
    assert!(place.path("link.html").is_symlink());
    assert!(fs::read_to_string(place.path("new/deep/report.html")).unwrap().ends_with("</html>\n"));
}

#[test]
fn the_newest_run_is_shown_if_none_is_named() {
    let place = Place::with_runs();
    let page = report(&place, &[]).expect_code(0).stdout;
    assert!(page.contains("<h1>after</h1>") || page.contains("<h1>before</h1>"));
    assert_eq!(report(&place, &["@last"]).stdout, page);
    // A device is written to directly.
    report(&place, &["before", "-o", "/dev/null"]).expect_code(0);
}

#[test]
fn markdown_names_the_pictures_that_are_written() {
    let place = Place::with_runs();
    let words = ["before", "after", "--format", "markdown", "--charts", "my charts"];
    let finished = report(&place, &words).expect_code(0).expect_complaint("charts written to my charts");
    let text = finished.expect_complaint("to convert a chart to PNG: rsvg-convert -z 2 'my charts/").stdout;
    assert!(text.starts_with("# furlong: before and after\n") && !text.contains('\x1b'), "{text}");
    let pictures: Vec<_> =
        text.split("](<my charts/").skip(1).filter_map(|rest| rest.split('>').next()).collect();
    let mut written: Vec<_> = fs::read_dir(place.path("my charts"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    written.sort();
    let mut named: Vec<_> = pictures.iter().map(|name| (*name).to_owned()).collect();
    named.sort();
    assert_eq!(named, written);
    assert!(written.iter().any(|name| name.starts_with("after-cpu-and-latency")), "{written:?}");
    for name in &written {
        let svg = fs::read_to_string(place.path("my charts").join(name)).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
    }
    let without = report(&place, &["before", "--format", "markdown"]).expect_code(0).stdout;
    assert!(!without.contains("![") && without.contains("| pipe/block "), "{without}");
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_written() {
    let place = Place::with_runs();
    fs::create_dir(place.path("folder")).unwrap();
    fs::write(place.path("file"), "").unwrap();
    fs::write(place.saved("garbage"), "no run\n").unwrap();
    for (words, told) in [
        (&["befor", "-o", "x.html"][..], "no run is saved as 'befor'; did you mean 'before'?"),
        (&["before", "before", "-o", "x.html"], "specified twice"),
        (&["garbage", "-o", "x.html"], "run garbage: line 1 (byte 0): this is not a valid furlong record"),
        (&["missing.jsonl", "-o", "x.html"], "cannot open missing.jsonl"),
        (
            &["before", "-o", "folder"],
            "--output folder is a directory; specify a file in it, for example folder/report.html",
        ),
        (&["before", "-o", "."], "is a directory"),
        (&["before", "-o", "x.svg"], "--output: .svg does not match --format html: use .html"),
        (&["before", "-o", "x.md"], "--format markdown (.md)"),
        (&["before", "-o", "x.html", "--charts", "file"], "--charts file is not a directory"),
        (&["before", "-o", "x.html", "--format", "pdf"], "html, markdown"),
        (&["before", "-o", "x.html", "--margin", "5"], "as in 5% or 2.5%"),
    ] {
        let finished = report(&place, words).expect_code(2).expect_complaint(told);
        assert_eq!(finished.stdout, "");
    }
    assert_eq!(names(&place), ["file", "folder"]);
    Place::new().run(["report", "-o", "x.html"]).expect_code(2).expect_complaint("no run is saved yet");
}

#[test]
fn a_terminal_is_spared_the_page() {
    let place = Place::with_runs();
    // `script` gives its command a terminal. A machine without `script` cannot run this test.
    let mut shell = place.shell("command -v script >/dev/null || { echo skipped; exit 0; }; script -qec '\"$FURLONG\" report before' /dev/null; echo \"code $?\"");
    let finished = place.finish(&mut shell).expect_no_panic();
    if finished.stdout.contains("skipped") {
        skip!("needs script");
    }
    assert!(
        finished.stdout.contains("code 2") && finished.stdout.contains("-o report.html"),
        "{finished:#?}"
    );
    assert!(!finished.stdout.contains("<!DOCTYPE"), "{finished:#?}");
}

#[test]
fn a_report_that_cannot_be_written_leaves_what_was_there() {
    let place = Place::with_runs();
    fs::write(place.path("report.html"), "old").unwrap();
    // The file size limit of 64 blocks acts like a disk that becomes full during the write.
    let mut shell = place.shell("trap '' XFSZ; ulimit -f 64; exec \"$FURLONG\" report before -o report.html");
    let finished = place.finish(&mut shell).expect_code(1).expect_complaint("cannot write ");
    assert!(
        finished.stderr.contains("report.html") && finished.stderr.contains("too large"),
        "{finished:#?}"
    );
    assert_eq!(fs::read_to_string(place.path("report.html")).unwrap(), "old");
    assert_eq!(names(&place), ["report.html"]);
    fs::write(place.path("file"), "").unwrap();
    report(&place, &["before", "-o", "file/report.html"]).expect_code(1).expect_complaint("file");
    report(&place, &["before", "-o", "/proc/nothing/report.html"])
        .expect_code(1)
        .expect_complaint("/proc/nothing");
    // A full disk accepts no bytes.
    if fs::metadata("/dev/full").is_ok() {
        report(&place, &["before", "-o", "/dev/full"]).expect_code(1).expect_complaint("/dev/full");
    }
}

#[test]
fn a_run_from_anybody_is_text() {
    let place = Place::with_runs();
    let run = Run::read(place.saved("before")).unwrap();
    let evil = "\x1b[31m<script>alert(1)</script>\u{202e}";
    let mut records = vec![Record::Run(run.header.clone())];
    records.extend(run.trials.iter().cloned().map(Record::Trial));
    for record in &mut records {
        match record {
            Record::Run(header) => header.machine.kernel = evil.into(),
            Record::Trial(trial) => trial.case.mechanism += evil,
            _ => {}
        }
    }
    place.write_run("evil", &records);
    for format in ["html", "markdown"] {
        let text = report(&place, &["evil", "--format", format]).expect_code(0).stdout;
        assert!(!text.contains("<script>alert") && !text.contains(['\x1b', '\u{202e}']), "{format}");
    }
}

#[test]
fn nothing_is_measured_and_no_run_is_saved() {
    let place = Place::with_runs();
    let before = place.all_saved();
    report(&place, &["before", "-o", "x.html"]).expect_code(0);
    assert_eq!(place.all_saved(), before);
    assert!(fs::read_dir(place.path("tmp")).unwrap().next().is_none());
}
