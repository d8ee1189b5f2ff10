//! What a new process is given beside the usual: the list of the handles that it inherits, and no other, and the job that it is
//! in.

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
    /// That these handles are inherited, each of them once, and inheritable; and that the process is in these jobs, from its
    /// first moment.
    ///
    /// # Errors
    /// None that is known.
    pub(crate) fn new(handles: &'a [HANDLE], jobs: &'a [HANDLE]) -> io::Result<Attributes<'a>> {
        const ATTRIBUTES: u32 = 2;
        let mut bytes = 0;
        // SAFETY: no room is given, so that only the size is written.
        unsafe { InitializeProcThreadAttributeList(null_mut(), ATTRIBUTES, 0, &raw mut bytes) };
        let words = bytes.div_ceil(size_of::<usize>());
        let mut list = vec![0usize; words].into_boxed_slice();
        let start = list.as_mut_ptr().cast();
        // SAFETY: there is room for as many bytes as were asked for, aligned as a pointer is, and it keeps its place.
        check(unsafe { InitializeProcThreadAttributeList(start, ATTRIBUTES, 0, &raw mut bytes) })
            .context(|| "make a list of attributes")?;
        // From here on it is deleted when it is dropped.
        let attributes = Attributes { list, handles: PhantomData };
        for (kind, handles) in
            [(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles), (PROC_THREAD_ATTRIBUTE_JOB_LIST, jobs)]
        {
            let (from, size) = (handles.as_ptr().cast(), size_of_val(handles));
            // SAFETY: the list is initialised; the handles outlive it, as its lifetime says.
            check(unsafe {
                UpdateProcThreadAttribute(attributes.list(), 0, kind as usize, from, size, null_mut(), null())
            })
            .context(|| "list the handles of a new process")?;
        }
        Ok(attributes)
    }

    /// The list, as Windows takes it.
    pub(crate) fn list(&self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        self.list.as_ptr().cast_mut().cast()
    }
}

impl Drop for Attributes<'_> {
    fn drop(&mut self) {
        // SAFETY: it was initialised, and nobody uses it any more.
        unsafe { DeleteProcThreadAttributeList(self.list()) };
    }
}
