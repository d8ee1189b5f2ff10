//! Runs of many hosts: their names, and the properties by which they are compared.

use crate::common::value::{at, list, text};
use crate::common::{FinishedCommand, Place, is_root, look_for};
use furlong_analysis::Run;
use furlong_fixture::comparison::TrialBuilder;
use furlong_fixture::fleet::{MadeHost, made};
use furlong_model::Record;
use furlong_testing::skip;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Writes a run in furlong's format.
fn write(file: &Path, records: &[Record]) {
    let lines: Vec<String> =
        records.iter().map(|record| serde_json::to_string(record).expect("JSON") + "\n").collect();
    write_text(file, &lines.concat());
}

fn write_text(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    fs::write(file, text).expect("a file");
}

/// Writes the fleet's runs, each in the directory of its host.
fn write_fleet(place: &Place, fleet: &[MadeHost]) {
    let mut trials = TrialBuilder::default();
    for host in fleet {
        write(
            &place.path(&format!("results/{}/run.jsonl", host.name)),
            &host.records(None, 1.0, &mut trials),
        );
    }
}

#[test]
fn folder_that_cannot_be_read_is_named() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::new();
    write_fleet(&place, &made(1, 60, 12));
    fs::set_permissions(place.path("results/node-0003"), PermissionsExt::from_mode(0o700))
        .expect("our own folder");
    let compare = |folder: &str| {
        place.finish(&mut place.furlong_as_nobody(["compare", "--by", "host", folder, "--format", "json"]))
    };
    let json = compare("results").expect_code(0).json();
    let [unused] = list(&json, "unused") else { panic!("{json:#}") };
    assert_eq!(text(unused, "run"), "results/node-0003");
    assert!(unused.to_string().contains("Permission denied"), "{json:#}");
    compare("results/node-0003")
        .expect_code(2)
        .expect_complaint("cannot read the directory results/node-0003: Perm");
    // Unreadable installed adapters are reported as well.
    let adapters = place.path("data/furlong/adapters");
    for (made, mode, named) in [("python", 0o700, "adapters/python"), ("", 0o700, "furlong/adapters: ")] {
        fs::create_dir_all(adapters.join("python")).expect("a folder");
        fs::set_permissions(adapters.join(made), PermissionsExt::from_mode(mode)).expect("our own folder");
        let refused = place.finish(&mut place.furlong_as_nobody(["list"]));
        assert!(refused.code != Some(0) && refused.stderr.contains(named), "{refused:#?}");
    }
}

#[test]
fn files_that_cannot_be_written_leave_no_folder() {
    let place = Place::new();
    // The file size limit acts like a full disk.
    let limited = |words: &[&str], bytes: u64| {
        let mut command = place.program("prlimit");
        place.finish(
            command.arg(format!("--fsize={bytes}:{bytes}")).arg(env!("CARGO_BIN_EXE_furlong")).args(words),
        )
    };
    for engine in ["ansible", "slurm", "kubernetes"] {
        let words = ["fleet", "init", engine, "fleet/new"];
        limited(&words, 900).expect_code(1).expect_complaint("cannot write fleet/new/");
        assert!(!place.path("fleet").exists(), "{engine}");
    }
    let words = ["recommend", "--size", "64", "--row", "tcp/block", "--emit", "c,python", "-o", "fleet/new"];
    limited(&words, 900).expect_code(1).expect_complaint("cannot write fleet/new/");
    assert!(!place.path("fleet").exists());
    limited(&["adapter", "new", "--lang", "python", "mine"], 900).expect_code(1);
    assert!(!place.path("mine").exists());
    let refused = limited(&["adapter", "install", "python"], 900).expect_code(1);
    assert!(refused.stdout.contains("python: not installed: "), "{refused:#?}");
    assert!(!place.path("data/furlong").exists());
    // Existing files stay unchanged.
    let header = place.path("data/furlong/adapters/cxx/adapter.hpp");
    write_text(&header, "older");
    limited(&["adapter", "install", "python"], 900).expect_code(1);
    let left = fs::read_dir(header.parent().expect("a folder")).expect("a folder").flatten();
    let beside: Vec<_> =
        left.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "new")).collect();
    assert!(beside.is_empty() && fs::read_to_string(&header).expect("a file") == "older", "{beside:?}");
}

