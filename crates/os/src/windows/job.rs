//! The job of this process: whoever is in it ends when this process does.

use crate::error::Context;
use crate::handle::Handle;
use crate::windows::return_value::{check, own};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::null;
use std::sync::OnceLock;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};

/// It is made with the first child, and stays open until this process ends.
static JOB: OnceLock<Handle> = OnceLock::new();

/// The job of this process's children.
///
/// # Errors
/// If there can be none.
pub(crate) fn own_job() -> io::Result<&'static Handle> {
    if let Some(job) = JOB.get() {
        return Ok(job);
    }
    let made = make().context(|| "make a job for the processes of a run")?;
    Ok(JOB.get_or_init(|| made))
}

fn make() -> io::Result<Handle> {
    // SAFETY: no name is given; what is given out is owned by nobody.
    let job = unsafe { own(CreateJobObjectW(null(), null())) }?;
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    let (from, size) = (&raw const limits, size_of_val(&limits) as u32);
    // SAFETY: one structure of that size is read.
    check(unsafe {
        SetInformationJobObject(job.as_raw_handle(), JobObjectExtendedLimitInformation, from.cast(), size)
    })?;
    Ok(job)
}

/// Puts a process into a job.
///
/// # Errors
/// If it may not be.
pub(crate) fn assign(job: &Handle, process: &Handle) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { AssignProcessToJobObject(job.as_raw_handle(), process.as_raw_handle()) })
        .context(|| "put a process into the job of a run")
}
