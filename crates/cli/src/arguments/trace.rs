//! Options of `furlong trace`.

use super::shared::WORKLOAD;
use clap::{Args, Subcommand};
use furlong_model::{ArrivalProcess, ByteSize, ConditionKind, Rate, RequestedConditions, Time};
use std::path::PathBuf;

const EXAMPLES: &str =
    "A trace is a file of JSON lines: times, senders, receivers and sizes of messages. Replay it with furlong run --arrival trace:FILE.

Examples:
  furlong trace info web.jsonl                   rate, sizes, links and burstiness
  furlong trace convert strace.txt --to web.jsonl
                                                 import output of strace -f -ttt, or a pcap file
  furlong trace generate --to web.jsonl --rate 5k/s --arrival poisson --messages 10000
                                                 write a trace with known arrivals";

/// Options of `furlong trace`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct TraceOptions {
    #[command(subcommand)]
    pub verb: TraceVerb,
}

/// Commands for traces.
#[derive(Debug, Clone, Subcommand)]
pub enum TraceVerb {
    /// Print messages, rate, sizes, links and burstiness of a trace
    #[command(after_help = "Examples:\n  furlong trace info web.jsonl\n  furlong trace info lo.pcap")]
    Info {
        /// Trace, output of strace -f -ttt, or pcap file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Convert output of strace -f -ttt or a pcap file to a trace
    #[command(after_help = "Examples:\n  furlong trace convert lo.pcap --to lo.jsonl")]
    Convert {
        /// Output of strace -f -ttt, pcap file, or trace
        #[arg(value_name = "FROM")]
        from: PathBuf,
        /// Write the trace to FILE. An existing file is replaced
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Write a trace with known arrivals and sizes
    #[command(after_help = "Examples:
  furlong trace generate --to web.jsonl --rate 5k/s --arrival poisson --messages 10000
  furlong trace generate --to web.jsonl --rate 1k/s --sizes 64:70,4KiB:30 --duration 10s")]
    Generate(GenerateOptions),
}

/// Options of `furlong trace generate`.
#[derive(Debug, Clone, Args)]
#[group(skip)]
#[command(next_help_heading = WORKLOAD, group = clap::ArgGroup::new("length").args(["messages", "duration"]).required(true))]
pub struct GenerateOptions {
    /// Write the trace to FILE. An existing file is replaced
    #[arg(long, value_name = "FILE", help_heading = None)]
    pub to: PathBuf,
    /// Mean rate, such as 5k/s
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub rate: Rate,
    /// Vary --rate: fixed, poisson, burst:N, on-off:ON,OFF [default: fixed]
    #[arg(long, value_name = "PROCESS")]
    pub arrival: Option<ArrivalProcess>,
    /// Size of all messages
    #[arg(short, long, value_name = "SIZE", default_value = "128", allow_hyphen_values = true)]
    pub size: ByteSize,
    /// Mix of sizes by weight, such as 64:70,4KiB:30, as in furlong run
    #[arg(long, value_name = "MIX", conflicts_with = "size", value_parser = mix)]
    pub sizes: Option<RequestedConditions>,
    /// Number of messages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub messages: Option<u64>,
    /// Duration, such as 10s
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub duration: Option<Time>,
    /// Seed of random times and sizes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

fn mix(text: &str) -> Result<RequestedConditions, String> {
    let kind = ConditionKind::find("sizes").ok_or("no mixes")?;
    kind.read(text).map(RequestedConditions::from).map_err(|error| error.to_string())
}
