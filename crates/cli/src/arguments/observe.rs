//! Options of `furlong observe`.

use super::shared::OUTPUT;
use clap::Args;
use furlong_console::ListFormat;
use furlong_model::Time;
use std::path::PathBuf;

const EXAMPLES: &str = "Each link between processes is reported with its mechanism, rate, sizes, pattern, latency, and how both sides wait. The processes
are not changed: the kernel writes their system calls into a buffer of furlong (perf_event_open), which needs CAP_PERFMON.

Examples:
  furlong observe 1234 1235                      two processes with their descendants
  furlong observe 1234 --for 30s --format json   one JSON object
  furlong observe --command 'seq 10000000 | wc -l'
                                                 a command, until it exits
  furlong observe --all --live                   all processes, each second; q leaves
  furlong observe --cgroup system.slice/nginx.service
                                                 the processes of a service
  furlong observe 1234 --save-trace web.jsonl    also record the messages for furlong run --arrival trace:web.jsonl";

/// Options of `furlong observe`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct ObserveOptions {
    /// Processes to observe, with their descendants
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pids: Vec<i32>,
    /// Start CMD in a shell and observe it. Its output goes to stderr
    #[arg(long, value_name = "CMD", conflicts_with = "pids")]
    pub command: Option<String>,
    /// Observe the control group at PATH, with subgroups and later processes
    #[arg(long, value_name = "PATH", conflicts_with_all = ["pids", "command"])]
    pub cgroup: Option<PathBuf>,
    /// Observe all processes except furlong, also later ones
    #[arg(long, conflicts_with_all = ["pids", "command", "cgroup"])]
    pub all: bool,
    /// Observe for TIME [default: 10s; with --command or --live, until the end]
    #[arg(long = "for", value_name = "TIME", allow_hyphen_values = true)]
    pub limit: Option<Time>,
    /// Show the links on the terminal and refresh them each second
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["save_trace", "format"])]
    pub live: bool,
    /// Write the messages to FILE too, as a trace for furlong run --arrival
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub save_trace: Option<PathBuf>,
    /// Output format
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = ListFormat::Table)]
    pub format: ListFormat,
}
