//! When charts are drawn, as it is typed.

use crate::output;
use clap::{Args, ValueEnum};
use furlong_console::exit::Usage;
use furlong_render::{Charts, Style};

/// What verbs take that draw.
#[derive(Debug, Clone, Copy, Args)]
pub struct ChartOptions {
    /// Charts under the tables of --format table: throughput or time against size, and how long the slowest round trips
    /// take
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Chart::Auto)]
    pub chart: Chart,
}

/// When charts are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Chart {
    /// Where they say more than the tables: of three sizes and more, and of groups of two to five rows
    Auto,
    /// Wherever there is something to draw
    Always,
    /// Nowhere
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
