//! `furlong driver`: the kernel module that makes furlong's own devices, from its source to what goes through them.
#![forbid(unsafe_code)]

mod building;
mod cause;
mod device;
mod facts;
mod install;
mod log;
mod options;
mod places;
mod plan;
mod program;
mod source;
mod status;

use furlong_console::exit::Outcome;
pub use options::DriverOptions;
use options::DriverPart;
use places::Places;

/// Does what was asked with the driver.
pub fn driver(options: &DriverOptions) -> anyhow::Result<Outcome> {
    let places = Places::of_this_machine();
    match &options.part {
        DriverPart::Status(options) => status::status(&places, options),
        DriverPart::Build(options) => building::build(&places, options),
        DriverPart::Install(options) => install::install(&places, options),
        DriverPart::Remove(options) => install::remove(&places, options),
        DriverPart::Log(options) => log::log(&places, options),
    }
}
