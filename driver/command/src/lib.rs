//! `furlong driver`: the kernel module that makes furlong's own devices, from its source to what goes through them.
#![forbid(unsafe_code)]

mod build;
mod device;
mod diagnosis;
mod install;
mod log;
mod options;
mod program;
mod source;
mod state;
mod status;
mod steps;
mod system_files;

use furlong_console::exit::Outcome;
pub use options::DriverOptions;
use options::DriverPart;
use system_files::SystemFiles;

/// Does what was asked with the driver.
pub fn driver(options: &DriverOptions) -> anyhow::Result<Outcome> {
    let files = SystemFiles::of_this_machine();
    match &options.part {
        DriverPart::Status(options) => status::status(&files, options),
        DriverPart::Build(options) => build::build(&files, options),
        DriverPart::Install(options) => install::install(&files, options),
        DriverPart::Remove(options) => install::remove(&files, options),
        DriverPart::Log(options) => log::log(&files, options),
    }
}
