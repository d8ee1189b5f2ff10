//! `cargo xtask channel prove`: what takes too long, or needs the library compiled in another way, to be a part of
//! `cargo test --release -p furlong-channel`.

pub mod install;
pub mod packages;

use crate::root;
use crate::target::target;
use anyhow::{Context, bail, ensure};
use packages::{CHECKS, InstalledPackages};
use std::process::Command;
use std::time::Instant;

/// A build configuration of the library and its tests.
struct Build {
    /// Name of the build and of its target directory.
    name: &'static str,
    /// Compiler flags.
    flags: &'static str,
    /// Arguments of `cargo`.
    arguments: &'static [&'static str],
}

/// The tests as CI has built them: with fewer packages, cargo would compile their dependencies again.
const USUAL: Build = Build { name: "usual", flags: "", arguments: &["test", "--release", "--workspace"] };
/// A separate package, because its dependencies take longer to compile than the library and its tests.
const ASYNC: Build = Build {
    name: "async",
    flags: "",
    arguments: &["test", "--manifest-path", "crates/channel/async/Cargo.toml"],
};
/// Loom explores the orders of threads, which takes long without optimisation.
const LOOM: Build = Build {
    name: "loom",
    flags: "--cfg loom",
    arguments: &[
        "test",
        "--release",
        "-p",
        "furlong-channel",
        "--features",
        "broadcast",
        "--config",
        "profile.release.opt-level=1",
    ],
};
/// All features, which no other build of the workspace compiles.
const FEATURES: Build = Build {
    name: "features",
    flags: "",
    arguments: &["test", "--release", "-p", "furlong-channel", "--all-features"],
};
const MIRI: Build = Build {
    name: "miri",
    flags: "--cfg in_one_process",
    arguments: &["+nightly", "miri", "test", "-p", "furlong-channel"],
};
/// Shares the build directory of MIRI.
const MIRI_C: Build = Build { arguments: &["+nightly", "miri", "test", "-p", "furlong-channel-c"], ..MIRI };
const CRASH_SWEEP: Build = Build {
    name: "crash-sweep",
    flags: "--cfg crash_sweep",
    arguments: &["test", "--release", "-p", "furlong-channel"],
};
const THREAD_SANITIZER: Build = Build {
    name: "thread-sanitizer",
    flags: "-Zsanitizer=thread --cfg in_one_process",
    arguments: &[
        "+nightly",
        "test",
        "-p",
        "furlong-channel",
        "-Zbuild-std",
        "--target",
        "x86_64-unknown-linux-gnu",
    ],
};

/// A test run and its description.
struct Proof {
    what: &'static str,
    build: Build,
    arguments: &'static [&'static str],
    /// Environment variable with its value.
    variable: Option<(&'static str, &'static str)>,
    /// Smallest amount of testing that includes this proof.
    from: Amount,
}

const PROOFS: [Proof; 15] = [
    Proof {
        what: "every order of two threads under loom, and each ordering omitted in turn",
        build: LOOM,
        arguments: &["--lib"],
        variable: None,
        from: Amount::Quick,
    },
    Proof {
        what: "a process killed at each store to shared memory",
        build: CRASH_SWEEP,
        arguments: &["--test", "crash", "--", "--nocapture"],
        variable: None,
        from: Amount::Quick,
    },
    Proof {
        what: "a peer that overwrites shared memory, for 15 seconds",
        build: USUAL,
        arguments: &["--test", "hostile", "scrib"],
        variable: Some(("CHANNEL_SECONDS", "5")),
        from: Amount::Quick,
    },
    Proof {
        what: "a malicious peer, forks, signals, full backlogs, short timeouts, panics and other files at a path",
        build: USUAL,
        arguments: &["--test", "edges"],
        variable: None,
        from: Amount::Quick,
    },
    Proof {
        what: "broadcasts and inboxes: order, deaths, forks, closes, malicious peers",
        build: FEATURES,
        arguments: &["--test", "shared"],
        variable: None,
        from: Amount::Quick,
    },
    Proof {
        what: "the examples in the documentation of all features",
        build: FEATURES,
        arguments: &["--doc"],
        variable: None,
        from: Amount::Quick,
    },
    Proof {
        what: "futures of tokio under load, and the examples with mio and tokio",
        build: ASYNC,
        arguments: &["--locked"],
        variable: None,
        from: Amount::Quick,
    },
    Proof {
        what: "a peer that overwrites shared memory, for a minute",
        build: USUAL,
        arguments: &["--test", "hostile", "scrib"],
        variable: Some(("CHANNEL_SECONDS", "20")),
        from: Amount::Usual,
    },
    Proof {
        what: "two threads under miri, with 16 seeds",
        build: MIRI,
        arguments: &["--lib", "two_threads"],
        variable: Some(("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-many-seeds=0..16")),
        from: Amount::Usual,
    },
    Proof {
        what: "every test in one process under miri",
        build: MIRI,
        arguments: &["--lib", "--test", "one_process"],
        variable: Some(("MIRIFLAGS", "-Zmiri-disable-isolation")),
        from: Amount::Usual,
    },
    Proof {
        what: "the functions for C under miri",
        build: MIRI_C,
        arguments: &["--lib"],
        variable: Some(("MIRIFLAGS", "-Zmiri-disable-isolation")),
        from: Amount::Usual,
    },
    Proof {
        what: "every test in one process under ThreadSanitizer",
        build: THREAD_SANITIZER,
        arguments: &["--lib", "--test", "one_process"],
        variable: None,
        from: Amount::Usual,
    },
    Proof {
        what: "a process killed 1000 times at random",
        build: USUAL,
        arguments: &["--test", "processes", "killed_at"],
        variable: Some(("CHANNEL_KILLS", "1000")),
        from: Amount::Usual,
    },
    Proof {
        what: "8 GiB through each size",
        build: USUAL,
        arguments: &["--test", "volume", "--", "--ignored", "--nocapture"],
        variable: Some(("CHANNEL_GIB", "8")),
        from: Amount::Usual,
    },
    Proof {
        what: "a peer that overwrites shared memory, for an hour: 20 minutes for each wait strategy",
        build: USUAL,
        arguments: &["--test", "hostile", "scrib"],
        variable: Some(("CHANNEL_SECONDS", "1200")),
        from: Amount::Long,
    },
];

