//! Rows between two hosts: over a whole network, over one that loses or delays, and while a cable is cut.

use super::network::{Host, Network, Process, shell};
use crate::until::until;
use anyhow::{Context, bail, ensure};
use furlong_driver_harness::step;
use serde_json::Value;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const QUICK: [&str; 6] = ["--trials", "5", "--budget", "50ms", "--no-save", "--no-progress"];

/// Timeout of runs whose network is cut.
const TIMEOUT: Duration = Duration::from_secs(4);
/// Time that such a run may take before and after its timeout and its measurement.
const MARGIN: Duration = Duration::from_secs(20);

/// Runs all tests between hosts.
///
/// # Errors
/// Returns an error that describes the failure.
pub fn test(network: &Network) -> anyhow::Result<()> {
    let [first, second] = &network.hosts;
    let plain = step::timed("benchmarks between hosts", || {
        // The second host has no furlong yet, so the program is copied.
        measured(network, second, &QUICK)?;
        let plain = measured(network, first, &QUICK)?;
        nothing_left(second)?;
        nothing_left(first)?;
        Ok(plain)
    })?;
    for row in ["tcp/block", "udp/block"] {
        println!("xtask: {row} between hosts: {:.1} us", p50_us(&plain, row)?);
    }
    step::timed("a network that loses one in a hundred", || loses(network, first))?;
    step::timed("a network that delays", || delays(network, first, &plain))?;
    step::timed("a network that is cut", || cut(network))
}

/// Runs both benchmarks, which must be measured and verified.
fn measured(network: &Network, host: &Host, more: &[&str]) -> anyhow::Result<Value> {
    let peer = host.peer();
    let words = [&["run", "tcp", "udp", "--format", "json", "--peer", peer.as_str()], more].concat();
    let json: Value = serde_json::from_slice(&step::output(&mut network.furlong(&words))?.stdout)?;
    for name in ["tcp/block", "udp/block"] {
        let row = row(&json, name)?;
        ensure!(row["verified"] == true && row["placement"] == "host", "{name} was not measured: {row:#}");
    }
    let told = (&json["peer"]["address"], &json["peer"]["machine"]["host"]);
    ensure!(
        *told.0 == host.address().as_str() && *told.1 == host.name.as_str(),
        "the records of {} contain: {told:?}",
        host.name
    );
    Ok(json)
}

fn row<'a>(json: &'a Value, name: &str) -> anyhow::Result<&'a Value> {
    let rows = json["rows"].as_array().context("no rows")?;
    let is_it = |row: &&Value| format!("{}/{}", row["mechanism"], row["wait"]).replace('"', "") == name;
    rows.iter().find(is_it).with_context(|| format!("no row {name}: {:#}", json["skipped"]))
}

fn p50_us(json: &Value, name: &str) -> anyhow::Result<f64> {
    row(json, name)?["round_trip_ns"]["p50"].as_f64().map(|ns| ns / 1e3).context("no p50")
}

/// Datagrams are lost on their way back. Where the kernel has no netem, nftables drops them.
fn loses(network: &Network, host: &Host) -> anyhow::Result<()> {
    let cable = host.cable();
    let by = if netem(&cable, "loss 1%") {
        "netem"
    } else {
        shell(
            "nft add table ip loss
             nft add chain ip loss input '{ type filter hook input priority 0; }'
             nft add rule ip loss input meta l4proto udp numgen random mod 100 '<' 1 drop",
        )?;
        "nftables, since this kernel has no netem"
    };
    let json = measured(network, host, &["--trials", "3", "--budget", "1s", "--no-save", "--no-progress"]);
    shell(&format!("tc qdisc del dev {cable} root 2>/dev/null || nft delete table ip loss"))?;
    let json = json?;
    let lost = row(&json, "udp/block")?["sent_again_share"].as_f64().context("UDP reports no losses")?;
    println!(
        "xtask: lost through {by}: udp reports {:.2} % of 1 %, and its p50 is {:.1} us",
        100.0 * lost,
        p50_us(&json, "udp/block")?
    );
    ensure!((0.001..0.05).contains(&lost), "1 % was lost, but udp reports {lost}");
    ensure!(row(&json, "tcp/block")?["sent_again_share"].is_null(), "tcp retransmits lost segments");
    nothing_left(host)
}

