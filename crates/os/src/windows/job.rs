//! Jobs of this process: the processes in one are killed when this process ends.

use crate::error::Context;
use crate::handle::Handle;
use crate::windows::return_value::{check, own};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::null;
use std::sync::OnceLock;
use windows_sys::Win32::System::JobObjects::{
    CreateJobObjectW, JOB_OBJECT_LIMIT, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};

/// Created with the first child, and open until this process ends.
static JOB: OnceLock<Handle> = OnceLock::new();

/// Returns the job of this process's children.
///
/// # Errors
/// Returns an error if Windows cannot create a job.
pub(crate) fn own_job() -> io::Result<&'static Handle> {
    if let Some(job) = JOB.get() {
        return Ok(job);
    }
    let made = make().context(|| "make a job for the processes of a run")?;
    Ok(JOB.get_or_init(|| made))
}

/// Creates an empty job.
///
/// # Errors
/// Returns an error if Windows cannot create a job.
pub(crate) fn make() -> io::Result<Handle> {
    // SAFETY: no name is given; the new handle has no other owner.
    let job = unsafe { own(CreateJobObjectW(null(), null())) }?;
    limit(&job, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)?;
    Ok(job)
}

/// Lets the processes in the job outlive this process.
///
/// # Errors
/// No failure is known.
pub(crate) fn release(job: Handle) -> io::Result<()> {
    limit(&job, 0)
}

fn limit(job: &Handle, flags: JOB_OBJECT_LIMIT) -> io::Result<()> {
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = flags;
    let (from, size) = (&raw const limits, size_of_val(&limits) as u32);
    // SAFETY: one structure of that size is read.
    check(unsafe {
        SetInformationJobObject(job.as_raw_handle(), JobObjectExtendedLimitInformation, from.cast(), size)
    })
}
