//! `furlong export`, `completions` and `man` write files that other programs can read.

use crate::common::{Place, Terminal};
use std::fs;

#[test]
fn runs_are_exported_in_every_form() {
    let place = Place::with_runs();
    let sheet = place.run(["export", "before", "after"]).expect_code(0).stdout;
    let of = |name: &str| sheet.lines().filter(|line| line.starts_with(&format!("{name},"))).count();
    assert_eq!((of("run"), of("before"), of("after")), (1, 2, 2), "{sheet}");
    let json = place.run(["export", "*e*", "--format", "json"]).expect_code(0).json();
    assert_eq!(json.as_array().map(Vec::len), Some(2));
    let page = place.run(["export", "before", "--format", "markdown"]).expect_code(0).stdout;
    assert!(page.contains("| pipe/block") && !page.contains("# before"), "{page}");
    let metrics = place.run(["export", "--format", "openmetrics"]).expect_code(0).stdout;
    assert!(metrics.contains("run=\"after\"") && !metrics.contains("run=\"before\""), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    let parquet = place.run(["export", "--format", "parquet", "-o", "runs.parquet"]);
    if cfg!(feature = "parquet") {
        parquet.expect_code(0);
        let table = fs::read(place.path("runs.parquet")).unwrap();
        assert!(table.starts_with(b"PAR1") && table.ends_with(b"PAR1"));
    } else {
        parquet.expect_code(2).expect_complaint("--features parquet");
    }
}

#[test]
fn what_is_no_text_is_not_written_to_a_terminal() {
    let place = Place::with_runs();
    let shown = Terminal::start(&place, r#"exec "$FURLONG" export --format parquet"#).finish();
    assert!(shown.expect_code(2).stdout.contains("specify a file with -o"));
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let place = Place::with_runs();
    let file = place.path("runs.csv");
    fs::write(&file, "old\n".repeat(1000)).unwrap();
    let path = file.to_str().unwrap();
    let output = place.run(["export", "before", "-o", path]).expect_code(0);
    let text = fs::read_to_string(&file).unwrap();
    assert!(output.stdout.is_empty() && text.starts_with("run,") && !text.contains("old"), "{text}");
    let folder = place.path("tmp");
    place.run(["export", "before", "-o", folder.to_str().unwrap()]).expect_code(2);
    let output = place.run(["export", "before", "-o", "/proc/nowhere/runs.csv"]).expect_code(1);
    assert!(output.stderr.contains("/proc/nowhere"), "{}", output.stderr);
    let output = place.run(["export", "bef0re"]).expect_code(2);
    assert!(output.stderr.contains("before"), "{}", output.stderr);
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let place = Place::with_runs();
    let output = place.run(["export", "before", "-o", "/dev/full"]).expect_code(1);
    assert!(output.stderr.contains("/dev/full"), "{}", output.stderr);
}

#[test]
fn shells_get_every_verb() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(["completions", shell]).expect_code(0).stdout;
        for word in ["recommend", "compare", "boundary"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // The scripts for the other two shells do not list the values of options.
        let values = matches!(shell, "bash" | "zsh" | "fish");
        assert_eq!(script.contains("peer-death"), values, "{shell}");
    }
    // The completion script works in a shell that has read it.
    let script = "\"$FURLONG\" completions bash > furlong.bash && . ./furlong.bash && \
        COMP_WORDS=(furlong rec) COMP_CWORD=1 && _furlong furlong rec furlong && echo \"${COMPREPLY[@]}\"";
    let mut bash = place.program("bash");
    bash.args(["-c", script]);
    assert_eq!(place.finish(&mut bash).expect_code(0).stdout, "recommend\n");
}

#[test]
fn every_verb_has_a_page() {
    let place = Place::new();
    let page = place.run(["man"]).expect_code(0).stdout;
    assert!(page.contains(".TH furlong 1") && page.contains("furlong\\-recommend(1)"), "{page}");
    let page = place.run(["man", "recommend"]).expect_code(0).stdout;
    assert!(page.contains("furlong\\-recommend") && page.contains("Exit statuses"), "{page}");
    let folder = place.path("man1");
    place.run(["man", "--all", "-o", folder.to_str().unwrap()]).expect_code(0);
    let mut pages: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|page| page.file_name()).collect();
    pages.sort();
    assert!(
        pages.contains(&"furlong-driver.1".into()) && pages.contains(&"furlong-driver-log.1".into()),
        "{pages:?}"
    );
    assert!(pages.len() >= 12 && pages.contains(&"furlong-run.1".into()), "{pages:?}");
    let output = place.run(["man", "fly"]).expect_code(2);
    assert!(output.stderr.contains("unknown command 'fly'"), "{}", output.stderr);
}
