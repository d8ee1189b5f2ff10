//! Development tasks beyond `cargo build` and `cargo test`. For example, `cargo xtask ci` runs all checks, and
//! `cargo xtask book` builds the book. `cargo xtask` without arguments lists all tasks.
#![forbid(unsafe_code)]

mod adapters;
mod arm;
mod book;
mod channel;
mod ci;
mod command;
mod consistency;
mod control_groups;
mod dist;
mod faults;
mod fuzz;
mod hosts;
mod new_mechanism;
mod observe;
mod sysroot;
mod target;
mod tool;
mod until;
mod windows;

use anyhow::Result;
use furlong_driver_harness as driver;
use std::process::ExitCode;

const USAGE: &str = "cargo xtask ci [--root]            format, lint, test, and the README's first command; with --root also the kernel
                                   module, two hosts, and the tests as an ordinary user
cargo xtask new-mechanism KIND NAME
                                   write a working mechanism to be changed, and add it to the list
                                   (KIND: streams, datagrams, queues, notifications, memory)
cargo xtask adapters test [NAME…]  install the adapters of this repository, and check their claims (installs the
                                   Debian packages that they need, as root)
cargo xtask book                   build the book of docs/ with mdBook, and follow its links
cargo xtask book --pictures        measure and draw docs/pictures first
cargo xtask consistency [FILE…]     search the printed text of saved runs for contradictions, or of the corpus if no
                                   file is named; --program PATH checks another furlong, --fresh [NAME…] measures first,
                                   --record [NAME…] records the corpus again
cargo xtask dist                   build the release files in target/dist: an archive, a package for Debian, an
                                   image for containers, a wheel, a list of their contents, and checksums
cargo xtask dist --check           build them twice, compare the bytes, and measure with each (as root)
cargo xtask faults [--only D1,R*] [--mechanism GLOB] [--quick] [--write]
                                   inject every fault into every benchmark, and print the matrix; --write writes docs/faults.md
cargo xtask soak --for 30m [--seed N]
                                   random runs with random faults, next to one long run: prints failures with their seeds, and growth
cargo xtask fuzz --for 10m [--only TARGET] [--seed N] [--keep]
                                   run the readers of files and protocols under libFuzzer; --keep copies inputs that reach new
                                   code into fuzz/corpus
cargo xtask fuzz --only TARGET --input FILE
                                   run one input, such as one that failed
cargo xtask hostile SEED [--by-line]
                                   damage standard input like the hostile files of faults; the result depends only on the seed
cargo xtask channel prove [--quick | --loom | --long]
                                   test furlong-channel under loom, miri and ThreadSanitizer, against kills, crashes at each store
                                   and a hostile process; --quick takes a minute, --long is hostile for an hour
cargo xtask channel install --prefix DIR
                                   install it for C: header, libraries, and a file for pkg-config
cargo xtask channel wheel DIR      write the wheel for Python there
cargo xtask channel packages       install both in target/channel/packages, and test them there
cargo xtask driver test            build the kernel module, and test it in an emulated machine
cargo xtask driver build           build it without a warning of gcc or sparse
cargo xtask driver check           build it, and run checkpatch.pl (fetches 140 MB once)
cargo xtask driver speed           count its instructions in an emulated machine only
cargo xtask driver debug           test it under a kernel that checks memory and locks (builds the kernel first)
cargo xtask windows build          compile furlong for Windows
cargo xtask windows build-tests    compile the tests that the next command runs
cargo xtask windows test           test it under Wine
cargo xtask windows run -- ARGS    run it under Wine
cargo xtask arm build              compile furlong for 64-bit ARM (aarch64)
cargo xtask arm test               run benchmarks with it in emulation
cargo xtask arm run -- ARGS        run it in emulation
cargo xtask hosts test [--quick]   measure between two hosts, each a network namespace with its own sshd: losses, delays, cut links,
                                   and, but for --quick, fleets by Ansible and Slurm, and a pod's command (as root)
cargo xtask observe test [--quick] check the reports of furlong observe about its own benchmarks and other programs, kill it at random
                                   moments, and, but for --quick, measure its overhead (as root)
cargo xtask check-platforms        type-check the portable crates for macOS and FreeBSD

