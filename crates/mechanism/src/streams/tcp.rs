//! TCP over the loopback interface, with `TCP_NODELAY`.
//!
//! Every segment passes through the whole protocol: headers, acknowledgements, and the loopback device in a soft interrupt.
//! Expect 1.5 times the CPU time of a UNIX socket. Across cores the wake-up hides much of it.

use crate::socket_link::{MessageBuffers, SOCKET_WAITS, link};
use crate::streams::between_hosts::STREAM_BETWEEN_HOSTS;
use crate::streams::socket_stream::{STREAM_CALLS, TcpStream};
use crate::streams::stream::limits;
use crate::{BetweenHosts, EndpointSetup, Link, LinkSpecification, Mechanism};
use furlong_model::{Capabilities, Family, KernelBuffer, Limits, Reach, Unavailable};
use furlong_os::socket;
use std::io;

/// TCP over loopback, without delay.
#[derive(Debug)]
pub struct Tcp;

impl Mechanism for Tcp {
    const CAPABILITIES: Capabilities = Capabilities {
        name: "tcp",
        summary: "TCP over loopback, without delay",
        family: Family::Socket,
        waits: SOCKET_WAITS,
        boundaries: false,
        calls: STREAM_CALLS,
        buffer: KernelBuffer::Socket,
        reach: Reach::Network,
        ..Capabilities::DEFAULT
    };
    const BETWEEN_HOSTS: Option<BetweenHosts> = Some(STREAM_BETWEEN_HOSTS);
    type Endpoint = TcpStream;

    fn probe() -> Result<Limits, Unavailable> {
        Ok(limits())
    }

    fn create(specification: &LinkSpecification) -> io::Result<Link> {
        link(socket::tcp_pair()?, MessageBuffers::Segments, specification)
    }

    fn open(specification: &LinkSpecification, mut setup: EndpointSetup) -> io::Result<TcpStream> {
        TcpStream::from_socket(&mut setup, specification)
    }
}