#[test]
fn signal_ends_the_compiler_of_an_adapter_too() {
    let place = Place::new();
    let path = place.path_with("cc", "touch compiling; sleep 100");
    for (words, made) in [
        (&["adapter", "install", "c"][..], "data/furlong"),
        (&["adapter", "new", "--lang", "c", "mine"], "mine"),
    ] {
        let running = place.start(place.furlong(words.iter().copied()).env("PATH", &path));
        let folder = if made == "mine" { "mine" } else { "data/furlong/adapters/.c" };
        look_for(Duration::from_secs(30), || place.path(folder).join("compiling").exists().then_some(()))
            .expect("a compiler");
        running.signal(libc::SIGTERM);
        running.finish().expect_code(143);
        let left = || Some(place.processes()).filter(|left| !left.is_empty());
        assert!(
            look_for(Duration::from_secs(30), || left().is_none().then_some(())).is_some(),
            "{:?}",
            left()
        );
        assert!(!place.path(made).exists(), "{made}");
    }
}

fn by(place: &Place, what: &str, words: &[&str]) -> FinishedCommand {
    place.run(["compare", "--by", what, "results"].iter().chain(words).copied()).expect_no_panic()
}

#[test]
fn many_runs_are_read_from_folders_and_bad_files_are_named() {
    let place = Place::new();
    let fleet = made(1, 60, 12);
    write_fleet(&place, &fleet);
    let good = fs::read_to_string(place.path("results/node-0003/run.jsonl")).expect("a run");
    let bad = [
        ("newer.jsonl", "{\"record\":\"run\",\"schema\":99}\n".to_owned()),
        ("empty.jsonl", String::new()),
        ("two.jsonl", good.repeat(2)),
        ("hole.jsonl", good.replacen("\"record\":\"trial\"", "\"rec", 1)),
        ("hostile.jsonl", "[".repeat(100_000)),
        ("wine.jsonl", good.replacen("\"runtime\":\"native\"", "\"runtime\":\"wine-8.0\"", 1)),
    ];
    for (name, text) in &bad {
        fs::write(place.path("results").join(name), text).expect("a file");
    }
    place.finish(
        &mut place.shell("mkfifo results/pipe.jsonl; ln -s . results/loop; echo notes > results/notes.txt"),
    );
    let json = by(&place, "host", &["--format", "json"]).expect_code(0).json();
    assert_eq!((at(&json, "runs").as_u64(), at(&json, "hosts").as_u64()), (Some(60), Some(60)));
    let mut unused: Vec<_> = list(&json, "unused").iter().map(|run| text(run, "run").to_owned()).collect();
    unused.sort();
    let mut names: Vec<_> = bad
        .iter()
        .map(|(name, _)| *name)
        .chain(["pipe.jsonl"])
        .map(|name| format!("results/{name}"))
        .collect();
    names.sort();
    assert_eq!(unused, names);
    let table = by(&place, "host", &[]).expect_code(0).stdout;
    assert!(
        table.contains("60 runs of 60 hosts. 7 files were not used") && table.contains("schema 99"),
        "{table}"
    );
    let odd: Vec<_> = fleet.iter().filter(|host| host.odd.is_some()).collect();
    assert!(odd.iter().all(|host| table.contains(&host.name)), "{table}");
    // A file that is named twice counts once.
    by(&place, "host", &["results/node-0003/run.jsonl", "--format", "csv"]).expect_code(0);
}

