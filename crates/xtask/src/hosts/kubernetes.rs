//! Tests the Kubernetes manifests: validates them against the schema, and runs the container's command literally in
//! separate namespaces with separate files. Its log is fetched and compared.

use super::fleet;
use super::network::{self, Network};
use super::python;
use crate::target::target;
use anyhow::{Context, ensure};
use furlong_driver_harness::{packages, step};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// PyPI package with the schema of every Kubernetes version.
const VALIDATE: &str = "kubernetes-validate==1.37.0";

/// Program of the package.
const VALIDATES: &str = "kubernetes-validate";

/// Debian package of the programs that the image contains in addition to furlong.
const PACKAGES: [&str; 1] = ["busybox-static"];

/// Host name of the first pod of a pair, as the second one uses it.
const FIRST: &str = "furlong-pair-0.furlong-pair";

/// Converts a manifest into commands, like a kubelet.
const POD: &str = include_str!("../../templates/pod.py");

/// Runs these commands.
const RUN: &str = include_str!("../../templates/pod.sh");

/// A `kubectl` that prints the log of each pod, as `fetch.sh` requests it.
const KUBECTL: &str = r#"#!/bin/sh
case $1 in
    get) for log in *.log; do echo "pod/${log%.log}"; done ;;
    logs) cat "${3#pod/}.log" ;;
    *) exit 9 ;;
esac
"#;

/// Installs the needed packages, once.
///
/// # Errors
/// Returns an error if a package cannot be installed.
pub fn provide() -> anyhow::Result<()> {
    packages::provide(&PACKAGES)?;
    python::provide(VALIDATE, VALIDATES)
}

/// Validates the manifests, and runs their commands.
///
/// # Errors
/// Returns an error that describes the failure.
pub fn test(network: &Network) -> anyhow::Result<()> {
    let folder = target()?.join("hosts/kubernetes");
    let _ = fs::remove_dir_all(&folder);
    step::output(network.furlong(&["fleet", "init", "kubernetes"]).arg(&folder))?;
    step::timed("the schema of Kubernetes", || {
        let mut validate = Command::new(python::program(VALIDATE, VALIDATES)?);
        let manifests = ["job.yaml", "daemonset.yaml", "pair.yaml", "workload.yaml"];
        step::output(validate.arg("--strict").args(manifests).current_dir(&folder)).map(drop)
    })?;
    let workload = folder.join("workload.yaml");
    fs::write(&workload, fleet::short(&fs::read_to_string(&workload)?)?)?;
    let log = |pod: &str| folder.join(pod).with_extension("log");
    step::timed("a pod's command", || {
        Ok(fs::write(log("furlong-0"), step::output(&mut pod(network, &folder, ("job.yaml", 0))?)?.stdout)?)
    })?;
    step::timed("the commands of two pods", || {
        network.connect_hosts()?;
        let serves = pod(network, &folder, ("pair.yaml", 0))?.spawn().context("start the first pod")?;
        let measures = step::output(&mut pod(network, &folder, ("pair.yaml", 1))?);
        // The first pod exits once the second one reports that it has finished.
        let ended = serves.wait_with_output()?;
        ensure!(ended.status.success(), "the first pod ended with {}", ended.status);
        Ok(fs::write(log("furlong-pair-1"), measures?.stdout)?)
    })?;
    compared(network, &folder)
}

/// Returns the container's command for the pod of a Job with this index, with separate files and namespaces, on a
/// host's network.
fn pod(network: &Network, folder: &Path, (manifest, index): (&str, usize)) -> anyhow::Result<Command> {
    let [first, _] = &network.hosts;
    let host = &network.hosts[index];
    let root = folder.join(format!("{manifest}-{index}"));
    fs::create_dir_all(root.join("etc"))?;
    let mut made = Command::new(python::program(VALIDATE, "python")?);
    made.args(["-c", POD]).arg(folder).args([manifest, &index.to_string(), &host.address()]);
    step::output(made.arg(&root))?;
    fs::write(root.join("etc/hosts"), format!("{} {FIRST}\n", first.address()))?;
    let mut run = host.enter(&["--net"]);
    run.args([
        "unshare",
        "--ipc",
        "--uts",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "sh",
        "-c",
        RUN,
        "pod.sh",
    ]);
    run.arg(&root).arg(target()?.join("release/furlong"));
    Ok(run)
}

/// Fetches the logs with the script of the directory, and compares the runs in them.
fn compared(network: &Network, folder: &Path) -> anyhow::Result<()> {
    let kubectl = folder.join("kubectl");
    fs::write(&kubectl, KUBECTL)?;
    step::output(Command::new("chmod").arg("+x").arg(&kubectl))?;
    let path = format!("{}:{}", folder.display(), network::path());
    step::output(Command::new("sh").args(["fetch.sh", "results"]).current_dir(folder).env("PATH", path))?;
    let compare = ["compare", "--by", "host", "--format", "json"];
    let json = step::output(network.furlong(&compare).arg(folder.join("results")))?.stdout;
    let json: Value = serde_json::from_slice(&json).context("compare printed no JSON")?;
    // Rows and costs of one host, and rows between that and another.
    ensure!(json["hosts"] == 2 && json["runs"] == 3, "{json:#}");
    Ok(())
}
