//! The start of the command that provides a pipe to the other host.

use super::options::PeerOptions;
use super::pipe::Pipe;
use crate::adapter::RUN_VARIABLE;
use crate::started_program::{PRINTED_BYTES, StartedProgram};
use furlong_model::{Failure, Fault, Phase, Role};
use furlong_os::AsHandle;
use furlong_os::linux::pipe::{pipe, set_size, size_bytes};
use furlong_os::linux::signal;
use furlong_os::memory::bounded_object;
use furlong_os::process::{Bond, Output, Program, send_signal, spawn};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

/// The requested capacity of the pipe to the other host, in bytes. A larger pipe accepts larger parts of the program at
/// once.
const PIPE_BYTES: usize = 1 << 20;

/// Starts the command in a new session: it receives no input from this terminal, and cannot ask for a password there.
/// It ends with its pipe. Otherwise the pipe's destructor ends it, or the cleanup process of `run` if this process
/// dies.
///
/// # Errors
/// Returns a failure if a pipe, the memory object for the output, or the process cannot be created.
pub(super) fn start(options: &PeerOptions, run: &str) -> Result<Pipe, Failure> {
    let command = options.address.command(options.patience);
    started(&command, run).map_err(|error| Failure {
        phase: Phase::Create,
        party: Some(Role::Responder.into()),
        fault: Fault::Error,
        detail: format!("start the command that reaches the other host: {error}"),
    })
}

fn started(command: &str, run: &str) -> io::Result<Pipe> {
    let ((their_requests, requests), (replies, their_replies)) = (pipe()?, pipe()?);
    // The default capacity is sufficient, too.
    let _ = set_size(requests.as_handle(), PIPE_BYTES);
    let part_bytes = size_bytes(requests.as_handle())? as usize;
    let printed = bounded_object("furlong-peer-output", PRINTED_BYTES)?;
    let program = Program {
        arguments: &["-c", command],
        input: Some(their_requests.as_handle()),
        output: Output::To(their_replies.as_handle()),
        environment: &[(RUN_VARIABLE, OsStr::new(run))],
        is_foreign: true,
        ..Program::at(Path::new("/bin/sh"))
    };
    let child = spawn(&program, &[], printed.as_handle(), Bond::Outlives)?;
    let program = StartedProgram::new(Role::Responder.into(), child, replies, printed);
    // The minus addresses the process group, whose number is the PID of the command. An error means that every
    // process of the group has exited.
    let ask_to_end = |pid: i32| drop(send_signal(-pid, signal::TERMINATE));
    Ok(Pipe::new(program, File::from(requests), part_bytes, ask_to_end, run))
}
