//! Kinds of pages that back a mapping: requested, populated, and read back from `/proc/self/smaps`.

use crate::error::{Context, check};
use crate::linux::available_memory::read_machine;
use furlong_model::PageKind;
use std::fs::read_to_string;
use std::io;
use std::ptr::NonNull;

/// Beginning of an error if memory is not in the requested pages.
pub const NOT_IN_EFFECT: &str = "the requested pages are not in effect";

/// Returns the size of a base page, in bytes.
pub fn page_bytes() -> usize {
    // SAFETY: no memory is involved, and the value always exists.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Returns the size of a page of this kind, in bytes.
///
/// # Errors
/// Returns `NotFound` if the kernel has no such pages.
pub fn unit_bytes(kind: PageKind) -> io::Result<usize> {
    let (bytes, option) = match kind {
        PageKind::Small => return Ok(page_bytes()),
        PageKind::Transparent => {
            let bytes = read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").ok();
            (bytes.and_then(|bytes| bytes.trim().parse().ok()), "CONFIG_TRANSPARENT_HUGEPAGE")
        }
        PageKind::Huge => (read_machine("Hugepagesize:").map(|kib| kib as usize * 1024), "CONFIG_HUGETLBFS"),
    };
    let missing = || format!("{NOT_IN_EFFECT}: the kernel has no {kind} pages ({option})");
    bytes.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, missing()))
}

/// Rounds a length up to whole pages of the requested kind, if one is requested.
///
/// # Errors
/// Returns the errors of [`unit_bytes`].
pub fn rounded(len: usize, kind: Option<PageKind>) -> io::Result<usize> {
    let unit = kind.map(unit_bytes).transpose()?.unwrap_or(1);
    len.checked_next_multiple_of(unit).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Returns the way to get pages of this kind.
pub const fn remedy(kind: PageKind) -> &'static str {
    match kind {
        PageKind::Small => "use another --file-folder, or leave --pages out",
        PageKind::Transparent => {
            "use Linux 6.1 or later, free memory, no PR_SET_THP_DISABLE, and in /sys/kernel/mm/transparent_hugepage an \
             'enabled' other than never and a 'shmem_enabled' other than deny"
        }
        PageKind::Huge => {
            "as root: sysctl vm.nr_hugepages=N; System V also needs CAP_IPC_LOCK or vm.hugetlb_shm_group"
        }
    }
}

/// Populates a mapping, which has whole pages of this kind, and checks that they are in effect.
///
/// # Errors
/// Returns [`NOT_IN_EFFECT`] with the cause.
pub(crate) fn populate(start: NonNull<u8>, len: usize, kind: PageKind) -> io::Result<()> {
    // SAFETY: the caller has mapped the range, and no advice here changes its contents.
    let advise = |advice| check(unsafe { libc::madvise(start.as_ptr().cast(), len, advice) });
    let wanted = match kind {
        PageKind::Small => Some(libc::MADV_NOHUGEPAGE),
        PageKind::Transparent => Some(libc::MADV_HUGEPAGE),
        PageKind::Huge => None,
    };
    // A kernel without transparent huge pages rejects both, and has small pages.
    let _ = wanted.map(advise);
    advise(libc::MADV_POPULATE_WRITE)
        .context(|| format!("{NOT_IN_EFFECT}: MADV_POPULATE_WRITE (Linux 5.14 or later)"))?;
    let mut found = in_effect(start, len)?;
    let mut collapsed = Ok(0);
    if kind == PageKind::Transparent && !found.is(kind)? {
        collapsed = advise(libc::MADV_COLLAPSE).context(|| "MADV_COLLAPSE");
        found = in_effect(start, len)?;
    }
    if found.is(kind)? {
        return Ok(());
    }
    let why = collapsed.err().map_or_else(String::new, |error| format!(" ({error})"));
    let MappedPages { huge_kib, size_kib, page_kib } = found;
    let parts =
        format!("of {size_kib} KiB in pages of {page_kib} KiB, {huge_kib} KiB are in transparent huge pages");
    Err(io::Error::other(format!("{NOT_IN_EFFECT}: {parts}{why}")))
}

/// The mappings of an address range, in KiB.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MappedPages {
    size_kib: usize,
    /// The part that page tables map as transparent huge pages.
    huge_kib: usize,
    /// The largest size of the kernel's pages.
    page_kib: usize,
}

impl MappedPages {
    pub(crate) fn is(&self, kind: PageKind) -> io::Result<bool> {
        let huge_kib = if kind == PageKind::Transparent { self.size_kib } else { 0 };
        let page = if kind == PageKind::Transparent { PageKind::Small } else { kind };
        Ok(self.size_kib > 0 && self.huge_kib == huge_kib && self.page_kib * 1024 == unit_bytes(page)?)
    }
}

/// Returns the kind of pages of all mappings that overlap this range.
pub(crate) fn in_effect(start: NonNull<u8>, len: usize) -> io::Result<MappedPages> {
    let text = read_to_string("/proc/self/smaps")
        .context(|| format!("{NOT_IN_EFFECT}, or cannot be read back: /proc/self/smaps"))?;
    let start = start.addr().get();
    Ok(mapped(&text, start, start.saturating_add(len)))
}

fn mapped(smaps: &str, start: usize, end: usize) -> MappedPages {
    let mut found = MappedPages::default();
    let mut is_inside = false;
    for line in smaps.lines() {
        let first = line.split_whitespace().next().unwrap_or_default();
        let Some(name) = first.strip_suffix(':') else {
            let mut bounds = first.split('-').map(|address| usize::from_str_radix(address, 16));
            if let (Some(Ok(from)), Some(Ok(to))) = (bounds.next(), bounds.next()) {
                is_inside = from < end && start < to;
            }
            continue;
        };
        let kib = line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
        match name {
            "Size" if is_inside => found.size_kib += kib,
            "KernelPageSize" if is_inside => found.page_kib = found.page_kib.max(kib),
            "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" if is_inside => found.huge_kib += kib,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_is_read_from_mappings_that_overlap() {
        let smaps = "1000-3000 rw-p 00000000 00:00 0 \nSize: 8 kB\nKernelPageSize: 4 kB\nAnonHugePages: 8 kB\n\
                     3000-5000 rw-s 00000000 00:01 7 /memfd:a: b (deleted)\nSize: 8 kB\nKernelPageSize: 4 kB\n\
                     ShmemPmdMapped: 4 kB\nVmFlags: rd wr\n\
                     5000-6000 rw-p 00000000 00:00 0 [heap]\nSize: 4 kB\nKernelPageSize: 2048 kB\n";
        let found = |start, end| {
            let MappedPages { size_kib, huge_kib, page_kib } = mapped(smaps, start, end);
            [size_kib, huge_kib, page_kib]
        };
        assert_eq!(found(0x1000, 0x2000), [8, 8, 4]);
        assert_eq!(found(0x2fff, 0x3001), [16, 12, 4]);
        assert_eq!(found(0x5000, 0x9000), [4, 0, 2048]);
        assert_eq!(found(0x6000, 0x9000), [0, 0, 0]);
    }
}