#[test]
fn groups_stand_beside_each_other_and_nothing_is_faster_by_chance() {
    let place = Place::new();
    let mut trials = TrialBuilder::default();
    for host in made(5, 20, 4) {
        for (label, times) in [("before", 1.0), ("after", 1.2)] {
            let mut records = host.records(Some(label), times, &mut trials);
            if let (Record::Run(header), "after") = (&mut records[0], label) {
                header.started_unix_s += 60;
                header.machine.kernel = "6.19.0".to_owned();
            }
            write(&place.path(&format!("results/{label}-{}.jsonl", host.name)), &records);
        }
    }
    let json = by(&place, "label", &["--format", "json"]).expect_code(0).json();
    let names: Vec<_> = list(&json, "groups").iter().map(|group| text(group, "name").to_owned()).collect();
    assert_eq!(names, ["before", "after"]);
    let worse = |row: &&serde_json::Value| text(row, "verdict") == "worse";
    let rows: Vec<_> = list(&json, "changes").iter().filter(|row| text(row, "wait") != "eventfd").collect();
    assert!(rows.len() == 4 && rows.iter().all(worse), "{rows:#?}");
    // Rows that did not change are neither slower nor faster.
    assert_eq!(list(&json, "changes").iter().filter(worse).count(), 4);
    let table = by(&place, "label", &["--format", "markdown"]).expect_code(0).stdout;
    assert!(table.contains("after against before") && table.contains("the same 20"), "{table}");
    assert!(by(&place, "kernel", &[]).expect_code(0).stdout.contains("6.19.0 against "));
}

#[test]
fn a_page_shows_many_hosts_and_a_document_says_the_same() {
    let place = Place::new();
    write_fleet(&place, &made(1, 60, 12));
    fs::write(place.path("results/bad.jsonl"), "no run").expect("a file");
    let report =
        |words: &[&str]| place.run(["report", "--by", "host"].iter().chain(words).copied()).expect_no_panic();
    report(&["results", "-o", "fleet.html"]).expect_code(0);
    let page = fs::read_to_string(place.path("fleet.html")).expect("a page");
    assert!(page.contains("<h1>60 runs of 60 hosts</h1>") && page.contains("bad.jsonl"), "{page}");
    let document = report(&["results", "--format", "markdown"]).expect_code(0).stdout;
    assert_eq!(document, by(&place, "host", &["--format", "markdown"]).expect_code(0).stdout);
    // The page of a comparison by group shows the changes.
    place.run(["report", "--by", "kernel", "results", "-o", "kernels.html"]).expect_code(0);
    assert!(
        fs::read_to_string(place.path("kernels.html")).expect("a page").contains("Benchmarks over hosts")
    );
    report(&[]).expect_code(2);
    report(&["results", "--charts", "charts"]).expect_code(2);
    report(&["results/bad.jsonl", "-o", "bad.html"]).expect_code(6);
}

#[test]
fn what_cannot_be_compared_so_is_refused() {
    let place = Place::new();
    fs::create_dir_all(place.path("results/empty")).expect("a folder");
    by(&place, "host", &[]).expect_code(2);
    fs::write(place.path("results/bad.jsonl"), "no run").expect("a file");
    let nothing = by(&place, "host", &[]).expect_code(6);
    assert!(nothing.stdout.contains("results/bad.jsonl"), "{}", nothing.stdout);
    by(&place, "host", &["--format", "junit"]).expect_code(2);
    by(&place, "host", &["--fail-on", "regression"]).expect_code(2);
    by(&place, "mood", &[]).expect_code(2);
}

