//! The book's pictures, which furlong draws itself, and the book where mdBook is installed.

use crate::command::succeed;
use crate::root;
use crate::target::target;
use anyhow::Context;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A run that is drawn: what is measured, and which of its charts are kept under which name.
struct Drawn {
    run: &'static [&'static str],
    charts: &'static [(&'static str, &'static str)],
}

const DRAWN: [Drawn; 2] = [
    Drawn {
        run: &[],
        charts: &[
            ("ranking-same-core-sleeping-128b", "ranking-one-core"),
            ("ranking-other-core-sleeping-128b", "ranking-two-cores"),
            ("cpu-and-latency-round-trip-128b-messages", "processor-time"),
        ],
    },
    Drawn {
        run: &[
            "pipe",
            "unix-stream",
            "posix-mq",
            "posix-shm",
            "-m",
            "one-way",
            "-s",
            "64..1MiB:x4",
            "--trials",
            "5",
        ],
        charts: &[("throughput-by-size-one-way-two-cores-sleeping-until-woken", "throughput")],
    },
];

/// Measures, writes `docs/pictures`, and builds the book into `target/book` if mdBook is there.
pub fn make() -> anyhow::Result<()> {
    succeed(Command::new("cargo").args(["build", "--release", "--locked"]).current_dir(root()))?;
    let furlong = target()?.join("release/furlong");
    let folder = target()?.join("pictures");
    let _ = fs::remove_dir_all(&folder);
    for (number, drawn) in DRAWN.iter().enumerate() {
        draw(&furlong, &folder, &format!("picture-{number}"), drawn)?;
    }
    if Command::new("mdbook").arg("--version").output().is_err() {
        println!("xtask: mdbook is not installed, so the book is not built: cargo install mdbook");
        return Ok(());
    }
    succeed(Command::new("mdbook").arg("build").arg(root()))
}

fn draw(furlong: &Path, folder: &Path, name: &str, drawn: &Drawn) -> anyhow::Result<()> {
    // Runs of its own, so that no name is in use.
    let furlong = |arguments: &[&str]| {
        let mut command = Command::new(furlong);
        succeed(command.args(arguments).env("XDG_DATA_HOME", folder.join("data")))
    };
    furlong(&[&["run"], drawn.run, &["--save", name]].concat())?;
    let [charts, page] = ["charts", "report.html"].map(|part| folder.join(part).display().to_string());
    furlong(&["report", name, "--charts", &charts, "-o", &page])?;
    let pictures = root().join("docs/pictures");
    fs::create_dir_all(&pictures).with_context(|| format!("cannot make {}", pictures.display()))?;
    for (chart, picture) in drawn.charts {
        let from = Path::new(&charts).join(format!("{name}-{chart}.svg"));
        let to = pictures.join(format!("{picture}.svg"));
        fs::copy(&from, &to)
            .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    }
    Ok(())
}
