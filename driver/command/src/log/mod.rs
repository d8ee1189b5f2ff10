//! `furlong driver log`: what goes through the driver's devices, as it happens.

mod event;
mod follower;
mod instance;
mod recording;

use crate::diagnosis;
use crate::options::DriverLogOptions;
use crate::state;
use crate::system_files::SystemFiles;
use anyhow::Context;
use event::{ByteFormat, Line};
use follower::{EndReason, Follower};
use furlong_console::ListFormat;
use furlong_console::exit::{CannotHere, Outcome};
use furlong_console::output;
use furlong_os::AsHandle;
use furlong_os::clock::now_ns;
use furlong_os::linux::signal::{self, ending};
use furlong_os::linux::tracefs::MOUNTED;
use instance::{Instance, Name};
use recording::Recording;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Module parameter with the number of recorded bytes per message.
const LOG_BYTES: &str = "sys/module/furlong/parameters/log_bytes";

/// Follows the devices until a limit or a signal ends it.
pub fn log(files: &SystemFiles, options: &DriverLogOptions) -> anyhow::Result<Outcome> {
    if !state::is_loaded(files) {
        let cause = diagnosis::diagnose(&state::read(files));
        return Err(cause.map_or_else(|| CannotHere::new("the driver is not loaded", ""), CannotHere).into());
    }
    if !furlong_os::identity::is_administrator() {
        let remedy = "sudo furlong driver log, with the same options";
        return Err(CannotHere::new(
            "only root can follow the driver, because traces show all processes",
            remedy,
        )
        .into());
    }
    // Kept as long as the mount, if there was none, is needed.
    let (root, _mount) = trace_root(files)?;
    if !root.join(instance::EVENTS).exists() {
        let why =
            "the driver is loaded without its trace events, which require a kernel with CONFIG_TRACEPOINTS";
        return Err(CannotHere::new(
            why,
            "boot a distribution's kernel, and build the driver with its headers",
        )
        .into());
    }
    // Signals must not end this process before everything is restored.
    let shutdown_signals = signal::signalfd(&ending()).context("cannot receive signals")?;
    let ended = record_and_follow(files, &root, options, shutdown_signals.as_handle())?;
    Ok(match ended {
        EndReason::Signal(signal) => Outcome::Interrupted(signal),
        EndReason::LineLimit | EndReason::TimeLimit | EndReason::ReaderGone => Outcome::Done,
        EndReason::DriverUnloaded => {
            output::tell(format_args!("furlong: the driver was unloaded, so no more events can arrive"));
            Outcome::Done
        }
    })
}

fn record_and_follow(
    files: &SystemFiles,
    root: &Path,
    options: &DriverLogOptions,
    shutdown_signals: furlong_os::BorrowedHandle<'_>,
) -> anyhow::Result<EndReason> {
    let instances = root.join("instances");
    let parameter = files.at(LOG_BYTES);
    instance::remove_leftovers(&instances, |left| recording::put_back(&parameter, &instances, left));
    let before = match options.bytes {
        Some(_) => Some(recording::before(&parameter, &instances)?),
        None => None,
    };
    // Values are dropped in reverse order: the directory is removed last, because its name holds the value to
    // restore.
    let instance = Instance::make(&instances, Name { pid: std::process::id(), before })?;
    let _recording = match options.bytes {
        Some(bytes) => Some(Recording::begin(&parameter, &instances, instance.name(), bytes)?),
        None => None,
    };
    if options.bytes.is_some_and(|bytes| bytes > 0) {
        output::tell(format_args!(
            "furlong: the content of messages is now recorded, and visible here and to every user who can read traces"
        ));
    }
    instance.begin(options.channel)?;
    let pipe = instance.pipe()?;
    output::tell(format_args!("furlong: following the driver until Ctrl-C"));
    let mut following =
        Follower::new(pipe, options.lines, options.time.map(|time| now_ns() + time.0.as_nanos() as u64));
    let format = if options.hex { ByteFormat::Hex } else { ByteFormat::Text };
    let mut print = |line: &Line| {
        let text = match options.format {
            ListFormat::Table => line.text(format),
            ListFormat::Json => line.json(),
        };
        output::print_more(&format!("{text}\n"))
    };
    let ended = following.follow(shutdown_signals, || instance.is_there(), &mut print)?;
    // Events up to now are shown, and later ones are not.
    if matches!(ended, EndReason::Signal(_) | EndReason::TimeLimit) {
        instance.end()?;
        following.drain(&mut print)?;
    }
    Ok(ended)
}

/// Returns the root of the trace file system, and the mount that keeps it alive if it was not mounted.
fn trace_root(files: &SystemFiles) -> anyhow::Result<(PathBuf, Option<furlong_os::Handle>)> {
    let mounted = MOUNTED.map(|path| files.at(path.trim_start_matches('/')));
    if let Some(root) = mounted.iter().find(|root| root.join("instances").is_dir()) {
        return Ok((root.clone(), None));
    }
    let refused = |error: io::Error| {
        let why = format!(
            "the kernel's traces are not mounted at {}, and mounting them failed: {error}",
            mounted[0].display()
        );
        CannotHere::new(
            why,
            "sudo mount -t tracefs tracefs /sys/kernel/tracing; this fails if the kernel is locked down",
        )
    };
    // A detached mount, which no other process sees and which disappears with this process.
    let mount = furlong_os::linux::mount::detached("tracefs", &[]).map_err(refused)?;
    let root = PathBuf::from(format!("/proc/self/fd/{}", mount.raw_handle()));
    fs::metadata(root.join("instances")).map_err(refused)?;
    Ok((root, Some(mount)))
}
