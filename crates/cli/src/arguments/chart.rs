//! The option for charts.

use super::shared::OUTPUT;
use crate::output;
use clap::{Args, ValueEnum};
use furlong_console::exit::Usage;
use furlong_render::{Charts, Style};

/// Options of verbs that draw charts.
#[derive(Debug, Clone, Copy, Args)]
pub struct ChartOptions {
    /// Draw charts below the tables. They show throughput or latency against size, and the slowest round trips
    #[arg(long, help_heading = OUTPUT, value_enum, value_name = "WHEN", default_value_t = Chart::Auto)]
    pub chart: Chart,
}

/// When charts are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Chart {
    /// For three sizes or more, and for groups of two to five benchmarks
    Auto,
    /// All charts
    Always,
    /// No charts
    Never,
}

impl ChartOptions {
    /// The style of a result on stdout.
    pub fn style(self) -> Style {
        let charts = match self.chart {
            Chart::Auto => Charts::Auto,
            Chart::Always => Charts::Always,
            Chart::Never => Charts::Never,
        };
        Style { charts, ..output::style() }
    }

    /// Refuses charts that were asked for where the result `has_none`.
    pub fn check(self, has_none: bool) -> Result<(), Usage> {
        if self.chart == Chart::Always && has_none {
            return Err(Usage("--chart always: charts are a part of --format table".to_owned()));
        }
        Ok(())
    }
}