/// Amount of proofs to run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Amount {
    /// Proofs that take about a minute in total.
    Quick,
    /// All proofs except for the one that takes an hour.
    Usual,
    /// All proofs.
    Long,
}

/// Which proofs of an amount are run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    All,
    /// The proofs under loom, which use one CPU for most of a minute.
    Loom,
    /// All proofs but those under loom.
    WithoutLoom,
}

impl Part {
    fn has(self, build: &Build) -> bool {
        match self {
            Part::All => true,
            Part::Loom => build.name == LOOM.name,
            Part::WithoutLoom => build.name != LOOM.name,
        }
    }
}

/// Runs the proofs and returns how many passed. Proofs that need a missing component of the nightly toolchain are skipped, and a line
/// reports that.
///
/// # Errors
/// Returns an error with the number of proofs that failed.
pub fn prove(amount: Amount, part: Part) -> anyhow::Result<usize> {
    let has_miri = starts(&["+nightly", "miri", "--version"]);
    let mut results = Results::default();
    for proof in PROOFS.iter().filter(|proof| proof.from <= amount && part.has(&proof.build)) {
        let is_nightly = proof.build.arguments.contains(&"+nightly");
        if is_nightly && !has_miri {
            let line = "SKIPPED (rustup toolchain install nightly --component miri,rust-src)";
            results.lines.push(format!("{line}: {}", proof.what));
            continue;
        }
        results.note(proof.what, || run(proof));
    }
    if part != Part::Loom {
        results.check_packages();
    }
    results.print()
}

/// Installs the packages for C and Python and checks them, without the proofs.
///
/// # Errors
/// Returns an error with the number of checks that failed.
pub fn check_packages() -> anyhow::Result<()> {
    let mut results = Results::default();
    results.check_packages();
    results.print().map(drop)
}

/// The results of proofs.
#[derive(Default)]
struct Results {
    lines: Vec<String>,
    proven: usize,
    failed: usize,
}

impl Results {
    /// Runs a proof, and records its result and its time.
    fn note(&mut self, what: &str, prove: impl FnOnce() -> anyhow::Result<()>) {
        let begin = Instant::now();
        let result = prove();
        if let Err(error) = &result {
            println!("xtask: {what}: {error:#}");
        }
        self.proven += usize::from(result.is_ok());
        self.failed += usize::from(result.is_err());
        let word = if result.is_ok() { "passed" } else { "FAILED" };
        self.lines.push(format!("{word} in {:4} s: {what}", begin.elapsed().as_secs()));
    }

    fn check_packages(&mut self) {
        let mut installed = None;
        self.note("packages for C and Python are built and installed", || {
            installed = Some(InstalledPackages::new()?);
            Ok(())
        });
        for check in CHECKS {
            let Some(installed) = &installed else { break };
            println!("\nxtask: {}", check.what);
            self.note(check.what, || (check.check)(installed));
        }
    }

    /// Prints the results, and returns how many proofs passed if none failed.
    fn print(self) -> anyhow::Result<usize> {
        println!("\nxtask: proofs of furlong-channel\n{}", self.lines.join("\n"));
        if self.failed > 0 {
            bail!("{} of {} proofs failed", self.failed, self.lines.len());
        }
        Ok(self.proven)
    }
}

fn starts(arguments: &[&str]) -> bool {
    Command::new("cargo").args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Runs a proof.
fn run(proof: &Proof) -> anyhow::Result<()> {
    let Build { name, flags, arguments } = proof.build;
    let mut command = Command::new("cargo");
    command.current_dir(root()).args(arguments);
    if name != USUAL.name {
        // A separate target directory, because builds with other flags would overwrite those without.
        command.arg("--target-dir").arg(target()?.join("channel").join(name));
    }
    if !flags.is_empty() {
        command.env("RUSTFLAGS", flags);
    }
    command.args(proof.arguments).envs(proof.variable);
    println!("\nxtask: {}", proof.what);
    let status = command.status().context("cannot start cargo")?;
    ensure!(status.success(), "cargo ended with {status}");
    Ok(())
}
