//! `cargo xtask observe test`: checks the reports of `furlong observe` against known traffic, tests that observed programs are not
//! changed, and measures the overhead. Everything runs in separate namespaces, on a file system in memory.

mod judge;
mod overhead;
mod place;
mod safety;
mod strangers;
mod truth;

use crate::command::{copy_this_program, succeed};
use crate::driver::{packages, step};
use crate::root;
use crate::target::target;
use anyhow::{Context, bail, ensure};
use std::collections::BTreeMap;
use std::process::Command;

/// Debian's packages that all parts need, and those with other programs to observe.
const PACKAGES: [&[&str]; 2] = [
    &["util-linux", "bsdutils", "coreutils", "iproute2", "procps", "strace", "python3"],
    &["redis-server", "postgresql", "nginx-light", "dbus-daemon", "chromium"],
];

/// Amount of testing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// A sample of all parts but the overhead, in less than a minute.
    Quick,
    /// All benchmarks and programs.
    All,
}

/// Group and name of a checked case, with the differences between the expected and the reported facts.
struct Case(String, String, Vec<String>);

impl Case {
    fn new(group: &str, name: &str, faults: impl IntoIterator<Item = String>) -> Case {
        Case(group.to_owned(), name.to_owned(), faults.into_iter().collect())
    }
}

/// A name, the share of the cases that must be right, and a function that checks them.
type Part = (&'static str, f64, fn(Amount) -> anyhow::Result<Vec<Case>>);

const PARTS: [Part; 5] = [
    ("benchmarks with system calls", 0.95, |amount| truth::test(amount, false)),
    ("benchmarks that busy-wait in memory", 0.95, |amount| truth::test(amount, true)),
    ("other programs", 1.0, strangers::test),
    ("safety", 1.0, safety::test),
    ("overhead", 1.0, overhead::test),
];

/// Builds furlong, and runs all parts as root in separate namespaces.
///
/// # Errors
/// Returns an error if a package is missing or a part has too many wrong cases.
pub fn test(amount: Amount) -> anyhow::Result<()> {
    if !packages::is_root()? {
        bail!("observing the programs of this test needs root");
    }
    packages::provide(&PACKAGES[..if amount == Amount::All { 2 } else { 1 }].concat())?;
    succeed(Command::new("cargo").args(["build", "--release", "--locked"]).current_dir(root()))?;
    let own = target()?.join("xtask-observe");
    copy_this_program(&own)?;
    let mut inside = Command::new("setpriv");
    inside.args(["--pdeathsig", "KILL", "unshare", "--net", "--ipc", "--mount", "--pid", "--fork"]);
    inside.args(["--kill-child", "--mount-proc"]).arg(own).args(["observe", "inside"]);
    succeed(inside.args((amount == Amount::Quick).then_some("--quick")))
}

/// Runs all parts inside the namespaces, and prints tables in Markdown.
///
/// # Errors
/// Returns an error if a part has too many wrong cases.
pub fn inside(amount: Amount) -> anyhow::Result<()> {
    let devices = std::fs::read_to_string("/proc/net/dev").context("read /proc/net/dev")?;
    ensure!(devices.lines().count() <= 3, "this part of observe test must run in separate namespaces");
    step::output(Command::new("ip").args(["link", "set", "lo", "up"]))?;
    place::create(&target()?.join("release/furlong"))?;
    let (mut rows, mut wrong, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    for (name, required_share, test) in PARTS {
        let cases = step::timed(&format!("observe: {name}"), || test(amount))
            .unwrap_or_else(|error| vec![Case::new(name, "test", [format!("{error:#}")])]);
        let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        for Case(group, case, faults) in &cases {
            // "~" sorts the whole part last.
            for group in [group, "~"] {
                let [right, all] = counts.entry(group).or_default();
                (*right, *all) = (*right + usize::from(faults.is_empty()), *all + 1);
            }
            if !faults.is_empty() {
                wrong.push([group, case, &faults.join("; ").replace('\n', " ")].map(String::clone).to_vec());
            }
        }
        for (group, [right, all]) in counts.into_iter().filter(|(group, _)| *group != name) {
            let (is_all, share) = (group == "~", right as f64 / all as f64);
            broken.extend((is_all && share < required_share).then(|| format!("{right} of {all} {name}")));
            let group = if is_all { format!("**{name}**") } else { group.to_owned() };
            rows.push(vec![group, format!("{right}/{all}"), format!("{:.1} %", 100.0 * share)]);
        }
    }
    if !wrong.is_empty() {
        print_table("Wrong", &["group", "case", "difference"], &wrong);
    }
    print_table("Right", &["group", "right", "share"], &rows);
    ensure!(broken.is_empty(), "furlong observe is right about only {}", broken.join(", "));
    Ok(())
}

/// Returns a sentence if a reported fact is wrong.
fn differ(what: &str, is_right: bool, expected: impl ToString, reported: impl ToString) -> Option<String> {
    let [expected, reported] = [expected.to_string(), reported.to_string()];
    (!is_right).then(|| format!("{what}: expected {expected}, reported {reported}"))
}

/// Prints a table in Markdown.
fn print_table(title: &str, head: &[&str], rows: &[Vec<String>]) {
    println!("\n### {title}\n\n| {} |\n|{}", head.join(" | "), "---|".repeat(head.len()));
    rows.iter().for_each(|row| println!("| {} |", row.join(" | ")));
}
