//! Two hosts: each has separate network and host-name namespaces, files in memory, an sshd and its end of a virtual
//! cable.

use crate::target::target;
use crate::until::until;
use anyhow::{Context, ensure};
use furlong_driver_harness::step;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Sets up the machine between the hosts.
const SCRIPT: &str = include_str!("../../templates/hosts.sh");

/// The hosts, as they are seen from the machine in the middle.
pub struct Network {
    /// The first has furlong, and the second has not.
    pub hosts: [Host; 2],
    furlong: PathBuf,
}

/// A host.
pub struct Host {
    /// Name of the host.
    pub name: String,
    number: usize,
    /// Process that holds the namespaces, so that the disk and the cable exist while nothing else runs on the host.
    holder: Child,
}

/// A process that runs on a host.
#[derive(Debug, Clone)]
pub struct Process {
    /// PID.
    pub pid: i32,
    /// PID of the parent.
    pub parent: i32,
    /// Command line.
    pub command: String,
}

impl Network {
    /// Creates both hosts. This process must run in private namespaces.
    pub fn make(furlong: &Path) -> anyhow::Result<Network> {
        step::output(Command::new("sh").args(["-c", SCRIPT, "hosts.sh"]).arg(furlong))?;
        Ok(Network { hosts: [Host::make(1)?, Host::make(2)?], furlong: furlong.to_owned() })
    }

    /// Lets the hosts reach each other through the machine in the middle.
    pub fn connect_hosts(&self) -> anyhow::Result<()> {
        shell("echo 1 >/proc/sys/net/ipv4/ip_forward")?;
        for host in &self.hosts {
            host.shell(&format!("ip route replace default via {}", host.router()))?;
        }
        Ok(())
    }

    /// Returns a furlong command with these arguments.
    pub fn furlong(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.furlong);
        command.args(words).env("PATH", path()).env_remove("SSH_CONNECTION");
        command
    }
}

/// Returns a PATH that starts with a preconfigured ssh.
pub fn path() -> String {
    format!("/run/hosts/bin:{}", std::env::var("PATH").unwrap_or_default())
}

impl Host {
    fn make(number: usize) -> anyhow::Result<Host> {
        let name = format!("host-{number}");
        // Every host sees the files of this test, as from a file server, even if they are below /tmp.
        let script = r#"
hostname "$0"
own=/run/hosts/tmp-$0
mkdir -p "$own"
mount -t tmpfs none "$own"
case $1 in /tmp/*) mkdir -p "$own/${1#/tmp/}"; mount --bind "$1" "$own/${1#/tmp/}" ;; esac
mount --rbind "$own" /tmp
exec sleep infinity"#;
        let kept = target()?.join("hosts");
        fs::create_dir_all(&kept)?;
        let holder = Command::new("unshare")
            .args(["--net", "--uts", "--mount", "sh", "-ec", script, &name])
            .arg(kept)
            .spawn()
            .context("cannot start unshare")?;
        let host = Host { name, number, holder };
        until("the host's namespaces", || {
            Ok(fs::read_to_string(format!("/proc/{}/comm", host.holder.id()))?.trim() == "sleep")
        })?;
        let pid = host.holder.id();
        shell(&format!(
            "ip link add h{number} type veth peer name eth0 netns {pid}
             ip address add 10.77.{number}.1/24 dev h{number}
             ip link set h{number} up"
        ))?;
        host.shell(&format!(
            "ip link set lo up; ip address add 10.77.{number}.2/24 dev eth0; ip link set eth0 up"
        ))?;
        host.start_sshd()?;
        Ok(host)
    }

    /// Returns the value for `--peer`.
    pub fn peer(&self) -> String {
        format!("ssh://{}", self.name)
    }

    /// Returns the name of the cable's end on the machine in the middle.
    pub fn cable(&self) -> String {
        format!("h{}", self.number)
    }

    /// Returns the IP address.
    pub fn address(&self) -> String {
        format!("10.77.{}.2", self.number)
    }

    /// Returns the address of the machine in the middle, at the other end of its cable.
    fn router(&self) -> String {
        format!("10.77.{}.1", self.number)
    }

    /// Starts what it is reached by.
    pub fn start_sshd(&self) -> anyhow::Result<()> {
        self.shell(&format!("/usr/sbin/sshd -f /run/hosts/{}.conf", self.name))?;
        self.answers()
    }

    /// Waits until it is reached.
    fn answers(&self) -> anyhow::Result<()> {
        until("an answer of sshd", || {
            let ssh = format!("ssh -o BatchMode=yes -o ConnectTimeout=2 {} true", self.name);
            Ok(Command::new("sh").args(["-c", &ssh]).env("PATH", path()).status()?.success())
        })
    }

    /// Runs commands there.
    pub fn shell(&self, script: &str) -> anyhow::Result<String> {
        let mut command = self.enter(&["--net", "--uts", "--mount"]);
        step::text(command.args(["sh", "-ec", script]))
    }

    /// Returns a command that enters these namespaces of the host; the caller adds the program and its arguments.
    pub fn enter(&self, namespaces: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.holder.id().to_string()]).args(namespaces);
        command
    }

    /// Cuts the cable at this host's end. Packets to the host are lost, and the sender gets no error.
    pub fn cut(&self) -> anyhow::Result<()> {
        self.shell("ip link set eth0 down").map(drop)
    }

    /// Mends it.
    pub fn mend(&self) -> anyhow::Result<()> {
        self.shell("ip link set eth0 up")?;
        self.answers()
    }

    /// Returns the processes of the host, except for the holder of its namespaces.
    pub fn processes(&self) -> anyhow::Result<Vec<Process>> {
        let network = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
        let (holder, here) = (self.holder.id().to_string(), network(&self.holder.id().to_string()));
        ensure!(here.is_some(), "{} has exited", self.name);
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let Ok(pid) = name.parse() else { continue };
            // A process that exits during the scan has no status file any more.
            let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { continue };
            let field = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
            let is_dead = field("State:").is_some_and(|state| state.starts_with('Z'));
            if name == holder || is_dead || network(&name) != here {
                continue;
            }
            let parent = field("PPid:").and_then(|parent| parent.parse().ok()).unwrap_or_default();
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ").trim().to_owned();
            found.push(Process { pid, parent, command });
        }
        Ok(found)
    }

    /// Returns the furlong processes of the host.
    pub fn furlong(&self) -> anyhow::Result<Vec<Process>> {
        let mut processes = self.processes()?;
        processes.retain(|process| process.command.contains("furlong"));
        Ok(processes)
    }

    /// Returns the directories that furlong keeps on the host while it runs.
    pub fn folders(&self) -> anyhow::Result<String> {
        self.shell("ls -d /tmp/furlong-peer-* 2>/dev/null || true")
    }

    /// Lets it die: nothing there lives any more, and its disk is as it was.
    pub fn die(&self) -> anyhow::Result<()> {
        until("the exit of all processes there", || {
            let processes = self.processes()?;
            for process in &processes {
                let _ = furlong_os::process::send_signal(process.pid, 9);
            }
            Ok(processes.is_empty())
        })
    }
}

/// Runs commands on the machine in the middle.
pub fn shell(script: &str) -> anyhow::Result<()> {
    step::output(Command::new("sh").args(["-ec", script])).map(drop)
}