/// Tests a network that delays packets by a millisecond. If the kernel has no netem, a token bucket passes one packet
/// per millisecond, so that a round trip takes no less.
fn delays(network: &Network, host: &Host, plain: &Value) -> anyhow::Result<()> {
    let cable = host.cable();
    let by = if netem(&cable, "delay 1ms") {
        "netem"
    } else {
        // A message of 128 bytes has 170 with its headers, and TCP's more.
        shell(&format!("tc qdisc add dev {cable} root tbf rate 1360kbit burst 1600 limit 100000"))?;
        "a token bucket, since this kernel has no netem"
    };
    let json = measured(
        network,
        host,
        &["--trials", "3", "--budget", "200ms", "--warm-up", "50ms", "--no-save", "--no-progress"],
    );
    shell(&format!("tc qdisc del dev {cable} root"))?;
    let json = json?;
    for name in ["tcp/block", "udp/block"] {
        let (before, now) = (p50_us(plain, name)?, p50_us(&json, name)?);
        println!("xtask: {name} with 1 ms by {by}: {now:.0} us instead of {before:.1}");
        ensure!(
            now > 900.0 && now > before,
            "{name} takes {now} us, but took {before} us before the network delay of 1000 us"
        );
    }
    nothing_left(host)
}

fn netem(cable: &str, what: &str) -> bool {
    let tc = format!("tc qdisc add dev {cable} root netem {what} 2>/dev/null");
    shell(&tc).is_ok()
}

/// A moment at which a cable is cut.
struct CableCut {
    name: &'static str,
    /// Options in addition to the timeout.
    words: &'static [&'static str],
    /// Condition on the processes of the other host before the cut; `None` to cut immediately.
    seen: Option<fn(&Process, &[Process]) -> bool>,
    /// Delay between the condition and the cut.
    after: Duration,
    /// Allowed exit statuses.
    codes: &'static [i32],
    told: &'static str,
}

const CUTS: [CableCut; 4] = [
    CableCut {
        name: "before it is reached",
        words: &[],
        seen: None,
        after: Duration::ZERO,
        codes: &[7],
        told: "cannot reach",
    },
    CableCut {
        name: "while it is greeted",
        words: &["--warm-up", "4s", "--budget", "10ms"],
        seen: Some(|process, _| process.command.contains("furlong peer")),
        after: Duration::ZERO,
        // The error names the host if the cut comes first, and a benchmark otherwise.
        codes: &[1, 7],
        told: "host-1",
    },
    CableCut {
        name: "while it warms up",
        words: &["--warm-up", "4s", "--budget", "10ms"],
        seen: Some(is_role),
        after: Duration::from_secs(1),
        codes: &[1],
        told: "the network to it is down",
    },
    CableCut {
        name: "while it is timed",
        words: &["--warm-up", "1ms", "--budget", "4s"],
        seen: Some(is_role),
        after: Duration::from_secs(1),
        codes: &[1],
        told: "the network to it is down",
    },
];

/// Returns whether it is a role that furlong on that host has started.
fn is_role(process: &Process, all: &[Process]) -> bool {
    all.iter().any(|other| other.pid == process.parent && other.command.contains("furlong peer"))
}

/// Checks that in each phase such a run ends in time, with an error that describes the cut. The other side must exit
/// too.
fn cut(network: &Network) -> anyhow::Result<()> {
    let [host, second] = &network.hosts;
    for cut in &CUTS {
        if cut.seen.is_none() {
            host.cut()?;
        }
        let running = CutRun::start(network, host, cut.words)?;
        if let Some(seen) = cut.seen {
            until("the processes on the other host", || {
                let all = host.processes()?;
                Ok(all.iter().any(|process| seen(process, &all)))
            })?;
            sleep(cut.after);
            host.cut()?;
        }
        let (output, took) = running.end()?;
        host.mend()?;
        told(cut.name, &output, cut.codes, cut.told)?;
        println!(
            "xtask: cut {}: ended with {:?} after {:.1} s",
            cut.name,
            output.status.code(),
            took.as_secs_f64()
        );
        nothing_left(host)?;
    }
    copy(network, second)?;
    lease(network, host)
}

