//! A stream socket between two hosts: the responder listens, and accepts the client with the secret as its initiator.

use crate::socket_link::{MessageBuffers, one_end};
use crate::{BetweenHosts, Entrance, Link, LinkSpecification, Secret};
use furlong_model::Role;
use furlong_os::socket::owned;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// The steps for streams with a network address.
pub(super) const STREAM_BETWEEN_HOSTS: BetweenHosts = BetweenHosts { listen, enter, send_again: None };

/// Interval between two attempts to accept a connection.
const LOOK: Duration = Duration::from_millis(1);

/// Maximum time that a client may take to send the secret.
const LONGEST_SILENCE: Duration = Duration::from_secs(1);

fn listen(at: IpAddr) -> io::Result<Box<dyn Entrance>> {
    let listener = TcpListener::bind((at, 0))?;
    listener.set_nonblocking(true)?;
    Ok(Box::new(StreamEntrance(listener)))
}

fn enter(
    to: SocketAddr,
    secret: &Secret,
    deadline: Instant,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    let left = deadline.saturating_duration_since(Instant::now()).max(LOOK);
    let mut stream = TcpStream::connect_timeout(&to, left)?;
    stream.set_nodelay(true)?;
    stream.write_all(secret)?;
    one_end(owned(stream), Role::Initiator, MessageBuffers::Segments, specification)
}

/// A listening socket.
struct StreamEntrance(TcpListener);

impl Entrance for StreamEntrance {
    fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    fn admit(
        self: Box<Self>,
        secret: &Secret,
        deadline: Instant,
        specification: &LinkSpecification,
    ) -> io::Result<Link> {
        while Instant::now() < deadline {
            match self.0.accept() {
                Ok((stream, _)) => {
                    if let Some(stream) = shown(stream, secret)? {
                        return one_end(
                            owned(stream),
                            Role::Responder,
                            MessageBuffers::Segments,
                            specification,
                        );
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(LOOK),
                // The client has closed its connection already.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "the initiator has not connected to the port"))
    }
}

/// Returns the connection if its client sends the secret in time.
fn shown(mut stream: TcpStream, secret: &Secret) -> io::Result<Option<TcpStream>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(LONGEST_SILENCE))?;
    let mut found = Secret::default();
    if stream.read_exact(&mut found).is_err() || found != *secret {
        return Ok(None);
    }
    stream.set_read_timeout(None)?;
    stream.set_nodelay(true)?;
    Ok(Some(stream))
}

#[cfg(test)]
mod tests {
    use super::*;
    use furlong_model::{Access, RequestedConditions};
    use std::net::Ipv4Addr;
    use std::path::PathBuf;

    fn specification() -> LinkSpecification {
        LinkSpecification {
            name: String::new(),
            key: 0,
            sizes_bytes: [128; 2],
            depth: 1,
            receivers: 1,
            buffer_bytes: None,
            access: Access::Copy,
            conditions: RequestedConditions::default(),
            blocking: true,
            folder: PathBuf::new(),
            file_folder: PathBuf::new(),
            folder_fault: None,
        }
    }

    #[test]
    fn a_stranger_is_not_taken_for_the_initiator() {
        let entrance = listen(Ipv4Addr::LOCALHOST.into()).unwrap();
        let address = entrance.address().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        let secret = [7; 16];
        let responder = std::thread::spawn(move || {
            entrance
                .admit(&secret, deadline, &specification())
                .map(|link| link.end(Role::Responder).descriptors.len())
        });
        TcpStream::connect(address).unwrap().write_all(&[8; 16]).unwrap();
        let link = enter(address, &secret, deadline, &specification()).unwrap();
        assert_eq!(
            (link.end(Role::Initiator).descriptors.len(), link.end(Role::Responder).descriptors.len()),
            (1, 0)
        );
        assert_eq!(responder.join().unwrap().unwrap(), 1);
    }

    #[test]
    fn nobody_is_waited_for_longer_than_said() {
        let entrance = listen(Ipv4Addr::LOCALHOST.into()).unwrap();
        let admitted = entrance.admit(&[7; 16], Instant::now(), &specification());
        assert_eq!(admitted.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
