//! `furlong driver log`: what goes through the driver's devices, as it happens.

mod event;
mod following;
mod instance;
mod recording;

use crate::cause;
use crate::facts;
use crate::options::DriverLogOptions;
use crate::places::Places;
use anyhow::Context;
use event::{Line, Shown};
use following::{Ended, Following};
use furlong_console::ListFormat;
use furlong_console::exit::{CannotHere, Outcome};
use furlong_console::output;
use furlong_os::clock::now_ns;
use furlong_os::signal::{self, ENDING};
use furlong_os::tracefs::MOUNTED;
use instance::{Instance, Name};
use recording::Recording;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

/// The parameter that says how many bytes of a message are recorded.
const LOG_BYTES: &str = "sys/module/furlong/parameters/log_bytes";

/// Follows the devices until it is told to end.
pub fn log(places: &Places, options: &DriverLogOptions) -> anyhow::Result<Outcome> {
    if !facts::is_loaded(places) {
        let cause = cause::cause(&facts::look(places));
        return Err(cause.map_or_else(|| CannotHere::new("the driver is not loaded", ""), CannotHere).into());
    }
    if furlong_os::identity::user() != 0 {
        let remedy = "sudo furlong driver log, with the same options";
        return Err(
            CannotHere::new("only root may follow the driver: traces show all processes", remedy).into()
        );
    }
    // Kept as long as the mount, if there was none, is needed.
    let (root, _mount) = trace_root(places)?;
    if !root.join(instance::EVENTS).exists() {
        let why =
            "the driver is loaded without its trace events, which need a kernel with CONFIG_TRACEPOINTS";
        return Err(CannotHere::new(
            why,
            "use a distribution's kernel, and build the driver with its headers",
        )
        .into());
    }
    // From here on a signal must not end us before all is as it was.
    let shutdown_signals = signal::signalfd(&ENDING).context("cannot listen to signals")?;
    let ended = record_and_follow(places, &root, options, shutdown_signals.as_fd())?;
    Ok(match ended {
        Ended::Signal(signal) => Outcome::Interrupted(signal),
        Ended::Enough | Ended::Late | Ended::Unread => Outcome::Done,
        Ended::Over => {
            output::tell(format_args!("furlong: the driver was unloaded, so there is nothing to follow"));
            Outcome::Done
        }
    })
}

fn record_and_follow(
    places: &Places,
    root: &Path,
    options: &DriverLogOptions,
    shutdown_signals: std::os::fd::BorrowedFd<'_>,
) -> anyhow::Result<Ended> {
    let instances = root.join("instances");
    let parameter = places.at(LOG_BYTES);
    instance::remove_leftovers(&instances, |left| recording::put_back(&parameter, &instances, left));
    let before = match options.bytes {
        Some(_) => Some(recording::before(&parameter, &instances)?),
        None => None,
    };
    // Values in it are dropped in reverse order: the folder goes last, since its name has what is to be put back.
    let instance = Instance::make(&instances, Name { pid: std::process::id(), before })?;
    let _recording = match options.bytes {
        Some(bytes) => Some(Recording::begin(&parameter, &instances, instance.name(), bytes)?),
        None => None,
    };
    if options.bytes.is_some_and(|bytes| bytes > 0) {
        output::tell(format_args!(
            "furlong: what messages contain is recorded now, and shown here and to all who may read traces"
        ));
    }
    instance.begin(options.channel)?;
    let pipe = instance.pipe()?;
    output::tell(format_args!("furlong: following the driver; Ctrl-C ends it"));
    let mut following =
        Following::new(pipe, options.lines, options.time.map(|time| now_ns() + time.0.as_nanos() as u64));
    let shown = Shown { hex: options.hex };
    let mut print = |line: &Line| {
        let text = match options.format {
            ListFormat::Table => line.text(shown),
            ListFormat::Json => line.json(),
        };
        output::print_more(&format!("{text}\n"))
    };
    let ended = following.follow(shutdown_signals, || instance.is_there(), &mut print)?;
    // What happened until now is shown, and nothing that comes later.
    if matches!(ended, Ended::Signal(_) | Ended::Late) {
        instance.end()?;
        following.drain(&mut print)?;
    }
    Ok(ended)
}

/// The top folder of the trace file system, and the mount that keeps it where there was none.
fn trace_root(places: &Places) -> anyhow::Result<(PathBuf, Option<std::os::fd::OwnedFd>)> {
    let mounted = MOUNTED.map(|path| places.at(path.trim_start_matches('/')));
    if let Some(root) = mounted.iter().find(|root| root.join("instances").is_dir()) {
        return Ok((root.clone(), None));
    }
    let refused = |error: io::Error| {
        let why = format!(
            "the kernel's traces are not at {}, and cannot be mounted: {error}",
            mounted[0].display()
        );
        CannotHere::new(
            why,
            "sudo mount -t tracefs tracefs /sys/kernel/tracing; a kernel that is locked down refuses it",
        )
    };
    // One that nobody else sees, and that is gone with this process.
    let mount = furlong_os::mount::detached("tracefs", &[]).map_err(refused)?;
    let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
    fs::metadata(root.join("instances")).map_err(refused)?;
    Ok((root, Some(mount)))
}
