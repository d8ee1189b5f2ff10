//! The processes that may open a pipe of this process.
//!
//! Windows grants read access to all users by default. Their connections would keep a listener waiting.

use crate::windows::return_value::{check, own};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::null_mut;
use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{
    GetTokenInformation, PSECURITY_DESCRIPTOR, SECURITY_ATTRIBUTES, TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// A security descriptor that grants full access to processes of this user, of administrators and of the system, and
/// none to others.
#[derive(Debug)]
pub(crate) struct Security(PSECURITY_DESCRIPTOR);

impl Security {
    /// Returns the descriptor for the user of this process.
    pub(crate) fn for_this_user() -> io::Result<Security> {
        let text = format!("D:P(A;;GA;;;{})(A;;GA;;;BA)(A;;GA;;;SY)", user()?);
        let text: Vec<u16> = text.encode_utf16().chain([0]).collect();
        let mut descriptor = null_mut();
        // SAFETY: the text is NUL-terminated, and there is room for one pointer.
        check(unsafe {
            let into = &raw mut descriptor;
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                text.as_ptr(),
                SDDL_REVISION_1,
                into,
                null_mut(),
            )
        })?;
        Ok(Security(descriptor))
    }

    /// Returns the descriptor as function arguments, valid as long as self lives.
    pub(crate) fn attributes(&self) -> SECURITY_ATTRIBUTES {
        let bytes = size_of::<SECURITY_ATTRIBUTES>() as u32;
        SECURITY_ATTRIBUTES { nLength: bytes, lpSecurityDescriptor: self.0, bInheritHandle: 0 }
    }
}

impl Drop for Security {
    fn drop(&mut self) {
        // SAFETY: Windows has allocated it with `LocalAlloc`, and it is no longer used.
        unsafe { LocalFree(self.0) };
    }
}

/// Number of words for a user and its security identifier, which has at most 68 bytes.
const USER_WORDS: usize = (size_of::<TOKEN_USER>() + 68).div_ceil(size_of::<usize>());

/// Returns the security identifier of this process's user as text.
fn user() -> io::Result<String> {
    let mut token = null_mut();
    // SAFETY: there is room for one handle.
    check(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) })?;
    let token = own(token)?;
    let (mut found, mut written) = ([0usize; USER_WORDS], 0);
    let (into, bytes) = (found.as_mut_ptr(), size_of_val(&found) as u32);
    // SAFETY: there is room for `bytes` bytes, aligned for the structure.
    check(unsafe {
        GetTokenInformation(token.as_raw_handle(), TokenUser, into.cast(), bytes, &raw mut written)
    })?;
    let mut text = null_mut();
    // SAFETY: Windows has filled the structure, which points into the same words, and there is room for one pointer.
    check(unsafe { ConvertSidToStringSidW((*into.cast::<TOKEN_USER>()).User.Sid, &raw mut text) })?;
    // SAFETY: Windows returns a NUL-terminated text, which is freed after the copy.
    unsafe {
        let len = (0..).take_while(|at| *text.add(*at) != 0).count();
        let copied = String::from_utf16_lossy(std::slice::from_raw_parts(text, len));
        LocalFree(text.cast());
        Ok(copied)
    }
}

#[cfg(test)]
mod tests {
    use super::user;
    use crate::windows::pipe::pair;
    use crate::windows::return_value::check;
    use std::os::windows::io::AsRawHandle;
    use std::ptr::null_mut;
    use windows_sys::Win32::Foundation::LocalFree;
    use windows_sys::Win32::Security::Authorization::{
        ConvertSecurityDescriptorToStringSecurityDescriptorW, SDDL_REVISION_1,
    };
    use windows_sys::Win32::Security::{DACL_SECURITY_INFORMATION, GetKernelObjectSecurity};

    #[test]
    fn a_pipe_is_for_this_user_administrators_and_the_system() {
        let [pipe, _other] = pair().unwrap();
        let (mut descriptor, mut written, mut text) = ([0u64; 64], 0, null_mut());
        let (into, bytes) = (descriptor.as_mut_ptr().cast(), size_of_val(&descriptor) as u32);
        // SAFETY: there is room for all answers, and the last one is a NUL-terminated text that is freed here.
        let text = unsafe {
            let what = DACL_SECURITY_INFORMATION;
            check(GetKernelObjectSecurity(pipe.as_raw_handle(), what, into, bytes, &raw mut written))
                .unwrap();
            let (as_text, none) = (&raw mut text, null_mut());
            let made = ConvertSecurityDescriptorToStringSecurityDescriptorW;
            check(made(into, SDDL_REVISION_1, what, as_text, none)).unwrap();
            let len = (0..).take_while(|at| *text.add(*at) != 0).count();
            let copied = String::from_utf16_lossy(std::slice::from_raw_parts(text, len));
            LocalFree(text.cast());
            copied
        };
        let entries: Vec<_> = text.split('(').skip(1).map(|entry| entry.trim_end_matches(')')).collect();
        let of: Vec<_> = entries.iter().filter_map(|entry| entry.rsplit(';').next()).collect();
        let user = user().unwrap();
        assert_eq!(of, [user.as_str(), "BA", "SY"], "{text}");
    }
}