/// Tests a cut while the program is copied, which takes seconds on a slow network.
fn copy(network: &Network, host: &Host) -> anyhow::Result<()> {
    shell(&format!("tc qdisc add dev {} root tbf rate 20mbit burst 16kb limit 100000", host.cable()))?;
    let running = CutRun::start(network, host, &[])?;
    until("a part of the program", || Ok(!host.folders()?.is_empty()))?;
    sleep(Duration::from_secs(1));
    host.cut()?;
    let (output, _) = running.end()?;
    shell(&format!("tc qdisc del dev {} root", host.cable()))?;
    host.mend()?;
    told("while furlong is copied", &output, &[7], "cannot reach")?;
    nothing_left(host)
}

/// Checks that the other side exits after a time without messages, if a cable stays cut.
fn lease(network: &Network, host: &Host) -> anyhow::Result<()> {
    let running = CutRun::start(network, host, &["--warm-up", "1ms", "--budget", "1s"])?;
    until("a role on the other host", || {
        let all = host.processes()?;
        Ok(all.iter().any(|process| is_role(process, &all)))
    })?;
    host.cut()?;
    let began = Instant::now();
    running.end()?;
    until("the end of furlong on an unreachable host", || Ok(host.furlong()?.is_empty()))?;
    ensure!(host.folders()?.is_empty(), "its directory still exists: {}", host.folders()?);
    println!("xtask: on an unreachable host furlong has ended after {:.0} s", began.elapsed().as_secs_f64());
    host.mend()
}

fn told(when: &str, output: &Output, codes: &[i32], told: &str) -> anyhow::Result<()> {
    let said =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat();
    let is_so = output.status.code().is_some_and(|code| codes.contains(&code));
    ensure!(is_so && said.contains(told), "cut {when}: ended with {}, and said:\n{said}", output.status);
    Ok(())
}

/// A run whose network is cut.
struct CutRun {
    child: std::process::Child,
    began: Instant,
    limit: Duration,
}

impl CutRun {
    fn start(network: &Network, host: &Host, words: &[&str]) -> anyhow::Result<CutRun> {
        let (peer, timeout) = (host.peer(), format!("{}s", TIMEOUT.as_secs()));
        let usual = [
            "run",
            "udp",
            "--trials",
            "1",
            "--timeout",
            timeout.as_str(),
            "--no-save",
            "--no-progress",
            "--format",
            "json",
            "--peer",
            peer.as_str(),
        ];
        let mut command: Command = network.furlong(&[&usual, words].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        // The limit covers two phases of 4 s each, and the timeouts after the cut.
        Ok(CutRun { child, began: Instant::now(), limit: 3 * TIMEOUT + 2 * Duration::from_secs(4) + MARGIN })
    }

    /// Waits for the end, and returns the output and the duration.
    fn end(mut self) -> anyhow::Result<(Output, Duration)> {
        while self.child.try_wait()?.is_none() {
            if self.began.elapsed() > self.limit {
                self.child.kill()?;
                bail!("it did not end within {:?}: {:?}", self.limit, self.child.wait_with_output()?);
            }
            sleep(Duration::from_millis(20));
        }
        let took = self.began.elapsed();
        Ok((self.child.wait_with_output()?, took))
    }
}

/// Checks that no process and no directory of furlong remains on that host once its connection has ended.
fn nothing_left(host: &Host) -> anyhow::Result<()> {
    let ended = until("the end of furlong on the other host", || {
        Ok(host.furlong()?.is_empty() && host.folders()?.is_empty())
    });
    ended.with_context(|| format!("left there: {:?}, {:?}", host.furlong(), host.folders()))
}