#[test]
fn files_for_each_engine_are_written_into_a_new_folder_alone() {
    let place = Place::new();
    for (engine, name) in [("ansible", "playbook.yml"), ("slurm", "fleet.sbatch"), ("kubernetes", "job.yaml")]
    {
        let said = place.run(["fleet", "init", engine, engine]).expect_code(0).stdout;
        assert!(place.path(engine).join(name).is_file() && said.contains(name), "{said}");
        let before = fs::read_to_string(place.path(engine).join(name)).expect("a file");
        let again = place.run(["fleet", "init", engine, engine]).expect_code(2);
        assert!(again.stderr.contains("not empty"), "{}", again.stderr);
        assert_eq!(fs::read_to_string(place.path(engine).join(name)).expect("a file"), before);
    }
    fs::create_dir(place.path("other")).expect("a folder");
    fs::write(place.path("other/notes"), "mine").expect("a file");
    place.run(["fleet", "init", "slurm", "other"]).expect_code(2);
    assert!(!place.path("other/measure.sh").exists());
    fs::write(place.path("file"), "").expect("a file");
    place.run(["fleet", "init", "slurm", "file"]).expect_code(1);
    place.run(["fleet", "init", "nomad", "new"]).expect_code(2);
}

/// Runs the script of a host with this program instead of furlong, which saves the arguments that it gets.
fn measure(place: &Place, host: &str, fake: &str) -> FinishedCommand {
    let program = format!(
        "#!/bin/sh\n{fake}\necho \"$1\" >> \"$HOME/calls\"\nmkdir -p \"$XDG_DATA_HOME/furlong/runs\"\n\
         case $1 in run) name=rows ;; costs) name=costs ;; *) echo fit; exit ;; esac\n\
         printf '%s\\n' \"$@\" > \"$XDG_DATA_HOME/furlong/runs/$name.jsonl\"\n"
    );
    fs::write(place.path("fake"), program).expect("a file");
    let script = "chmod +x fake; sh slurm/measure.sh";
    let mut command = place.shell(script);
    let lock = place.path("lock");
    command.env("FURLONG", place.path("fake")).env("HOST", host).env("LOCK", lock).env("LABEL", "before it");
    place.finish(&mut command)
}

#[test]
fn a_host_goes_on_where_it_was_interrupted() {
    let place = Place::new();
    place.run(["fleet", "init", "slurm", "slurm"]).expect_code(0);
    let calls = || fs::read_to_string(place.path("home/calls")).unwrap_or_default();
    // The third command stops the script.
    measure(&place, "node-1", "[ $1 != costs ] || exit 9").expect_code(9);
    assert_eq!(calls(), "doctor\nrun\n");
    let results = |name: &str| fs::read_to_string(place.path("results").join(name));
    let rows = results("node-1.rows.jsonl").expect("rows");
    assert!(rows.contains("--host=node-1\n") && rows.contains("--label=before it\n"), "{rows}");
    assert!(results("node-1.costs.jsonl").is_err());
    measure(&place, "node-1", "").expect_code(0);
    assert_eq!(calls(), "doctor\nrun\ncosts\n");
    measure(&place, "node-1", "exit 9").expect_code(0);
    let names: Vec<_> = fs::read_dir(place.path("results"))
        .expect("a folder")
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(fs::read_dir(place.path("tmp")).expect("a folder").count(), 0);
    for name in ["-o", "--help", "a b", "../x", "a/b", ""] {
        let refused = measure(&place, name, "");
        assert!(
            name.is_empty() || refused.stderr.contains("no name of a host"),
            "{name}: {}",
            refused.stderr
        );
        refused.expect_code(if name.is_empty() { 0 } else { 2 });
    }
}

#[test]
fn two_runs_never_share_a_host() {
    let place = Place::new();
    place.run(["fleet", "init", "slurm", "slurm"]).expect_code(0);
    let alone =
        "mkdir \"$HOME/busy\" || { touch \"$HOME/shared\"; exit 9; }; sleep 0.1; rmdir \"$HOME/busy\"";
    std::thread::scope(|scope| {
        let hosts = ["one", "two", "three"].map(|host| (host, &place));
        let started: Vec<_> =
            hosts.map(|(host, place)| scope.spawn(move || measure(place, host, alone).expect_code(0))).into();
        started.into_iter().for_each(|host| drop(host.join().expect("no panic")));
    });
    assert!(!place.path("home/shared").exists());
    assert_eq!(fs::read_dir(place.path("results")).expect("a folder").count(), 9);
}

