//! Huge pages in an unnamed object. All pages are reserved before the roles begin. The first access clears each page.
//!
//! If the machine's pool is too small, root lets the kernel make more huge pages of ordinary memory. This limit of the
//! machine is raised only while the pages are reserved, and restored before the trial begins. The pages are freed with
//! their object.

use super::{BackedRegion, Memory};
use crate::huge_pages::raise_overcommit;
use crate::session::Session;
use furlong_model::{PageKind, Unavailable};
use furlong_os::Context;
use furlong_os::linux::limits::sysctl_number;
use furlong_os::linux::{page_kind, segment};
use furlong_os::memory::Region;
use furlong_os::{AsHandle, Handle};
use std::io;

const REMEDY: &str = "as root: sysctl vm.nr_hugepages=N, on a machine with enough free memory";

pub(super) fn make<'a>(size_bytes: usize, session: &Session) -> Result<BackedRegion<'a>, Unavailable> {
    let page_bytes = page_kind::unit_bytes(PageKind::Huge).map_err(|_| {
        Unavailable::new("the kernel has no huge pages (/proc/meminfo)", "CONFIG_HUGETLBFS=y")
    })?;
    let len = size_bytes.next_multiple_of(page_bytes);
    let object = reserve(len).or_else(|first| {
        raise_overcommit(len / page_bytes, session).and_then(|_raised| reserve(len)).map_err(|second| {
            let pool = sysctl_number("vm.nr_hugepages").unwrap_or_default();
            let reason = format!(
                "{} bytes of huge pages of {} KiB are needed and vm.nr_hugepages is {pool} ({first}); {second}",
                len,
                page_bytes >> 10
            );
            Unavailable::new(reason, REMEDY)
        })
    })?;
    let in_effect = format!("huge pages of {} KiB", page_bytes >> 10);
    Ok(BackedRegion::plain(Memory::Object(object, len), in_effect))
}

/// Returns an object whose pages are all reserved: the kernel keeps them while the object is open.
fn reserve(len: usize) -> io::Result<Handle> {
    let object = segment::huge_memfd("furlong-region", len)?;
    Region::from_file(object.as_handle(), len).context(|| "reserve them")?;
    Ok(object)
}
