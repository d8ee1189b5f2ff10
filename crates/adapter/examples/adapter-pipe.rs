//! furlong's own pipe as an adapter. The benchmark `adapter_pipe` measures the overhead of an adapter with it.

use furlong_adapter::{Capabilities, EndpointSetup, Limits, Link, LinkSpecification, Mechanism, Unavailable};
use furlong_mechanism::Pipe;
use std::io;

/// Pipe under another name.
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

/// Runs the adapter.
pub fn main() -> std::process::ExitCode {
    furlong_adapter::run::<AdapterPipe>(&[("furlong-adapter", env!("CARGO_PKG_VERSION"))])
}
