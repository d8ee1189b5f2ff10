//! Overhead of the observation at 100,000 messages per second: throughput, CPU time and latency with and without it, in alternation.

use super::place::{carried_per_second, finish, furlong, list, number, run, sum};
use super::{Amount, Case, differ, print_table};
use anyhow::{Context, ensure};
use furlong_stats::{median, median_interval};

/// Number of pairs of a run without and a run with observation.
const PAIRS: usize = 12;

const FIGURES: [&str; 3] = ["messages/s", "CPU time per message in ns", "median latency in ns"];

/// Measures pairs of runs.
pub fn test(amount: Amount) -> anyhow::Result<Vec<Case>> {
    let (mut pairs, mut stated) = (Vec::new(), Vec::new());
    for pair in 0..if amount == Amount::All { PAIRS } else { 0 } {
        // The order alternates, so that a drift of the machine has no effect.
        let mut figures = [[0.0; 3]; 2];
        for is_observed in [pair % 2 == 0, pair % 2 != 0] {
            let (found, tracing_share) = measure(is_observed)?;
            figures[usize::from(is_observed)] = found;
            stated.extend(tracing_share.map(|share| 1.0 + share));
        }
        pairs.push(figures);
    }
    let Some(stated) = median(&stated) else { return Ok(Vec::new()) };
    let (mut rows, mut ratios) = (Vec::new(), Vec::new());
    for (index, name) in FIGURES.iter().enumerate() {
        let side = |side: usize| median(&pairs.iter().map(|pair| pair[side][index]).collect::<Vec<_>>());
        let quotients = pairs.iter().map(|[alone, observed]| observed[index] / alone[index]);
        // A run that did not carry its rate has only a throughput.
        let found: Vec<_> = quotients.filter(|ratio| ratio.is_normal()).collect();
        let (middle, [low, high]) = median(&found).zip(median_interval(&found)).context("too few runs")?;
        let [alone, observed] = [side(0), side(1)].map(|median| format!("{:.0}", median.unwrap_or_default()));
        let ratio = format!("{middle:.3} ({low:.3} to {high:.3})");
        rows.push(vec![(*name).to_owned(), alone, observed, ratio]);
        ratios.push([low, middle, high]);
    }
    let title =
        format!("Overhead at 100,000 messages/s: {PAIRS} pairs of runs; reported CPU time {stated:.3}x");
    print_table(&title, &["median", "alone", "observed", "ratio (95 % CI)"], &rows);
    // The report need not state 10 %. An interval that contains this limit proves nothing, because other programs disturb single runs.
    let [rate, cpu] = [ratios[0], ratios[1]];
    let times = |ratio: f64| format!("{ratio:.3}x");
    let rate = differ("rate", rate[2] * 1.1 >= 1.0, "1x", times(rate[1]));
    let cpu = differ("CPU time per message", cpu[0] <= 1.1 * stated, times(cpu[1]), times(stated));
    Ok(vec![Case::new("overhead", "throughput", rate), Case::new("overhead", "CPU time", cpu)])
}

/// Measures a stream, and observes it during that. Returns its figures, and the reported CPU time of tracing relative to that of the
/// messages.
fn measure(is_observed: bool) -> anyhow::Result<([f64; 3], Option<f64>)> {
    let run = run("pipe/block", "one-way", ["100k/s", "500ms"]).spawn().context("start furlong")?;
    let mut observer = furlong(&["observe", &run.id().to_string(), "--format", "json"]);
    let observer = is_observed.then(|| observer.spawn()).transpose()?;
    let run = finish(run)?;
    let (row, cpu) = (&run["rows"][0], &run["rows"][0]["cpu_ns_per_message"]);
    let cpu_ns = number(cpu, "user") + number(cpu, "system");
    let figures = [carried_per_second(&run)?, cpu_ns, number(&row["message_ns"], "p50")];
    let Some(observer) = observer else { return Ok((figures, None)) };
    let report = finish(observer)?;
    let ends = ["senders", "receivers"].into_iter().flat_map(|key| list(&report["links"][0], key));
    let pids: Vec<_> = ends.map(|end| &end["pid"]).collect();
    let roles = || list(&report, "processes").filter(|process| pids.contains(&&process["pid"]));
    let (tracing, cpu) = (sum(roles(), "tracing_share"), sum(roles(), "cpu_share"));
    ensure!(tracing > 0.0, "the report has no CPU time of tracing: {report}");
    Ok((figures, Some(tracing / (cpu - tracing))))
}
