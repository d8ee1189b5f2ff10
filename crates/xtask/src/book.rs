//! The book's pictures, which furlong draws itself, and the book where mdBook is installed.

use crate::command::succeed;
use crate::root;
use crate::target::target;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A run that is drawn: how it is measured, and which of its charts are kept under which name.
struct Drawn {
    arguments: &'static str,
    charts: &'static [(&'static str, &'static str)],
}

const DRAWN: [Drawn; 2] = [
    Drawn {
        arguments: "",
        charts: &[
            ("ranking-same-core-sleeping-128b", "ranking-one-core"),
            ("ranking-other-core-sleeping-128b", "ranking-two-cores"),
            ("cpu-and-latency-round-trip-128b-messages", "processor-time"),
        ],
    },
    Drawn {
        arguments: "run pipe unix-stream posix-mq posix-shm -m one-way -s 64..1MiB:x4 --trials 5",
        charts: &[("throughput-by-size", "throughput")],
    },
];

/// Measures, writes `docs/pictures`, and builds the book into `target/book` if mdBook is there.
pub fn make() -> anyhow::Result<()> {
    succeed(Command::new("cargo").args(["build", "--release", "--locked"]).current_dir(root()))?;
    let furlong = target()?.join("release/furlong");
    let folder = target()?.join("pictures");
    for drawn in &DRAWN {
        draw(&furlong, &folder, drawn)?;
    }
    if Command::new("mdbook").arg("--version").output().is_err() {
        println!("xtask: mdbook is not installed, so the book is not built: cargo install mdbook");
        return Ok(());
    }
    succeed(Command::new("mdbook").arg("build").arg(root()))
}

fn draw(furlong: &Path, folder: &Path, drawn: &Drawn) -> anyhow::Result<()> {
    let _ = fs::remove_dir_all(folder);
    // Runs of its own, of which this is the last.
    let furlong = |arguments: &[&str]| {
        let mut command = Command::new(furlong);
        succeed(command.args(arguments).env("XDG_DATA_HOME", folder.join("data")))
    };
    furlong(&drawn.arguments.split_whitespace().collect::<Vec<_>>())?;
    let [charts, page] = ["charts", "report.html"].map(|part| folder.join(part).display().to_string());
    furlong(&["report", "@last", "--charts", &charts, "-o", &page])?;
    let pictures = root().join("docs/pictures");
    fs::create_dir_all(&pictures).with_context(|| format!("cannot make {}", pictures.display()))?;
    let found = fs::read_dir(&charts).with_context(|| format!("cannot read {charts}"))?;
    let found: Vec<_> = found.flatten().map(|entry| entry.path()).collect();
    for (chart, picture) in drawn.charts {
        // Before it stands the run's name, and long names are cut off.
        let is_it = |path: &&PathBuf| path.to_string_lossy().contains(&format!("-{chart}"));
        let from = found.iter().find(is_it).with_context(|| format!("{charts} has no chart {chart}"))?;
        let to = pictures.join(format!("{picture}.svg"));
        fs::copy(from, &to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    }
    Ok(())
}
