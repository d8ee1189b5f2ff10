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
use std::path::{Path, PathBuf};
use std::process::Command;

/// What knows the schema of every version, as it is on PyPI.
const VALIDATE: &str = "kubernetes-validate==1.37.0";

/// Debian's packages with Python, and with what is in the image beside furlong.
const PACKAGES: [&str; 3] = ["python3", "python3-venv", "busybox-static"];

/// Makes of a manifest what a kubelet makes of it.
const POD: &str = include_str!("../../templates/pod.py");

/// Runs that.
const RUN: &str = include_str!("../../templates/pod.sh");

/// The name of the node.
const NODE: &str = "node-1";

/// Gives a log for one pod, as `fetch.sh` asks for it.
const KUBECTL: &str = "#!/bin/sh\ncase $1 in get) echo pod/furlong-0 ;; logs) cat log ;; *) exit 9 ;; esac\n";

fn python() -> anyhow::Result<PathBuf> {
    Ok(target()?.join("hosts").join(VALIDATE.replace("==", "-")))
}

/// Installs what is needed, once.
///
/// # Errors
/// It cannot be had.
pub fn provide() -> anyhow::Result<()> {
    packages::provide(&PACKAGES)?;
    python::with(&python()?, "bin/kubernetes-validate", VALIDATE)
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
        let mut validate = Command::new(python()?.join("bin/kubernetes-validate"));
        let manifests = ["job.yaml", "daemonset.yaml", "workload.yaml"];
        step::output(validate.arg("--strict").args(manifests).current_dir(&folder)).map(drop)
    })?;
    let workload = folder.join("workload.yaml");
    fs::write(&workload, fleet::short(&fs::read_to_string(&workload)?)?)?;
    let log = step::timed("a pod's command", || run(&folder))?;
    fs::write(folder.join("log"), log)?;
    compared(network, &folder)
}

/// What the container prints.
fn run(folder: &Path) -> anyhow::Result<Vec<u8>> {
    let root = folder.join("root");
    fs::create_dir(&root)?;
    let mut pod = Command::new(python()?.join("bin/python"));
    step::output(pod.args(["-c", POD]).arg(folder).arg(&root).arg(NODE))?;
    let mut run = Command::new("unshare");
    run.args([
        "--net",
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
    Ok(step::output(run.arg(&root).arg(target()?.join("release/furlong")))?.stdout)
}

/// Fetches the log as the folder's script does, and compares what is in it.
fn compared(network: &Network, folder: &Path) -> anyhow::Result<()> {
    let kubectl = folder.join("kubectl");
    fs::write(&kubectl, KUBECTL)?;
    step::output(Command::new("chmod").arg("+x").arg(&kubectl))?;
    let path = format!("{}:{}", folder.display(), network::path());
    step::output(Command::new("sh").args(["fetch.sh", "results"]).current_dir(folder).env("PATH", path))?;
    let compare = ["compare", "--by", "host", "--format", "json"];
    let json = step::output(network.furlong(&compare).arg(folder.join("results")))?.stdout;
    let json: Value = serde_json::from_slice(&json).context("compare printed no JSON")?;
    ensure!(json["hosts"] == 1 && json["runs"] == 2, "rows and costs of one host: {json:#}");
    Ok(())
}
