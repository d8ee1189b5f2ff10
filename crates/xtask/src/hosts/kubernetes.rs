//! The manifests for Kubernetes: valid by its schema, and the container's command run as it stands, in namespaces and with files of
//! its own, whose log is fetched and compared.

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

/// What knows the schema of every version, as it is on PyPI.
const VALIDATE: &str = "kubernetes-validate==1.37.0";

/// Its program.
const VALIDATES: &str = "kubernetes-validate";

/// Debian's package with what is in the image beside furlong.
const PACKAGES: [&str; 1] = ["busybox-static"];

/// The name by which the second pod of a pair knows the first.
const FIRST: &str = "furlong-pair-0.furlong-pair";

/// Makes of a manifest what a kubelet makes of it.
const POD: &str = include_str!("../../templates/pod.py");

/// Runs that.
const RUN: &str = include_str!("../../templates/pod.sh");

/// Gives the log of each pod, as `fetch.sh` asks for it.
const KUBECTL: &str = r#"#!/bin/sh
case $1 in
    get) for log in *.log; do echo "pod/${log%.log}"; done ;;
    logs) cat "${3#pod/}.log" ;;
    *) exit 9 ;;
esac
"#;

/// Installs what is needed, once.
///
/// # Errors
/// It cannot be had.
pub fn provide() -> anyhow::Result<()> {
    packages::provide(&PACKAGES)?;
    python::provide(VALIDATE, VALIDATES)
}

/// Checks the manifests, and runs what they say.
///
/// # Errors
/// What went wrong.
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
        // It is told that there is no more to do.
        let ended = serves.wait_with_output()?;
        ensure!(ended.status.success(), "the first pod ended with {}", ended.status);
        Ok(fs::write(log("furlong-pair-1"), measures?.stdout)?)
    })?;
    compared(network, &folder)
}

/// The container's command of a Job's pod with this index, in files and namespaces of its own and on the network of a host.
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

/// Fetches the logs as the folder's script does, and compares what is in it.
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
