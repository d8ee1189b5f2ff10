//! Identity of this process, and unique names.

use crate::handle::Handle;
use crate::windows::return_value::own;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::null_mut;
use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::Security::Authentication::Identity::RtlGenRandom;
use windows_sys::Win32::Security::{GetTokenInformation, TOKEN_ELEVATION, TOKEN_QUERY, TokenElevation};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Returns whether this process has the rights of the machine's administrator, because it runs elevated.
pub fn is_administrator() -> bool {
    let elevation = || -> io::Result<bool> {
        let token = token()?;
        let mut elevation = TOKEN_ELEVATION::default();
        let (size, mut written) = (size_of::<TOKEN_ELEVATION>() as u32, 0);
        // SAFETY: at most `size` bytes are written into a structure of that size.
        crate::windows::return_value::check(unsafe {
            let into = (&raw mut elevation).cast();
            GetTokenInformation(token.as_raw_handle(), TokenElevation, into, size, &raw mut written)
        })?;
        Ok(elevation.TokenIsElevated != 0)
    };
    elevation().unwrap_or(false)
}

fn token() -> io::Result<Handle> {
    let mut token = null_mut();
    // SAFETY: one handle is written, which has no other owner.
    unsafe {
        crate::windows::return_value::check(OpenProcessToken(
            GetCurrentProcess(),
            TOKEN_QUERY,
            &raw mut token,
        ))?;
        own(token)
    }
}

/// Returns 64 random bits from Windows.
///
/// # Errors
/// No failure is known.
pub fn random() -> io::Result<u64> {
    let mut bits = 0u64;
    // SAFETY: 8 bytes are written into a u64.
    if unsafe { RtlGenRandom((&raw mut bits).cast(), 8) } {
        Ok(bits)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Returns `None`: Windows needs no boot ID, because no object of furlong outlives a boot there.
pub fn boot() -> Option<String> {
    None
}

/// `PROCESS_BASIC_INFORMATION`, of which only the last field is used.
#[repr(C)]
#[derive(Default)]
struct BasicInformation {
    others: [usize; 5],
    inherited_from: usize,
}

/// Returns the PID of the parent: a system call that does almost nothing.
#[inline]
pub fn parent_process() -> i32 {
    let mut basic = BasicInformation::default();
    let (size, into) = (size_of::<BasicInformation>() as u32, (&raw mut basic).cast());
    // SAFETY: at most `size` bytes are written into a structure of that size, for which any integers are valid.
    unsafe {
        NtQueryInformationProcess(GetCurrentProcess(), ProcessBasicInformation, into, size, null_mut());
    }
    basic.inherited_from as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_draws_are_the_same() {
        assert_ne!(random().unwrap(), random().unwrap());
    }
}
