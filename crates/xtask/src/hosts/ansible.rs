//! Measures a fleet of two hosts with Ansible: one is slow, and one dies half way. A second start completes the
//! missing results.

use super::fleet;
use super::network::{Network, path, shell};
use super::python::{self, PYTHON};
use crate::target::target;
use crate::until::until;
use anyhow::{Context, ensure};
use furlong_driver_harness::step;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Ansible on PyPI; newer versions need a newer Python than Debian's.
const ANSIBLE: &str = "ansible-core==2.19.14";

/// Program of the package.
const PLAYBOOK: &str = "ansible-playbook";

/// Installs Ansible into a separate Python environment, once.
///
/// # Errors
/// Returns an error if Ansible cannot be installed.
pub fn provide() -> anyhow::Result<()> {
    python::provide(ANSIBLE, PLAYBOOK)
}

/// Measures both hosts, one of which dies.
///
/// # Errors
/// Returns an error that describes the failure.
pub fn test(network: &Network) -> anyhow::Result<()> {
    let folder = target()?.join("hosts/ansible");
    fleet::init(network, "ansible", &folder)?;
    inventory(&folder)?;
    let results = folder.join("results/baseline");
    let [slow, dies] = &network.hosts;
    let before = step::timed("Ansible, where one host is slow and one dies", || {
        // furlong alone takes seconds to get there.
        shell(&format!("tc qdisc add dev {} root tbf rate 20mbit burst 16kb latency 1s", slow.cable()))?;
        let mut playbook = playbook(&folder)?;
        playbook.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = playbook.spawn().context("start ansible-playbook")?;
        let came = until("the first file of the second host", || {
            ensure!(running.try_wait()?.is_none(), "Ansible has ended before");
            Ok(!dies.shell("ls /tmp/furlong-*/results/*.doctor.txt 2>/dev/null || true")?.is_empty())
        });
        if let Err(error) = came {
            running.kill()?;
            return Err(error).context(format!("{:?}", running.wait_with_output()?));
        }
        dies.die()?;
        let output = running.wait_with_output()?;
        shell(&format!("tc qdisc del dev {} root", slow.cable()))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(!output.status.success(), "a host died, but Ansible reported success:\n{said}");
        fleet::one_is_done(&results, &slow.name, &dies.name).context(said)
    })?;
    dies.start_sshd()?;
    step::timed("the rest of that fleet", || step::output(&mut playbook(&folder)?).map(drop))?;
    fleet::all_are_done(network, &results, &before)
}

/// Writes the inventory: both hosts, and the paths of Python and furlong.
fn inventory(folder: &Path) -> anyhow::Result<()> {
    let furlong = target()?.join("release/furlong");
    let hosts = format!(
        "[furlong]\nhost-1\nhost-2\n\n[furlong:vars]\nlabel=baseline\nfurlong_binary={}\nansible_python_interpreter={PYTHON}\n",
        furlong.display(),
    );
    Ok(fs::write(folder.join("inventory.ini"), hosts)?)
}

fn playbook(folder: &Path) -> anyhow::Result<Command> {
    let mut playbook = Command::new(python::program(ANSIBLE, PLAYBOOK)?);
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
