//! A fleet of two hosts that Ansible measures: one dies half way, and what is started again completes what is missing.

use super::network::{Network, path, until};
use crate::target::target;
use anyhow::{Context, ensure};
use furlong_driver_harness::step;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// Ansible, as it is on PyPI; newer ones need a newer Python than Debian's.
const ANSIBLE: &str = "ansible-core==2.19.14";

/// What a host leaves.
const FILES: [&str; 3] = ["doctor.txt", "rows.jsonl", "costs.jsonl"];

fn python() -> anyhow::Result<PathBuf> {
    Ok(target()?.join("hosts").join(ANSIBLE.replace("==", "-")))
}

/// Installs Ansible into a Python of its own, once.
///
/// # Errors
/// It cannot be had.
pub fn provide() -> anyhow::Result<()> {
    let python = python()?;
    if python.join("bin/ansible-playbook").exists() {
        return Ok(());
    }
    step::timed("installing Ansible", || {
        let _ = fs::remove_dir_all(&python);
        step::output(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
        let pip = python.join("bin/pip");
        step::output(Command::new(pip).args(["install", "-q", "--disable-pip-version-check", ANSIBLE]))
            .map(drop)
    })
}

/// Measures both hosts, of which one dies.
///
/// # Errors
/// What went wrong.
pub fn test(network: &Network) -> anyhow::Result<()> {
    let folder = target()?.join("hosts/fleet");
    let _ = fs::remove_dir_all(&folder);
    step::output(network.furlong(&["fleet", "init", "ansible"]).arg(&folder))?;
    inventory(&folder)?;
    let results = folder.join("results/baseline");
    let [first, second] = &network.hosts;
    step::timed("a fleet of which one host dies", || {
        let mut playbook = playbook(&folder)?;
        playbook.stdout(Stdio::piped()).stderr(Stdio::piped());
        let running = playbook.spawn().context("start ansible-playbook")?;
        until("the first file of the second host", || {
            Ok(!second.shell("ls /tmp/furlong-*/results/*.doctor.txt 2>/dev/null || true")?.is_empty())
        })?;
        second.die()?;
        let output = running.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(!output.status.success(), "a host died, and Ansible was content:\n{said}");
        for file in FILES {
            ensure!(
                results.join(format!("{}.{file}", first.name)).exists(),
                "{} has no {file}:\n{said}",
                first.name
            );
        }
        let costs = results.join(format!("{}.costs.jsonl", second.name));
        ensure!(!costs.exists(), "{} died before it was done:\n{said}", second.name);
        Ok(())
    })?;
    second.start_sshd()?;
    let before = times(&results, &first.name)?;
    step::timed("the rest of that fleet", || step::output(&mut playbook(&folder)?).map(drop))?;
    ensure!(times(&results, &first.name)? == before, "{} was measured again", first.name);
    let found = times(&results, &second.name)?;
    ensure!(found.len() == FILES.len(), "{} is not complete: {found:?}", second.name);
    let compare = ["compare", "--by", "host", "--format", "json"];
    let json = step::output(network.furlong(&compare).arg(&results))?.stdout;
    let json: serde_json::Value = serde_json::from_slice(&json)?;
    ensure!(json["hosts"] == 2 && json["runs"] == 4, "two runs of each of two hosts: {json:#}");
    Ok(())
}

/// Both hosts, and rows that take a moment.
fn inventory(folder: &Path) -> anyhow::Result<()> {
    let furlong = target()?.join("release/furlong");
    let python = python()?.join("bin/python");
    let hosts = format!(
        "[furlong]\nhost-1\nhost-2\n\n[furlong:vars]\nlabel=baseline\nfurlong_binary={}\nansible_python_interpreter={}\n",
        furlong.display(),
        python.display()
    );
    fs::write(folder.join("inventory.ini"), hosts)?;
    let script = folder.join("measure.sh");
    let text = fs::read_to_string(&script)?;
    // As its comment says: the rows are changed there.
    let rows = text.lines().find(|line| line.contains("\"$furlong\" run ")).context("no line of rows")?;
    let short = rows.replace("--within 2min", "--trials 3 --budget 5ms");
    ensure!(short != rows, "the rows are limited otherwise: {rows}");
    Ok(fs::write(&script, text.replace(rows, &short))?)
}

fn playbook(folder: &Path) -> anyhow::Result<Command> {
    let mut playbook = Command::new(python()?.join("bin/ansible-playbook"));
    playbook.args(["-i", "inventory.ini", "playbook.yml"]).current_dir(folder);
    playbook
        .env("PATH", path())
        .env("HOME", "/run/hosts")
        .env("ANSIBLE_SSH_EXECUTABLE", "/run/hosts/bin/ssh");
    playbook.env(
        "ANSIBLE_SSH_ARGS",
        "-F /run/hosts/ssh_config -o ServerAliveInterval=2 -o ServerAliveCountMax=2",
    );
    playbook.env("LC_ALL", "C.UTF-8").env("ANSIBLE_SSH_TRANSFER_METHOD", "piped");
    Ok(playbook)
}

/// When each file of a host was written.
fn times(results: &Path, host: &str) -> anyhow::Result<BTreeMap<&'static str, SystemTime>> {
    let mut times = BTreeMap::new();
    for file in FILES {
        if let Ok(status) = fs::metadata(results.join(format!("{host}.{file}"))) {
            times.insert(file, status.modified()?);
        }
    }
    Ok(times)
}
