//! A datagram socket between two hosts: each socket is connected to the other, once both hosts have received the secret.
//!
//! Any of these datagrams may be lost. So the initiator sends the secret repeatedly until it is answered, and then confirms the
//! answer. Remaining datagrams of this exchange are awaited and dropped, because they would count as damaged messages.

use crate::datagrams::datagram::one_end;
use crate::socket_link::MessageBuffers;
use crate::{BetweenHosts, Entrance, Link, LinkSpecification, Secret};
use furlong_model::Role;
use furlong_os::socket::{drop_received, owned, send};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// The steps for datagrams with a network address.
pub(super) const DATAGRAMS_BETWEEN_HOSTS: BetweenHosts =
    BetweenHosts { listen, enter, send_again: Some(send) };

/// Time to wait for an answer before the secret is sent again.
const PATIENCE: Duration = Duration::from_millis(100);

/// Time for which a responder that has answered waits for the confirmation.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Type of a datagram, sent after the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Here = 1,
    Seen = 2,
    Done = 3,
}

fn datagram(secret: &Secret, word: Word) -> [u8; 17] {
    let mut bytes = [word as u8; 17];
    bytes[..16].copy_from_slice(secret);
    bytes
}

/// Returns the type and the sender of the next datagram with the secret and one of these types; `None` if none arrives in time.
/// Ignores other datagrams.
fn comes(
    socket: &UdpSocket,
    secret: &Secret,
    words: &[Word],
    until: Instant,
) -> io::Result<Option<(Word, SocketAddr)>> {
    // The buffer is larger than a valid datagram, so that a longer datagram is recognised.
    let mut buffer = [0; 64];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        socket.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                let said = words.iter().find(|word| buffer[..length] == datagram(secret, **word));
                if let Some(word) = said {
                    return Ok(Some((*word, from)));
                }
            }
            // The time is over, or a host on the way has reported that the port is not open yet.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                std::thread::sleep(PATIENCE / 10)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(error),
        }
    }
}

fn listen(at: IpAddr) -> io::Result<Box<dyn Entrance>> {
    Ok(Box::new(DatagramEntrance(UdpSocket::bind((at, 0))?)))
}

fn enter(
    to: SocketAddr,
    secret: &Secret,
    deadline: Instant,
    specification: &LinkSpecification,
) -> io::Result<Link> {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(to)?;
    let began = Instant::now();
    let mut unanswered = 0;
    loop {
        if Instant::now() >= deadline {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no reply from the port at {to}")));
        }
        socket.send(&datagram(secret, Word::Here))?;
        unanswered += 1;
        if comes(&socket, secret, &[Word::Seen], deadline.min(Instant::now() + PATIENCE))?.is_some() {
            break;
        }
    }
    unanswered -= 1;
    socket.send(&datagram(secret, Word::Done))?;
    // Secrets that were sent without an answer may still be answered.
    let until = Instant::now() + (2 * began.elapsed()).min(LAST_WORD);
    while unanswered > 0 && comes(&socket, secret, &[Word::Seen], until)?.is_some() {
        unanswered -= 1;
    }
    finished(socket, Role::Initiator, specification)
}

/// A socket that is not connected yet.
struct DatagramEntrance(UdpSocket);

impl Entrance for DatagramEntrance {
    fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    fn admit(
        self: Box<Self>,
        secret: &Secret,
        deadline: Instant,
        specification: &LinkSpecification,
    ) -> io::Result<Link> {
        let socket = self.0;
        let Some((_, from)) = comes(&socket, secret, &[Word::Here], deadline)? else {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the initiator has not connected to the port",
            ));
        };
        socket.connect(from)?;
        let mut word = Some(Word::Here);
        while word == Some(Word::Here) {
            socket.send(&datagram(secret, Word::Seen))?;
            let until = deadline.min(Instant::now() + LAST_WORD);
            word = comes(&socket, secret, &[Word::Here, Word::Done], until)?.map(|(word, _)| word);
        }
        finished(socket, Role::Responder, specification)
    }
}

/// Makes the link with the end of this role, after dropping all datagrams received so far.
fn finished(socket: UdpSocket, role: Role, specification: &LinkSpecification) -> io::Result<Link> {
    socket.set_read_timeout(None)?;
    drop_received(&socket)?;
    one_end(owned(socket), role, MessageBuffers::Arrived, specification)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_has_the_secret_is_heard() {
        let responder = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let [stranger, initiator] = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let to = responder.local_addr().unwrap();
        let secret = [7; 16];
        stranger.send_to(&datagram(&[8; 16], Word::Here), to).unwrap();
        stranger.send_to(&secret, to).unwrap();
        stranger.send_to(&datagram(&secret, Word::Done), to).unwrap();
        initiator.send_to(&datagram(&secret, Word::Here), to).unwrap();
        // The stranger's datagrams arrived before.
        let until = Instant::now() + Duration::from_secs(20);
        let (word, from) = comes(&responder, &secret, &[Word::Here], until).unwrap().unwrap();
        assert_eq!((word, from), (Word::Here, initiator.local_addr().unwrap()));
    }
}
