//! Turns a mechanism into a separate program: an *adapter*, which runs in furlong's own benchmark loop.
//!
//! The mechanism implements the traits that furlong's own mechanisms implement: [`Mechanism`] creates a link, and
//! [`Endpoint`] sends and receives. The program is:
//!
//! ```no_run
//! # use furlong_adapter::{Endpoint, EndpointSetup, Limits, Link, LinkSpecification, Mechanism, Unavailable};
//! # struct Mine;
//! # struct End;
//! # impl Endpoint for End {
//! #     fn send(&mut self, _: &mut furlong_adapter::Message) -> std::io::Result<()> { Ok(()) }
//! #     fn recv(&mut self, _: &mut furlong_adapter::Message) -> std::io::Result<usize> { Ok(0) }
//! # }
//! # impl Mechanism for Mine {
//! #     const CAPABILITIES: furlong_adapter::Capabilities = furlong_adapter::Capabilities {
//! #         name: "mine", ..furlong_adapter::Capabilities::library("a library's own queue")
//! #     };
//! #     type Endpoint = End;
//! #     fn probe() -> Result<Limits, Unavailable> { Ok(Limits::none()) }
//! #     fn create(_: &LinkSpecification) -> std::io::Result<Link> { Ok(Link::new([furlong_adapter::Depth::of(1); 2])) }
//! #     fn open(_: &LinkSpecification, _: EndpointSetup) -> std::io::Result<End> { Ok(End) }
//! # }
//! fn main() -> std::process::ExitCode {
//!     furlong_adapter::run::<Mine>(&[("library", "1.2.3")])
//! }
//! ```
//!
//! The program needs an `adapter.toml` in its directory (see `adapters/protocol.md` of furlong). The mechanism
//! supports the features of a built-in one: fixed rates, windows, counted system calls, explanations. The program and
//! the furlong that starts it must have the same version.
#![forbid(unsafe_code)]

use furlong_bench::{MechanismEntry, adapter::say_hello, child_main};
pub use furlong_mechanism::{Endpoint, EndpointSetup, Handles, Link, LinkSpecification, Mechanism, Message};
pub use furlong_model::{
    Call, Calls, Capabilities, Copies, Depth, Family, KernelBuffer, Lifetime, Limits, PeerDeath, Reach, Room,
    Start, Unavailable, Wait, WhenFull,
};
use std::process::ExitCode;

/// Runs an adapter with one mechanism, from start to exit status. `versions` lists the names and versions of its
/// libraries.
pub fn run<M: Mechanism>(versions: &[(&str, &str)]) -> ExitCode {
    if let Some(control) = furlong_bench::requested_child() {
        return ExitCode::from(child_main(|| vec![MechanismEntry::of::<M>()], control) as u8);
    }
    let versions = versions.iter().map(|(what, version)| ((*what).to_owned(), (*version).to_owned()));
    match say_hello(&M::CAPABILITIES, &M::probe(), &versions.collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", M::CAPABILITIES.name);
            ExitCode::FAILURE
        }
    }
}
