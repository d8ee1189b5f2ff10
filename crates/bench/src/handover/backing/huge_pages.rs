//! Huge pages, in an object without a name. They are all reserved before the roles begin, and cleared by who touches them
//! first.
//!
//! Where the machine's pool has too few, root lets the kernel make more of ordinary memory. That limit of the machine is
//! raised only while the pages are reserved, and put back before the trial begins; the pages go with their object.

use super::{BackedRegion, Memory};
use crate::persistent::{OVERCOMMIT, PersistentResource, lock_overcommit};
use crate::session::Session;
use furlong_model::Unavailable;
use furlong_os::Context;
use furlong_os::linux::available_memory::of_machine;
use furlong_os::linux::limits::{set_sysctl, sysctl_number};
use furlong_os::linux::segment;
use furlong_os::memory::Region;
use furlong_os::{AsHandle, Handle};
use std::io;

const REMEDY: &str = "as root: sysctl vm.nr_hugepages=N, on a machine with enough free memory";

pub(super) fn make<'a>(size_bytes: usize, session: &Session) -> Result<BackedRegion<'a>, Unavailable> {
    let page_bytes = page_bytes().ok_or_else(|| {
        Unavailable::new("the kernel has no huge pages (/proc/meminfo)", "CONFIG_HUGETLBFS=y")
    })?;
    let len = size_bytes.next_multiple_of(page_bytes);
    let object = reserve(len).or_else(|first| {
        raised(len / page_bytes, session, || reserve(len)).map_err(|second| {
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

/// An object whose pages are all reserved: the kernel keeps them for as long as it is open.
fn reserve(len: usize) -> io::Result<Handle> {
    let object = segment::huge_memfd("furlong-region", len)?;
    Region::of_file(object.as_handle(), len).context(|| "reserve them")?;
    Ok(object)
}

/// Does something while the kernel may make so many huge pages more.
fn raised<T>(pages: usize, session: &Session, reserve: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let lock = lock_overcommit()?;
    let from = sysctl_number(OVERCOMMIT)
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{OVERCOMMIT} cannot be read")))?;
    // The limit counts those that other runs hold too.
    let held =
        of_machine("HugePages_Surp:").and_then(|pages| usize::try_from(pages).ok()).unwrap_or_default();
    let to = from.max(held).saturating_add(pages);
    // Dropped behind the lock, which it takes itself.
    let _made = session.making(PersistentResource::Overcommit { from, to })?;
    let result = set_sysctl(OVERCOMMIT, &to.to_string())
        .context(|| format!("{OVERCOMMIT} cannot be raised"))
        .and_then(|()| reserve());
    drop(lock);
    result
}

/// The size of a huge page, as the kernel makes them where no other is asked for.
fn page_bytes() -> Option<usize> {
    usize::try_from(of_machine("Hugepagesize:")?).ok()?.checked_mul(1024)
}
