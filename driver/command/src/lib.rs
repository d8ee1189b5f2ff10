//! `furlong driver`: the kernel module that makes furlong's own devices, from its source to what goes through them.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod build;
#[cfg(target_os = "linux")]
mod device;
#[cfg(target_os = "linux")]
mod diagnosis;
#[cfg(target_os = "linux")]
mod install;
#[cfg(target_os = "linux")]
mod log;
mod options;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod source;
#[cfg(target_os = "linux")]
mod state;
#[cfg(target_os = "linux")]
mod status;
#[cfg(target_os = "linux")]
mod steps;
#[cfg(target_os = "linux")]
mod system_files;

#[cfg(not(target_os = "linux"))]
use furlong_console::exit::CannotHere;
use furlong_console::exit::Outcome;
pub use options::DriverOptions;
#[cfg(target_os = "linux")]
use options::DriverPart;
#[cfg(target_os = "linux")]
use system_files::SystemFiles;

/// Runs the requested `furlong driver` command.
#[cfg(target_os = "linux")]
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

/// Reports that the driver exists only for Linux.
///
/// # Errors
/// Always returns [`CannotHere`].
#[cfg(not(target_os = "linux"))]
pub fn driver(_options: &DriverOptions) -> anyhow::Result<Outcome> {
    let reason = "the driver is a module for Linux; other systems would need a different driver, on Windows one signed by Microsoft";
    Err(CannotHere::new(reason, "run this on Linux").into())
}
