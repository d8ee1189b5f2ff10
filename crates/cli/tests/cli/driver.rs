//! `furlong driver` with and without a loaded driver: it reports the state, names a remedy for everything that is
//! missing, and changes nothing unless it is asked to.

use crate::common::value::{at, text};
use crate::common::{FinishedCommand, Place};
use furlong_testing::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Returns whether the driver is loaded. The output without it cannot be tested then.
fn is_loaded() -> bool {
    Path::new("/sys/module/furlong").exists()
}

/// Returns the relative paths of all files below a directory.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.iter().map(|path| path.strip_prefix(folder).expect("below it").to_owned()).collect()
}

/// Creates a directory of kernel headers whose makefile has this recipe.
fn headers(place: &Place, recipe: &str) -> String {
    let folder = place.path("headers");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("Makefile"), format!("clean:\nmodules:\n\t{recipe}\n")).expect("a makefile");
    folder.to_str().expect("text").to_owned()
}

#[test]
fn without_the_driver_status_says_why_and_what_would_help() {
    if is_loaded() {
        skip!("needs a kernel without the driver");
    }
    let place = Place::new();
    let shown = place.run(["driver", "status"]).expect_code(7).stdout;
    assert!(shown.starts_with("furlong's driver is not loaded: Linux "), "{shown}");
    assert!(shown.contains("\n    remedy: "), "{shown}");
    let value = place.run(["driver", "status", "--format", "json"]).expect_code(7).json();
    assert_eq!(at(&value, "usable"), false);
    assert_eq!(at(&value, "loaded"), &serde_json::Value::Null);
    for part in ["reason", "remedy"] {
        let words = text(&value, part);
        assert!(words.len() > 10 && shown.contains(words), "{part}: {value:#}");
    }
    let without_modules = !Path::new("/proc/modules").exists();
    assert_eq!(text(&value, "reason").contains("no /proc/modules"), without_modules, "{value:#}");
}

#[test]
fn without_the_driver_the_log_says_the_same() {
    if is_loaded() {
        skip!("needs a kernel without the driver");
    }
    let place = Place::new();
    let status = place.run(["driver", "status", "--format", "json"]).json();
    for options in [&["driver", "log"][..], &["driver", "log", "--bytes", "8", "--format", "json"]] {
        let finished = place.run(options.iter().copied()).expect_code(7);
        assert_eq!(finished.stdout, "");
        let finished = finished.expect_complaint(text(&status, "reason"));
        finished.expect_complaint(text(&status, "remedy"));
    }
}

#[test]
fn the_source_is_that_of_the_repository() {
    let place = Place::new();
    let finished = place.run(["driver", "build", "--source-only", "--into", "here/driver"]).expect_code(0);
    let folder = place.path("here/driver");
    assert_eq!(finished.stdout, format!("{}\n", folder.display()));
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../driver");
    let written = files(&folder);
    assert!(written.len() >= 11, "{written:?}");
    for name in &written {
        assert_eq!(
            fs::read(folder.join(name)).unwrap(),
            fs::read(repository.join(name)).unwrap(),
            "{name:?}"
        );
    }
    for name in ["include/uapi/linux/furlong.h", "Kbuild", "Makefile", "dkms.conf", "udev/60-furlong.rules"] {
        assert!(written.contains(&name.into()), "no {name} in {written:?}");
    }
    // Without a directory, the source goes to furlong's data directory and replaces an older copy.
    for _ in 0..2 {
        let path = place.run(["driver", "build", "--source-only"]).expect_code(0).stdout;
        assert!(path.starts_with(place.path("data/furlong/driver").to_str().unwrap()), "{path}");
        assert_eq!(files(Path::new(path.trim_end())).len(), written.len());
    }
}

#[test]
fn a_build_that_fails_shows_what_was_said() {
    let place = Place::new();
    let headers = headers(&place, "@echo compiler output; echo the reason >&2; exit 3");
    let finished = build(&place, &headers, &[]).expect_code(1);
    assert_eq!(finished.stdout, "");
    for words in ["cannot compile ", "    compiler output", "    the reason", &headers] {
        assert!(finished.stderr.contains(words), "no '{words}' in {finished:#?}");
    }
    // The output was already shown during the build, so it is not repeated at the end.
    let finished = build(&place, &headers, &["--verbose"]).expect_code(1);
    assert_eq!((finished.stderr.matches("the reason").count(), finished.stdout.as_str()), (1, ""));
}

#[test]
fn what_make_makes_is_printed_and_what_it_does_not_make_is_said() {
    let place = Place::new();
    let headers = headers(&place, "@echo much; test -f $(M)/main.c; : > $(M)/furlong.ko");
    let finished = build(&place, &headers, &[]).expect_code(0);
    assert_eq!(finished.stdout, format!("{}\n", place.path("built/furlong.ko").display()));
    assert_eq!(finished.stderr, "");
    fs::remove_file(place.path("built/furlong.ko")).unwrap();
    let headers = self::headers(&place, "@true");
    build(&place, &headers, &[]).expect_code(1).expect_complaint("did not create ");
}

/// Builds with these headers into the directory `built`.
fn build(place: &Place, headers: &str, more: &[&str]) -> FinishedCommand {
    let words = ["driver", "build", "--into", "built", "--headers", headers];
    place.run(words.iter().chain(more).copied())
}

