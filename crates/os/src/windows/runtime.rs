//! The system under this program: Windows itself, or Wine.

use std::ffi::{CStr, c_char};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};

/// Returns Wine's version, for example `8.0`; `None` on Windows itself.
pub fn wine_version() -> Option<String> {
    let library = super::return_value::wide("ntdll.dll");
    // SAFETY: both names end with a zero. If Wine exports a function of this name, it takes nothing and returns a text that ends
    // with a zero and stays.
    unsafe {
        let function =
            GetProcAddress(GetModuleHandleW(library.as_ptr()), c"wine_get_version".as_ptr().cast())?;
        let version: unsafe extern "C" fn() -> *const c_char = std::mem::transmute(function);
        Some(CStr::from_ptr(version()).to_string_lossy().into_owned())
    }
}
