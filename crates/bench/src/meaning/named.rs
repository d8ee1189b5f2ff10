//! Probes of objects with a name, which processes open one after the other.

use super::Subject;
use super::process::{Gate, Page, Process, QUIET};
use furlong_mechanism::{LinkSpecification, NamedEnd, NamedObject};
use furlong_model::{Evidence, Reach};
use furlong_os::AsHandle;
use furlong_os::linux::page_cache::evict;
use furlong_os::memory::page_bytes;
use std::io;

/// The number that is put into an object.
const NUMBER: u32 = 7;

/// Leaves a message in the object when its creator and its sender have exited, and looks for it.
pub(super) fn persists(subject: &Subject<'_>) -> io::Result<Evidence> {
    let Some((object, specification)) = object(subject)? else { return Ok(Evidence::Absent) };
    let page = Page::new()?;
    let mut creator = Process::start(&[], || {
        let end = (object.create)(&specification)?;
        page.open(Gate::Sent);
        page.pass(Gate::Released);
        std::mem::forget(end);
        Ok(())
    })?;
    exists(&page, &mut creator)?;
    Process::start(&[], || put(&object, &specification))?.finish()?;
    page.open(Gate::Released);
    creator.finish()?;
    Ok(found(&object, &specification))
}

/// Opens the object in two processes when its creator has exited.
pub(super) fn survives_creator(subject: &Subject<'_>) -> io::Result<Evidence> {
    let Some((object, specification)) = object(subject)? else { return Ok(Evidence::Absent) };
    create_and_exit(&object, &specification)?;
    let page = Page::new()?;
    let mut user = Process::start(&[], || {
        let mut end = (object.open)(&specification)?;
        end.put(NUMBER)?;
        page.open(Gate::Sent);
        page.pass(Gate::Released);
        std::mem::forget(end);
        Ok(())
    })?;
    match exists(&page, &mut user) {
        Ok(()) => Ok(found(&object, &specification)),
        Err(error) => Ok(Evidence::Number { sent: NUMBER, received: None, error: Some(error.to_string()) }),
    }
}

/// Opens the object of this process in a process that inherits nothing.
pub(super) fn has_name(subject: &Subject<'_>) -> io::Result<Evidence> {
    let Some((object, specification)) = object(subject)? else { return Ok(Evidence::Absent) };
    let own = (object.create)(&specification)?;
    match Process::start(&[], || put(&object, &specification))?.finish() {
        Ok(()) => Ok(taken(Ok(own))),
        Err(error) => Ok(Evidence::Number { sent: NUMBER, received: None, error: Some(error.to_string()) }),
    }
}

/// Removes the pages of a file from memory, and reads it again.
pub(super) fn reaches_disk(subject: &Subject<'_>) -> io::Result<Evidence> {
    let Some((object, specification)) = object(subject)? else { return Ok(Evidence::Absent) };
    let Some(file) = object.file else { return Ok(Evidence::Absent) };
    create_and_exit(&object, &specification)?;
    Process::start(&[], || put(&object, &specification))?.finish()?;
    let in_memory = evict(file(&specification)?.as_handle(), page_bytes())?;
    let received = (object.open)(&specification)?.take().ok();
    Ok(Evidence::Disk { in_memory, sent: NUMBER, received })
}

/// Returns the object and its names; `None` if only processes that inherit a descriptor can use the mechanism.
fn object(subject: &Subject<'_>) -> io::Result<Option<(NamedObject, LinkSpecification)>> {
    match subject.built_in.named {
        Some(object) => {
            let specification = subject.session.specification(subject.link, [size_of::<u32>(); 2], false)?;
            Ok(Some((object, specification)))
        }
        None if matches!(subject.built_in.capabilities.reach, Reach::Fork | Reach::Descriptor) => Ok(None),
        None => Err(io::Error::other("furlong has no probe for the names of this mechanism")),
    }
}

/// Waits until a process reports that the object exists.
fn exists(page: &Page, process: &mut Process) -> io::Result<()> {
    let start = std::time::Instant::now();
    while !page.pass_within(Gate::Sent, std::time::Duration::from_millis(1)) {
        if let Some(failed) = process.failure() {
            return Err(io::Error::other(failed.text));
        }
        if start.elapsed() > QUIET {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

fn create_and_exit(object: &NamedObject, specification: &LinkSpecification) -> io::Result<()> {
    Process::start(&[], || {
        std::mem::forget((object.create)(specification)?);
        Ok(())
    })?
    .finish()
}

fn put(object: &NamedObject, specification: &LinkSpecification) -> io::Result<()> {
    let mut end = (object.open)(specification)?;
    let result = end.put(NUMBER);
    std::mem::forget(end);
    result
}

/// Opens the object in this process, and takes the number.
fn found(object: &NamedObject, specification: &LinkSpecification) -> Evidence {
    taken((object.open)(specification))
}

fn taken(end: io::Result<Box<dyn NamedEnd>>) -> Evidence {
    let (received, error) = match end.and_then(|mut end| end.take()) {
        Ok(number) => (Some(number), None),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => (None, None),
        Err(error) => (None, Some(error.to_string())),
    };
    Evidence::Number { sent: NUMBER, received, error }
}