#[test]
fn what_a_build_needs_is_named() {
    let place = Place::new();
    let finished = place.run(["driver", "build", "--kernel", "9.9.9-none"]).expect_code(7);
    for words in [
        "the headers of Linux 9.9.9-none",
        "/lib/modules/9.9.9-none/build",
        "apt install linux-headers-9.9.9-none",
    ] {
        assert!(finished.stderr.contains(words), "no '{words}' in {finished:#?}");
    }
    let mut command = place.furlong(["driver", "build", "--headers", "out"]);
    place.finish(&mut command).expect_code(7).expect_complaint("no Makefile");
    // Root's own program directories are searched as well, but they contain no compiler.
    let mut command = place.furlong(["driver", "build", "--headers", &headers(&place, "true")]);
    let finished = place.finish(command.env("PATH", "/nonexistent")).expect_code(7);
    finished.expect_complaint("the program gcc").expect_complaint("apt install make gcc");
    place.run(["driver", "build", "--kernel", "x", "--headers", "y"]).expect_code(2);
    assert!(!place.path("data/furlong").exists(), "nothing is written where nothing can be built");
}

#[test]
fn a_dry_run_lists_the_steps_and_does_nothing() {
    let place = Place::new();
    let before = [files(&place.path("home")), files(&place.path("data"))];
    let looked = || {
        ["/etc/udev/rules.d/60-furlong.rules", "/var/lib/dkms/furlong"].map(|path| Path::new(path).exists())
    };
    let there = looked();
    let finished =
        place.run(["driver", "install", "--dry-run", "--group", "--kernel", "9.9.9-none"]).expect_code(7);
    let steps: Vec<_> = finished.stdout.lines().collect();
    assert!(steps.iter().any(|step| step.starts_with("furlong driver build ")), "{steps:#?}");
    assert!(steps.iter().any(|step| step.starts_with("install -D -m 644 /usr/src/furlong-")), "{steps:#?}");
    assert!(steps.iter().any(|step| step.contains("9.9.9-none")), "{steps:#?}");
    assert!(!steps.iter().any(|step| step.starts_with("modprobe")), "that kernel does not run: {steps:#?}");
    finished.expect_complaint("the driver cannot be built: missing the headers of Linux 9.9.9-none");
    let running = place.run(["driver", "install", "--dry-run"]);
    assert!(running.stdout.ends_with("modprobe furlong\n"), "{running:#?}");
    // If the kernel cannot load modules, headers do not help.
    if !Path::new("/proc/modules").exists() {
        let running = running.expect_code(7).expect_complaint("was built without support for modules");
        assert!(!running.stderr.contains("headers"), "{running:#?}");
    }
    place.run(["driver", "remove", "--dry-run", "--group"]).expect_code(0);
    assert_eq!((before, there), ([files(&place.path("home")), files(&place.path("data"))], looked()));
}

#[test]
fn only_root_may_install_or_remove() {
    let place = Place::new();
    let is_root = furlong_os::identity::is_administrator();
    let as_ordinary = |words: &[&str]| {
        let mut command = match is_root {
            true => place.furlong_as_nobody(words.iter().copied()),
            false => place.furlong(words.iter().copied()),
        };
        place.finish(&mut command)
    };
    let words = ["driver", "install", "--group", "--kernel", "9.9.9-none"];
    let finished = as_ordinary(&words).expect_code(7);
    assert_eq!(finished.stdout, "");
    let remedy = "remedy: sudo furlong driver install --group --kernel 9.9.9-none";
    finished.expect_complaint("only root can install the driver").expect_complaint(remedy);
    // Root's attempt fails before the first step if it cannot succeed.
    if is_root {
        let finished = place.run(words).expect_code(7).expect_complaint("the headers of Linux 9.9.9-none");
        assert_eq!(finished.stdout, "");
    }
}

#[test]
fn what_is_typed_wrong_is_refused() {
    let place = Place::new();
    for words in [
        &["driver"][..],
        &["driver", "go"],
        &["driver", "status", "--format", "csv"],
        &["driver", "log", "--bytes", "65"],
        &["driver", "log", "--channel", "16"],
        &["driver", "log", "--lines", "0"],
        &["driver", "log", "--for", "5"],
        &["driver", "build", "--source-only", "--verbose"],
    ] {
        let finished = place.run(words.iter().copied()).expect_code(2);
        assert_eq!(finished.stdout, "", "{words:?}");
    }
    let finished =
        place.run(["driver", "build", "--into", "with space", "--headers", &headers(&place, "true")]);
    finished.expect_code(2).expect_complaint("contains a space or a colon");
}

/// Slow tests, which run only on request.
mod slow {
    use super::*;

    #[test]
    #[ignore = "slow"]
    fn it_is_built_for_a_kernel_whose_headers_are_here() {
        let place = Place::new();
        let found =
            fs::read_dir("/usr/src").into_iter().flatten().flatten().map(|entry| entry.path()).find(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                name.starts_with("linux-headers-") && path.join("Module.symvers").is_file()
            });
        let Some(headers) = found else {
            skip!("needs kernel headers");
        };
        let words = ["driver", "build", "--into", "built", "--headers", headers.to_str().expect("text")];
        let finished =
            place.start(&mut place.furlong(words)).finish_within(Duration::from_secs(300)).expect_code(0);
        let module = fs::read(finished.stdout.trim_end()).expect("a module");
        assert!(module.starts_with(b"\x7fELF"));
        let release = headers.file_name().unwrap().to_str().unwrap().trim_start_matches("linux-headers-");
        let made_for = format!("vermagic={release} ");
        assert!(module.windows(made_for.len()).any(|window| window == made_for.as_bytes()), "not {made_for}");
    }
}