#[test]
fn runs_are_read_where_no_thread_can_be_started() {
    if !is_root() {
        skip!("needs root");
    }
    let place = Place::new();
    write_fleet(&place, &made(1, 60, 12));
    // This copies furlong to a directory in which an unprivileged user may run it.
    drop(place.furlong_as_nobody([]));
    for words in [
        &["compare", "--by", "host", "results"][..],
        &["report", "--by", "host", "results", "--format", "markdown"],
    ] {
        let mut command = place.program("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit", "--nproc=1:1"]);
        command.arg(place.path("furlong")).args(words);
        place.finish(&mut command).expect_code(0);
    }
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;
    use std::time::Duration;

    /// Longer than each of these tests takes without optimisation.
    const LIMIT: Duration = Duration::from_secs(600);

    #[test]
    #[ignore = "slow"]
    fn the_script_measures_a_host_whose_files_can_be_compared() {
        let place = Place::alone();
        place.run(["fleet", "init", "slurm", "slurm"]).expect_code(0);
        // The time is shorter than in the template, so that the test ends soon.
        let script = r#"sed -i "s/--within 2min/--within 4s/" slurm/measure.sh; sh slurm/measure.sh"#;
        let mut command = place.shell(script);
        command
            .env("FURLONG", env!("CARGO_BIN_EXE_furlong"))
            .env("HOST", "node-1")
            .env("LOCK", place.path("lock"));
        place.start(&mut command).finish_within(LIMIT).expect_code(0);
        let json = by(&place, "host", &["--format", "json"]).expect_code(0).json();
        assert_eq!((at(&json, "runs").as_u64(), at(&json, "hosts").as_u64()), (Some(2), Some(1)));
    }

    /// Prints the total time and the maximum memory, without asserting limits.
    #[test]
    #[ignore = "slow"]
    fn hundreds_of_runs_of_sixty_rows_are_compared() {
        let place = Place::alone();
        const RUNS: usize = 250;
        let fleet = made(11, RUNS, 60);
        write_fleet(&place, &fleet);
        let began = Instant::now();
        let script = r#""$FURLONG" compare --by host results --format json > found.json &
            while grep -s VmHWM /proc/$!/status; do sleep 0.2; done | tail -n 1; wait $!"#;
        let running = place.start(&mut place.shell(script));
        let finished = running.finish_within(LIMIT).expect_code(0);
        println!("{RUNS} runs of 60 rows: {:?}, {}", began.elapsed(), finished.stdout.trim());
        let json = fs::read_to_string(place.path("found.json")).expect("a result");
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let found: Vec<_> =
            list(&json, "outliers").iter().map(|host| text(host, "host").to_owned()).collect();
        let odd = fleet.iter().filter(|host| host.odd.is_some());
        assert!(odd.clone().all(|host| found.contains(&host.name)) && found.len() == 5, "{found:?}");
    }
}

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

#[test]
fn runs_in_turn_have_one_verdict() {
    let place = Place::with_runs();
    let words = |names: &[&'static str]| {
        let names = names.iter().copied();
        ["compare"].into_iter().chain(names).chain(["--pairs", "--fail-on", "regression"]).collect::<Vec<_>>()
    };
    let few = place.run(words(&["before", "after"])).expect_code(4);
    // On a busy machine, a disturbed run is the reason instead.
    let is_said = |reason| few.stdout.contains(reason);
    assert!(is_said("too few runs") || is_said("on an unreliable machine"), "{few:?}");
    let odd = place.run(words(&["before", "after", "before"])).expect_code(2);
    odd.expect_complaint("--pairs needs an even number of runs");
    // Copies of a run are rejected.
    fs::copy(place.saved("before"), place.path("copy.jsonl")).expect("a copy");
    let copies = place.run(words(&["before", "after", "./copy.jsonl", "after"])).expect_code(2);
    copies.expect_complaint("are the same run");
}
