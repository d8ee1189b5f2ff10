//! Additional attributes of a new process: the complete list of the handles that it inherits, and its job.

use crate::error::Context;
use crate::windows::return_value::check;
use std::io;
use std::marker::PhantomData;
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::{
    DeleteProcThreadAttributeList, InitializeProcThreadAttributeList, LPPROC_THREAD_ATTRIBUTE_LIST,
    PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST, UpdateProcThreadAttribute,
};

/// A list with two attributes, which refer to handles.
#[derive(Debug)]
pub(crate) struct Attributes<'a> {
    list: Box<[usize]>,
    handles: PhantomData<&'a [HANDLE]>,
}

impl<'a> Attributes<'a> {
    /// Creates a list with these handles, which must be inheritable and distinct, and with the jobs that contain the process from
    /// its first moment.
    ///
    /// # Errors
    /// No failure is known.
    pub(crate) fn new(handles: &'a [HANDLE], jobs: &'a [HANDLE]) -> io::Result<Attributes<'a>> {
        const ATTRIBUTES: u32 = 2;
        let mut bytes = 0;
        // SAFETY: no buffer is given, so that only the size is written.
        unsafe { InitializeProcThreadAttributeList(null_mut(), ATTRIBUTES, 0, &raw mut bytes) };
        let words = bytes.div_ceil(size_of::<usize>());
        let mut list = vec![0usize; words].into_boxed_slice();
        let start = list.as_mut_ptr().cast();
        // SAFETY: the buffer has at least the requested number of bytes, is aligned like a pointer, and does not move.
        check(unsafe { InitializeProcThreadAttributeList(start, ATTRIBUTES, 0, &raw mut bytes) })
            .context(|| "make a list of attributes")?;
        // Owned from here on, so that `drop` deletes it.
        let attributes = Attributes { list, handles: PhantomData };
        for (kind, handles) in
            [(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles), (PROC_THREAD_ATTRIBUTE_JOB_LIST, jobs)]
        {
            let (from, size) = (handles.as_ptr().cast(), size_of_val(handles));
            // SAFETY: the list is initialised; the handles outlive it, as its lifetime requires.
            check(unsafe {
                UpdateProcThreadAttribute(attributes.list(), 0, kind as usize, from, size, null_mut(), null())
            })
            .context(|| "list the handles of a new process")?;
        }
        Ok(attributes)
    }

    /// Returns the list in the form that Windows expects.
    pub(crate) fn list(&self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        self.list.as_ptr().cast_mut().cast()
    }
}

impl Drop for Attributes<'_> {
    fn drop(&mut self) {
        // SAFETY: the list was initialised, and no code uses it afterwards.
        unsafe { DeleteProcThreadAttributeList(self.list()) };
    }
}
