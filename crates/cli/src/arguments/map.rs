//! Options of `furlong map`.

use super::shared::{CommonOptions, OUTPUT, PRECISION, SavedName, TOPOLOGY, WORKLOAD};
use clap::{Args, ValueEnum};
use furlong_model::{ByteSize, CpuList, Time};
use std::path::PathBuf;

const MAP_EXAMPLES: &str =
    "The matrix has the round trip of each pair of CPUs. Half of it is the one-way latency that other tools print. Below it are
the median of each relation, such as two threads of one core or two sockets, and the CPUs of each NUMA node and L3 cache.

Examples:
  furlong map                                    a bare cache line between all CPUs
  furlong map pipe/block --cpus 0-7              a benchmark between eight CPUs
  furlong map -o map.svg                         also as a picture
  furlong map --all --format csv                 every pair, also if that takes minutes
  furlong map --format json                      one JSON object";

/// Options of `furlong map`.
#[derive(Debug, Clone, Args)]
#[command(after_help = MAP_EXAMPLES)]
pub struct MapOptions {
    /// Benchmark, such as pipe/block [default: a bare cache line]
    #[arg(value_name = "ROW")]
    pub row: Option<String>,
    /// Message size of ROW, such as 4KiB
    #[arg(short = 's', long, value_name = "SIZE", default_value = "128", requires = "row", allow_hyphen_values = true, help_heading = WORKLOAD)]
    pub size: ByteSize,
    /// Only these CPUs, such as 0-3,8
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, help_heading = TOPOLOGY)]
    pub cpus: Option<CpuList>,
    /// Measure all pairs of CPUs. By default, a sample of each relation is measured if all pairs would take longer than --within
    #[arg(long, help_heading = TOPOLOGY)]
    pub all: bool,
    /// Trials of each pair, interleaved with those of all others
    #[arg(long, help_heading = PRECISION, value_name = "N", default_value_t = 5, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub trials: u32,
    /// Measured time of a trial of ROW
    #[arg(long, help_heading = PRECISION, value_name = "TIME", default_value = "20ms", requires = "row", allow_hyphen_values = true)]
    pub budget: Time,
    /// Longest time of all trials together [default: 1min for a sample]. Pairs without a trial until then are missing
    #[arg(long, help_heading = PRECISION, value_name = "TIME", allow_hyphen_values = true)]
    pub within: Option<Time>,
    #[command(flatten)]
    pub common: CommonOptions,
    /// Output format
    #[arg(long, help_heading = OUTPUT, value_enum, default_value_t = MapFormat::Table)]
    pub format: MapFormat,
    /// Write a heat map to FILE too, as SVG
    #[arg(short = 'o', long, value_name = "FILE", help_heading = OUTPUT)]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub name: SavedName,
}

/// Forms of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MapFormat {
    /// Text
    Table,
    /// One object
    Json,
    /// One line per pair of CPUs
    Csv,
}
