//! An anonymous mapping, inherited over fork: no name, no descriptor, no file.

use crate::memory::segment::Segment;
use crate::{EndpointSetup, Link, LinkSpecification};
use furlong_model::{Reach, Start};
use furlong_os::memory::Region;
use std::io;
use std::sync::Arc;

/// Memory without a name.
#[derive(Debug)]
pub struct AnonShm;

impl Segment for AnonShm {
    const NAME: &'static str = "anon-shm";
    const SUMMARY: &'static str = "mailbox in an anonymous mapping inherited over fork";
    const REACH: Reach = Reach::Fork;
    const START: Start = Start::Forked;

    fn create(specification: &LinkSpecification, len: usize, link: &mut Link) -> io::Result<Arc<Region>> {
        let region = Arc::new(Region::anonymous_backed(len, specification.conditions.pages())?);
        link.give_region(&region);
        Ok(region)
    }

    fn attach(
        specification: &LinkSpecification,
        setup: &mut EndpointSetup,
        _len: usize,
    ) -> io::Result<Arc<Region>> {
        let region = setup.region()?;
        // A fork inherits the mapping without its page tables.
        specification.conditions.pages().map_or(Ok(()), |kind| region.populate(kind))?;
        Ok(region)
    }
}
