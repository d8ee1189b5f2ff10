//! furlong's own pipe as an adapter: what a row loses by being another program's can be measured with it.

use furlong_adapter::{Capabilities, EndpointSetup, Limits, Link, LinkSpecification, Mechanism, Unavailable};
use furlong_mechanism::Pipe;
use std::io;

/// The pipe, under another name.
pub struct AdapterPipe;

impl Mechanism for AdapterPipe {
    const CAPABILITIES: Capabilities = Capabilities { name: "adapter-pipe", ..Pipe::CAPABILITIES };
    type Endpoint = <Pipe as Mechanism>::Endpoint;

    fn probe() -> Result<Limits, Unavailable> {
        Pipe::probe()
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        Pipe::create(specification)
    }

    fn open(specification: &LinkSpecification, setup: EndpointSetup) -> io::Result<Self::Endpoint> {
        Pipe::open(specification, setup)
    }
}

/// The adapter's whole life.
pub fn main() -> std::process::ExitCode {
    furlong_adapter::run::<AdapterPipe>(&[("furlong-adapter", env!("CARGO_PKG_VERSION"))])
}
