//! The book's pictures, which furlong draws itself, and the book, which mdBook makes.

use crate::command::succeed;
use crate::driver::step;
use crate::root;
use crate::target::target;
use crate::tool::BOOK;
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A run that is drawn: how it is measured, and which of its charts are kept under which name.
struct DrawnRun {
    arguments: &'static str,
    charts: &'static [(&'static str, &'static str)],
}

const DRAWN: [DrawnRun; 2] = [
    DrawnRun {
        arguments: "",
        charts: &[
            ("ranking-same-core-sleeping-128b", "ranking-one-core"),
            ("ranking-other-core-sleeping-128b", "ranking-two-cores"),
            ("cpu-and-latency-round-trip-128b-messages-two-cores", "processor-time"),
        ],
    },
    DrawnRun {
        arguments: "run pipe unix-stream posix-mq posix-shm -m one-way -s 64..1MiB:x4 --trials 5",
        charts: &[("throughput-by-size", "throughput")],
    },
];

/// Measures, and writes `docs/pictures`.
///
/// # Errors
/// Returns an error if a build, a measurement or a write failed.
pub fn draw() -> anyhow::Result<()> {
    succeed(Command::new("cargo").args(["build", "--release", "--locked"]).current_dir(root()))?;
    let furlong = target()?.join("release/furlong");
    let folder = target()?.join("pictures");
    DRAWN.iter().try_for_each(|drawn| draw_run(&furlong, &folder, drawn))
}

/// Builds the book into `target/book`, and checks that mdBook prints no warning and that every link leads to a page.
///
/// # Errors
/// Returns the output of mdBook, or the broken links.
pub fn build() -> anyhow::Result<()> {
    let folder = target()?.join("book");
    let mut mdbook = BOOK.command()?;
    let said = step::output(mdbook.arg("build").arg("--dest-dir").arg(&folder))?.stderr;
    let said = String::from_utf8_lossy(&said);
    ensure!(!said.contains("WARN") && !said.contains("ERROR"), "mdBook reports problems:\n{said}");
    let lost = lost_links(&folder)?;
    ensure!(lost.is_empty(), "these links are broken:\n{}", lost.join("\n"));
    println!("{}", folder.join("index.html").display());
    Ok(())
}

/// Returns the links of a directory's pages to missing files or headings, each with its page.
fn lost_links(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut lost = Vec::new();
    for page in pages(folder)? {
        let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
        for link in text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            if file.contains(':') {
                continue;
            }
            let to = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let is_there = heading.is_empty()
                || fs::read_to_string(&to).is_ok_and(|text| text.contains(&format!("id=\"{heading}\"")));
            if !to.exists() || !is_there {
                lost.push(format!("{}: {link}", page.display()));
            }
        }
    }
    Ok(lost)
}

/// Returns all pages below a directory.
fn pages(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(pages(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "html") {
            found.push(path);
        }
    }
    Ok(found)
}

fn draw_run(furlong: &Path, folder: &Path, drawn: &DrawnRun) -> anyhow::Result<()> {
    let _ = fs::remove_dir_all(folder);
    // A separate data directory, so that `@last` is this run.
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
        // The run's name precedes the chart name, and long names are cut off.
        let is_it = |path: &&PathBuf| path.to_string_lossy().contains(&format!("-{chart}"));
        let from = found.iter().find(is_it).with_context(|| format!("{charts} has no chart {chart}"))?;
        let to = pictures.join(format!("{picture}.svg"));
        fs::copy(from, &to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    }
    Ok(())
}