As root, the commands for the driver, Windows, ARM, the platforms, the hosts and observe install missing Debian packages. Otherwise they list them.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some(result) = chore(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a task. Returns `None` if the arguments name no task.
fn chore(words: &[&str]) -> Option<Result<()>> {
    Some(match words {
        ["ci"] => ci::run(false),
        ["ci", "--root"] => ci::run(true),
        ["new-mechanism", kind, name] => new_mechanism::write(&root(), kind, name),
        ["adapters", "test", names @ ..] => adapters::test(names).map(drop),
        ["book"] => book::build(),
        ["book", "--pictures"] => book::draw().and_then(|()| book::build()),
        ["consistency", words @ ..] => consistency(words),
        ["dist"] => dist::make(),
        ["dist", "--check"] => dist::check(),
        ["faults", options @ ..] => faults::Options::of(options).and_then(|options| faults::run(&options)),
        ["soak", options @ ..] => faults::soak::Soak::of(options).and_then(|soak| faults::soak::run(&soak)),
        ["fuzz", options @ ..] => {
            fuzz::Options::of(options).and_then(|options| fuzz::run(&options)).map(drop)
        }
        ["hostile", seed, by_line @ ..] => faults::hostile(seed, by_line == ["--by-line"]),
        ["channel", words @ ..] => return run_channel_step(words),
        ["driver", step] => return run_driver_step(step),
        ["windows" | "arm" | "hosts" | "observe" | "check-platforms", ..] => return run_machine_step(words),
        _ => return None,
    })
}

fn consistency(words: &[&str]) -> Result<()> {
    match words {
        ["--record", only @ ..] => consistency::record(only),
        ["--fresh", only @ ..] => consistency::measure(only),
        ["--program", program, files @ ..] => consistency::check(Some(program), files),
        files => consistency::check(None, files),
    }
}

fn run_channel_step(words: &[&str]) -> Option<Result<()>> {
    Some(match words {
        ["prove"] => channel::prove(channel::Amount::Usual, channel::Part::All).map(drop),
        ["prove", "--quick"] => channel::prove(channel::Amount::Quick, channel::Part::All).map(drop),
        ["prove", "--loom"] => channel::prove(channel::Amount::Quick, channel::Part::Loom).map(drop),
        ["prove", "--long"] => channel::prove(channel::Amount::Long, channel::Part::All).map(drop),
        ["install", "--prefix", prefix] => channel::install::install(prefix.as_ref()),
        ["wheel", folder] => channel::packages::wheel(folder.as_ref()).map(drop),
        ["packages"] => channel::check_packages(),
        _ => return None,
    })
}

fn run_driver_step(step: &str) -> Option<Result<()>> {
    Some(match step {
        "test" => driver::test().map(drop),
        "build" => driver::build(),
        "check" => driver::check(),
        "speed" => driver::speed().map(drop),
        "debug" => driver::debug().map(drop),
        _ => return None,
    })
}

/// Runs a task of other platforms, of emulated machines, or of two hosts.
fn run_machine_step(words: &[&str]) -> Option<Result<()>> {
    Some(match words {
        ["windows", "build"] => windows::build(),
        ["windows", "build-tests"] => windows::build_tests().map(drop),
        ["windows", "test"] => windows::build_tests().and_then(windows::test).map(drop),
        ["windows", "run", "--", arguments @ ..] => windows::run(arguments),
        ["arm", "build"] => arm::build(),
        ["arm", "test"] => arm::test(),
        ["arm", "run", "--", arguments @ ..] => arm::run(arguments),
        ["hosts", "test"] => hosts::test(hosts::Amount::All),
        ["hosts", "test", "--quick"] => hosts::test(hosts::Amount::Quick),
        ["hosts", "inside"] => hosts::inside(hosts::Amount::All),
        ["hosts", "inside", "--quick"] => hosts::inside(hosts::Amount::Quick),
        ["observe", "test"] => observe::test(observe::Amount::All),
        ["observe", "test", "--quick"] => observe::test(observe::Amount::Quick),
        ["observe", "inside"] => observe::inside(observe::Amount::All),
        ["observe", "inside", "--quick"] => observe::inside(observe::Amount::Quick),
        ["check-platforms"] => windows::check_platforms(),
        _ => return None,
    })
}

/// Returns the root of the repository.
fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Into::into).unwrap_or_default()
}
